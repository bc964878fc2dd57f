// SHA-1 of short texts, many at once: crypto.subtle is asynchronous, which costs more than hashing.

const encoder = new TextEncoder();
const words = new Uint32Array(80);
let bytes = new Uint8Array(1 << 12);

/**
 * The SHA-1 of a text's UTF-8, as 40 hexadecimal digits. Lone surrogates count as U+FFFD.
 * @param {string} text
 * @returns {string}
 */
export function sha1(text) {
  if (3 * text.length + 72 > bytes.length) bytes = new Uint8Array(3 * text.length + 72);
  const length = encoder.encodeInto(text, bytes).written ?? 0;
  const end = ((length + 8) >> 6) * 64 + 64;
  bytes.fill(0, length, end);
  bytes[length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(end - 8, Math.floor(length / 2 ** 29));
  view.setUint32(end - 4, length << 3);
  const state = new Uint32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
  for (let at = 0; at < end; at += 64) addBlock(state, view, at);
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("");
}

/**
 * @param {Uint32Array} state
 * @param {DataView} view
 * @param {number} at
 */
function addBlock(state, view, at) {
  for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i);
  for (let i = 16; i < 80; i++) {
    const word = words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16];
    words[i] = (word << 1) | (word >>> 31);
  }
  let [a, b, c, d, e] = state;
  for (let i = 0; i < 80; i++) {
    const mixed = i < 20 ? ((b & c) | (~b & d)) + 0x5a827999
      : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
      : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
      : (b ^ c ^ d) + 0xca62c1d6;
    const next = (((a << 5) | (a >>> 27)) + mixed + e + words[i]) | 0;
    e = d;
    d = c;
    c = (b << 30) | (b >>> 2);
    b = a;
    a = next;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
}
