// Compact lists of labels (docs/label-format.md), read and written.

import { compare } from "./evidence.js";
import { hex } from "./packing.js";

/**
 * @typedef {object} Label
 * @property {string} sha1
 * @property {number} kind 0 file, 1 chunk, 2 any
 * @property {string | null} source a URL
 * @property {number | null} domains on how many registered domains the content occurs
 * @typedef {{settings: Record<string, unknown> | null, labels: Label[]}} LabelList
 */

const MAGIC = "BRLABELS";
const VERSION = 2;
const SECTIONS = ["settings", "filter", "index", "rows", "name offsets", "names", "domains"];
const HEADER = 256;
const ALIGNMENT = 64;
const ROW = 28;
const LINE = 64;
const BITS_PER_ROW = 12;
const ROWS_PER_PREFIX = 16;
const NO_SOURCE = 2 ** 30 - 1;
const UNKNOWN = 2 ** 32 - 1;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/**
 * Whether bytes begin as a compact list does.
 * @param {Uint8Array} bytes
 */
export function isCompact(bytes) {
  return decoder.decode(bytes.subarray(0, 8)) === MAGIC;
}

/**
 * The labels of a compact list; an Error that says what is wrong with one that is not whole.
 * @param {Uint8Array} bytes
 * @returns {LabelList}
 */
export function readCompact(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!isCompact(bytes) || bytes.length < HEADER) throw new Error("This is no compact list.");
  if (view.getUint32(8, true) !== VERSION || view.getUint32(12, true) !== SECTIONS.length) {
    throw new Error(`The list is of version ${view.getUint32(8, true)}, not of ${VERSION}.`);
  }
  const damaged = (/** @type {string} */ what) => new Error(
    `The list is damaged: ${what}. Copy or make it once more.`);
  if (number(view, 16) !== bytes.length) throw damaged("its length");
  if (crc32(bytes.subarray(0, 252)) !== view.getUint32(252, true)) throw damaged("its header");
  const parts = SECTIONS.map((name, at) => {
    const start = number(view, 40 + 24 * at), length = number(view, 48 + 24 * at);
    const part = bytes.subarray(start, start + length);
    if (part.length !== length || crc32(part) !== view.getUint32(56 + 24 * at, true)) {
      throw damaged(`its ${name}`);
    }
    return part;
  });
  const names = readNames(parts[4], parts[5]);
  const rows = parts[3];
  if (rows.length !== ROW * number(view, 24) || names.length !== number(view, 32)) {
    throw damaged("its number of rows");
  }
  return { settings: parts[0].length ? JSON.parse(decoder.decode(parts[0])) : null,
           labels: readRows(rows, names) };
}

/**
 * A compact list of labels, the same bytes for the same labels.
 * @param {Label[]} labels
 * @param {(source: string) => string} domainOf
 * @param {string} settings as JSON, "" for none
 * @returns {Uint8Array}
 */
export function writeCompact(labels, domainOf, settings) {
  const sources = new Set(labels.flatMap(({ source }) => source === null ? [] : [source]));
  const named = [...sources].flatMap((source) => [source, domainOf(source)]);
  const names = [...new Set(named)].sort(compare);
  const numbers = new Map(names.map((name, at) => [name, at]));
  const domains = new Uint32Array(names.map(
    (name) => numbers.get(sources.has(name) ? domainOf(name) : name) ?? 0));
  const rows = sortedRows(labels, numbers);
  const texts = names.map((name) => encoder.encode(name));
  const offsets = new BigUint64Array(names.length + 1);
  texts.forEach((text, at) => { offsets[at + 1] = offsets[at] + BigInt(text.length); });
  return assemble([encoder.encode(settings), filterOf(rows), indexOf(rows), joined(rows),
                   bytesOf(offsets), joined(texts), bytesOf(domains)], rows.length, names.length);
}

/**
 * @param {Uint8Array} offsets
 * @param {Uint8Array} names
 */
function readNames(offsets, names) {
  const view = new DataView(offsets.buffer, offsets.byteOffset, offsets.length);
  return Array.from({ length: offsets.length / 8 - 1 }, (_, at) => decoder.decode(
    names.subarray(number(view, 8 * at), number(view, 8 * at + 8))));
}

/**
 * @param {Uint8Array} rows
 * @param {string[]} names
 */
