// The screen on which a row of a table is looked at. `word` is for a link beside the row, where its
// cells lead elsewhere.

const pair = (a, b) => a && b && a !== b
  ? {screen: "pair", parameters: {a, b}, word: "compare"}
  : a || b ? page(b || a)
  : null;
const page = (url) => url ? {screen: "page", parameters: {url}} : null;
const passage = (row) => ({screen: "passage", parameters: {sha1: row.sha1}});
const site = (host) => ({screen: "site", parameters: {host}});
const quilt = (row) => ({screen: "quilt", parameters: {url: row.url}, word: "patches"});
const pages = (row) => page(row.url);
const record = (table) => (row) => ({screen: "records",
  parameters: {of: table, f: ["file.is." + row.file, "offset.is." + row.offset]}});
const directory = (row) => /^[^/]*\/$/.test(row.prefix)
  ? site(row.prefix.slice(0, -1))
  : {screen: "sites", parameters: {prefix: row.prefix}};

const KINDS = {
  near_duplicates: (row) => pair(row.url_a, row.url_b),
  page_overlap: (row) => pair(row.url_a, row.url_b),
  exact_copies: (row) => pair(row.centre, row.url),
  identity_sets: (row) => pair(row.representative, row.url),
  near_duplicate_clusters: (row) => pair(row.cluster, row.url),
  families: (row) => pair(row.family, row.url),
  keep: (row) => pair(row.because_of, row.url), skippable: (row) => pair(row.because_of, row.url),
  quilts: quilt, quilt_sources: quilt,
  frequent_chunks: passage, matched_chunks: passage,
  labels: (row) => row.kind === "file" ? page(row.source_url) : passage(row),
  frequent_files: (row) => page(row.first_url),
  matched_files: (row) => pair(row.source_url, row.url),
  pages, page_reuse: pages, boilerplate_pages: pages,
  origins: (row) => /^\w+:\/\//.test(row.origin ?? "") ? page(row.origin) : null,
  neighbourhoods: directory, neighbourhood_sources: directory, popular_collections: directory,
  server_overlap: (row) => ({screen: "shared", parameters: {a: row.host_a, b: row.host_b},
    word: "shared pages"}),
  crawl_savings: (row) => site(row.host), boilerplate: (row) => site(row.host),
  rejects: record("rejects"), skipped: record("skipped"),
};
const WORDS = new Set(["near_duplicates", "page_overlap", "exact_copies", "identity_sets",
  "near_duplicate_clusters", "families", "keep", "skippable", "quilts", "quilt_sources",
  "matched_files", "server_overlap"]);

export const hasWord = (table) => WORDS.has(table);
export function kindOf(table, row) {
  return Object.hasOwn(KINDS, table) ? KINDS[table](row) : null;
}
