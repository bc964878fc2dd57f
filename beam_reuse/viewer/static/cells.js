// How a value of a table is shown, by the name of its column.
import {breakable, counted, el, link, number, share, size} from "./dom.js";
import {listing} from "./listing.js";

const PAGES = new Set(["url", "url_a", "url_b", "because_of", "centre", "representative", "cluster",
  "source_url", "first_url", "origin", "set", "family", "declared_canonical"]);
const HOSTS = new Set(["host", "host_a", "host_b"]);
const SHARES = new Set(["contains", "badness", "mean_contains", "containment_a", "containment_b",
  "containment", "share", "patch_fraction", "covered", "linked_page_share", "linked_domain_share",
  "position", "similarity", "least", "mean", "larger"]);
const SIZES = new Set(["bytes", "redundant_bytes", "record_length"]);
// Tables of records that are no pages: their URLs lead nowhere.
const RECORDS = new Set(["rejects", "skipped"]);
export const CHUNKS = new Set(["frequent_chunks", "matched_chunks", "labels"]);

export function cell(table, column, value) {
  if (value === null || value === undefined) return el("span", {class: "null", title: "null"}, "–");
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return many(table, column, value);
  if (column.name === "sha1" && CHUNKS.has(table)) return link("passage", {sha1: value},
    String(value).slice(0, 12));
  if (column.name === "sha1") return el("code", {title: value}, String(value).slice(0, 12));
  if (column.name === "prefix") return link("sites", {prefix: value}, breakable(value));
  if (column.name === "text") return el("code", {class: "chunk"}, readable(String(value)));
  if (PAGES.has(column.name) && column.type === "VARCHAR" && !RECORDS.has(table)) {
    return page(value);
  }
  if (HOSTS.has(column.name)) return link("site", {host: value}, breakable(value));
  if (SHARES.has(column.name) && typeof value === "number" && column.type === "DOUBLE") {
    return share(value);
  }
  if (SIZES.has(column.name)) return el("span", {class: "short", title: counted(value, "byte")},
    size(value));
  if (column.type === "BIGINT" || column.type === "DOUBLE") return number(value);
  if (column.type.startsWith("TIMESTAMP")) return el("span", {class: "short"},
    String(value).replace("T", " ").replace("+00:00", ""));
  if (typeof value === "object") return JSON.stringify(value);
  return String(value).length < 28
    ? el("span", {class: "short"}, String(value))
    : el("span", {class: "long"}, breakable(value));
}

// The name of a column as a heading.
export const heading = (name) => name.replaceAll("_", " ");

export function page(url) {
  return link("page", {url}, breakable(url));
}

function many(table, column, values) {
  if (!values.length) return "";
  if (typeof values[0] === "object") return counted(values.length, "span");
  if (values.length === 1) return page(values[0]);
  return el("details", {},
    el("summary", {}, counted(values.length, column.name === "sample_urls" ? "example" : "value")),
    el("ul", {class: "plain"}, values.map((value) => el("li", {}, page(value)))));
}

// The beginning of a chunk, its white space squeezed.
export function readable(text, most = 300) {
  const squeezed = text.replace(/\s+/g, " ").trim();
  return squeezed.length > most ? squeezed.slice(0, most) + "…" : squeezed;
}

// What a reader sees of a chunk, or its markup if there is nothing else.
export function words(text) {
  const bare = text.replace(/<[^>]*(>|$)/g, " ").replace(ENTITIES, letter)
    .replace(/\s+/g, " ").trim();
  return bare.length >= 12 ? bare : readable(text, 1000);
}

// The characters that markup writes by names or numbers: those that are frequent in text.
const NAMED = {lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " ", ndash: "–", mdash: "—",
  hellip: "…", laquo: "«", raquo: "»", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", copy: "©",
  reg: "®", middot: "·", bull: "•", para: "¶", times: "×", rarr: "→", larr: "←"};
const ENTITIES = /&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|\w+);/g;
function letter(whole, name) {
  if (name[0] !== "#") return Object.hasOwn(NAMED, name) ? NAMED[name] : whole;
  const code = /^#[xX]/.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : whole;
}

export const isNumber = (column) => column.type === "BIGINT" || column.type === "DOUBLE";

// Rows as a table of their own, without paging.
export function plainTable(table, rows, columns) {
  const names = columns ?? (rows.length ? Object.keys(rows[0]) : []);
  const typed = names.map((name) => ({name, type: typeOf(table, rows, name)}));
  const heads = typed.map((column) => ({name: heading(column.name), n: isNumber(column),
    title: column.name}));
  return listing(table, heads,
    rows.map((row) => typed.map((column) => cell(table, column, row[column.name]))));
}

// `position` is a share of the page above a line of a template, elsewhere the number of a chunk.
function typeOf(table, rows, name) {
  const value = rows.map((row) => row[name]).find((each) => each !== null && each !== undefined);
  if (typeof value === "number") return SHARES.has(name)
    && (name !== "position" || table === "boilerplate") ? "DOUBLE"
    : "BIGINT";
  if (typeof value === "boolean") return "BOOLEAN";
  return Array.isArray(value) ? "VARCHAR[]" : "VARCHAR";
}
