// Words, as the program counts them (docs/definitions.md).

const UNSPACED = "\\u0E00-\\u0EFF\\u1000-\\u109F\\u1780-\\u17FF\\u3040-\\u30FF\\u3400-\\u4DBF" +
  "\\u4E00-\\u9FFF\\uF900-\\uFAFF\\u{20000}-\\u{3FFFF}";
const TOKEN = new RegExp(
  `(?=[${UNSPACED}])[\\p{L}\\p{N}]|(?:(?![${UNSPACED}])[\\p{L}\\p{N}])+`, "gu");

const MIN_TOKENS = 5;
const MIN_BYTES = 25;

/**
 * Whether a chunk is long enough to say anything (docs/edge.md, rule 1).
 * @param {string} text
 * @returns {boolean}
 */
export function counts(text) {
  return 3 * text.length >= MIN_BYTES && utf8Length(text) >= MIN_BYTES &&
    countTokens(text, MIN_TOKENS) >= MIN_TOKENS;
}

/**
 * How many tokens a text has, but no more than `enough`.
 * @param {string} text
 * @param {number} [enough]
 * @returns {number}
 */
export function countTokens(text, enough = Infinity) {
  let count = 0;
  for (const _ of text.toLowerCase().matchAll(TOKEN)) if (++count >= enough) break;
  return count;
}

/**
 * How many bytes a text has in UTF-8.
 * @param {string} text
 * @returns {number}
 */
export function utf8Length(text) {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) length += code > 0x7ff ? 2 : 1;
    if (code >= 0xd800 && code < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      at += 1;
    }
  }
  return length;
}