function readRows(rows, names) {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.length);
  /** @type {Label[]} */
  const labels = [];
  for (let at = 0; at < rows.length; at += ROW) {
    const domains = view.getUint32(at + 20), label = view.getUint32(at + 24);
    const source = Math.floor(label / 4);
    labels.push({ sha1: hex(rows.subarray(at, at + 20)), kind: label % 4,
                  source: source === NO_SOURCE ? null : names[source],
                  domains: domains === UNKNOWN ? null : domains });
  }
  return labels;
}

/**
 * @param {Label[]} labels
 * @param {Map<string, number>} numbers
 * @returns {Uint8Array[]}
 */
function sortedRows(labels, numbers) {
  const digits = new Set(labels.map(({ sha1, kind, source, domains }) => {
    const from = source === null ? NO_SOURCE : numbers.get(source) ?? NO_SOURCE;
    return sha1 + digitsOf(domains ?? UNKNOWN) + digitsOf(4 * from + kind);
  }));
  return [...digits].sort(compare).map((row) => Uint8Array.from(
    { length: ROW }, (_, at) => parseInt(row.slice(2 * at, 2 * at + 2), 16)));
}

/** @param {number} value */
function digitsOf(value) {
  return value.toString(16).padStart(8, "0");
}

/** @param {Uint8Array[]} rows */
function filterOf(rows) {
  const lines = Math.max(1, Math.ceil(rows.length * BITS_PER_ROW / (8 * LINE)));
  const filter = new Uint8Array(lines * LINE);
  for (const row of rows) {
    const view = new DataView(row.buffer);
    const start = LINE * Number(view.getBigUint64(0) * BigInt(lines) >> 64n);
    let second = view.getBigUint64(8);
    for (let i = 0; i < 7; i++, second >>= 9n) {
      const bit = Number(second & 511n);
      filter[start + (bit >> 3)] |= 1 << (bit & 7);
    }
  }
  return filter;
}

/** @param {Uint8Array[]} rows */
function indexOf(rows) {
  const bits = Math.max(1, Math.floor(rows.length / ROWS_PER_PREFIX).toString(2).length *
    Number(rows.length >= ROWS_PER_PREFIX));
  const starts = new BigUint64Array(2 ** bits + 1);
  for (const row of rows) starts[(new DataView(row.buffer).getUint32(0) >>> (32 - bits)) + 1] += 1n;
  for (let at = 1; at < starts.length; at++) starts[at] += starts[at - 1];
  return bytesOf(starts);
}

/**
 * @param {Uint8Array[]} parts
 * @param {number} rows
 * @param {number} names
 */
function assemble(parts, rows, names) {
  const header = new Uint8Array(HEADER);
  const view = new DataView(header.buffer);
  header.set(encoder.encode(MAGIC));
  view.setUint32(8, VERSION, true);
  view.setUint32(12, SECTIONS.length, true);
  let end = HEADER;
  parts.forEach((part, at) => {
    view.setBigUint64(40 + 24 * at, BigInt(end), true);
    view.setBigUint64(48 + 24 * at, BigInt(part.length), true);
    view.setUint32(56 + 24 * at, crc32(part), true);
    end += padded(part.length);
  });
  view.setBigUint64(16, BigInt(end), true);
  view.setBigUint64(24, BigInt(rows), true);
  view.setBigUint64(32, BigInt(names), true);
  view.setUint32(252, crc32(header.subarray(0, 252)), true);
  const out = new Uint8Array(end);
  out.set(header);
  let at = HEADER;
  for (const part of parts) {
    out.set(part, at);
    at += padded(part.length);
  }
  return out;
}

/** @param {number} length */
function padded(length) {
  return Math.ceil(length / ALIGNMENT) * ALIGNMENT;
}

/** @param {Uint8Array[]} parts */
function joined(parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** @param {BigUint64Array | Uint32Array} numbers of a machine that is little-endian, as all are */
function bytesOf(numbers) {
  return new Uint8Array(numbers.buffer);
}

/**
 * @param {DataView} view
 * @param {number} at
 */
function number(view, at) {
  return Number(view.getBigUint64(at, true));
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let i = 0; i < 8; i++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
  return byte;
});

/**
 * The CRC-32 of bytes, as in zlib.
 * @param {Uint8Array} bytes
 */
function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ TABLE[(sum ^ byte) & 0xff];
  return (sum ^ 0xffffffff) >>> 0;
}
