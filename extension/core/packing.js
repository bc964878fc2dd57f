// A site as it is stored: 32 bytes per chunk.

/**
 * @typedef {import("./first_use.js").Holding} Holding
 * @typedef {import("./first_use.js").Site} Site
 * @typedef {object} PackedSite
 * @property {string} domain
 * @property {number} days
 * @property {number} seen
 * @property {Uint8Array} sha1s 20 bytes per chunk
 * @property {Int32Array} facts three numbers per chunk: the page's, `seen`, `first`
 * @property {string[]} pages
 */

/**
 * @param {Site} site
 * @returns {PackedSite}
 */
export function pack({ domain, days, seen, chunks }) {
  const sha1s = new Uint8Array(20 * chunks.size);
  const facts = new Int32Array(3 * chunks.size);
  /** @type {Map<string, number>} */
  const pages = new Map();
  let at = 0;
  for (const [sha1, holding] of chunks) {
    if (!pages.has(holding.page)) pages.set(holding.page, pages.size);
    facts.set([pages.get(holding.page) ?? 0, holding.seen, holding.first], 3 * at);
    for (let i = 0; i < 20; i++) {
      sha1s[20 * at + i] = 16 * digit(sha1, 2 * i) + digit(sha1, 2 * i + 1);
    }
    at += 1;
  }
  return { domain, days, seen, sha1s, facts, pages: [...pages.keys()] };
}

/**
 * @param {PackedSite} packed
 * @returns {Site}
 */
export function unpack({ domain, days, seen, sha1s, facts, pages }) {
  /** @type {Map<string, Holding>} */
  const chunks = new Map();
  for (let at = 0; 20 * at < sha1s.length; at++) {
    const [page, last, first] = facts.subarray(3 * at, 3 * at + 3);
    const sha1 = hex(sha1s.subarray(20 * at, 20 * at + 20));
    chunks.set(sha1, { page: pages[page], seen: last, first });
  }
  return { domain, days, seen, chunks };
}

/**
 * @param {string} digits hexadecimal, in lower case
 * @param {number} at
 */
function digit(digits, at) {
  const code = digits.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : code - 0x57;
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * Bytes as hexadecimal digits.
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function hex(bytes) {
  let digits = "";
  for (const byte of bytes) digits += DIGITS[byte];
  return digits;
}
