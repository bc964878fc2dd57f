// Lists that people bring and take: compact ones, hashes as text, and the extension's own backup.

import { isCompact, readCompact, writeCompact } from "./brl.js";
import { canonicalUrl, domainOf, domainOfPage } from "./domains.js";
import { RULES } from "./first_use.js";
import { listed } from "./shelf.js";

/**
 * @typedef {import("./first_use.js").Site} Site
 * @typedef {import("./store.js").Store} Store
 * @typedef {{sites: Site[], joined: string[][], never: string[]}} Brought
 * @typedef {{sites: number, chunks: number, left: number}} Taken what was taken; `left` are chunks
 *   for which there was no room
 */

const FORMAT = "beam_reuse extension 1";
/** How the extension cuts pages. */
const CUT = { "chunk-tags": ["p", "div"], "chunk-normalise": "text", "classic": false,
              "min-chunk-bytes": 25, "min-chunk-tokens": 5 };
const SETTINGS = '{"format": 1, "chunk-tags": ["p", "div"], "chunk-normalise": "text", ' +
  '"classic": false, "min-chunk-bytes": 25, "min-chunk-tokens": 5}';
const CHUNKS = [1, 2];

/**
 * What a file brings; an Error that says what is wrong with it, and what to do.
 * @param {Uint8Array} bytes
 * @param {string} owner the domain of hashes that have no source
 * @param {number} day
 * @returns {Brought}
 */
export function readList(bytes, owner, day) {
  if (isCompact(bytes)) return { sites: sitesOfLabels(bytes, owner, day), joined: [], never: [] };
  const text = new TextDecoder().decode(bytes);
  if (text.trimStart().startsWith("{")) return readBackup(text);
  const hashes = hashesOf(text);
  return { sites: [siteOf(domainGiven(owner), hashes, day)], joined: [], never: [] };
}

/**
 * Add what a file has brought. What is stored already stays as it is. Sites that would be too many
 * are left out, as are chunks: nothing that was learnt makes way for a list.
 * @param {Store} store
 * @param {Brought} brought
 * @returns {Promise<Taken>}
 */
export async function addBrought(store, { sites, joined, never }) {
  /** @type {Map<string, Site>} */
  const changes = new Map();
  const heads = await store.heads();
  const have = new Set(heads.map((head) => head.domain));
  const first = heads.reduce((most, head) => Math.max(most, head.first), 0);
  const taken = { sites: 0, chunks: 0, left: 0 };
  for (const site of sites) {
    const old = await store.site(site.domain);
    if (!old && have.size + taken.sites >= RULES.maxSites) {
      taken.left += site.chunks.size;
      continue;
    }
    const { added, left } = merged(old, site, first);
    if (!old) taken.sites += 1;
    taken.chunks += added.chunks.size - (old?.chunks.size ?? 0);
    taken.left += left;
    changes.set(site.domain, added);
  }
  await store.commit(changes);
  for (const owner of joined) await store.trust.join(owner);
  if (never.length) await store.setNever([...new Set([...store.never, ...never])].sort());
  return taken;
}

/**
 * Everything in the store as text that `readList` reads.
 * @param {Store} store
 */
export async function writeBackup(store) {
  const sites = [];
  for (const { domain } of await store.heads()) {
    const site = await store.site(domain);
    if (site) sites.push({ ...listed(site, store.joined), first: [...site.chunks].sort().map(
      ([, holding]) => holding.first) });
  }
  return JSON.stringify({ format: FORMAT, never: store.never, joined: store.joined, sites });
}

/**
 * All chunks in the store as a compact list, for `beam-reuse check --labels`.
 * @param {Store} store
 * @returns {Promise<Uint8Array>}
 */
export async function writeLabels(store) {
  /** @type {Map<string, Set<string>>} */
  const pages = new Map();
  for (const { domain } of await store.heads()) {
    for (const [sha1, { page }] of (await store.site(domain))?.chunks ?? []) {
      pages.set(sha1, (pages.get(sha1) ?? new Set()).add(page));
    }
  }
  const labels = [...pages].flatMap(([sha1, sources]) => [...sources].map((source) => ({
    sha1, kind: 1, source, domains: new Set([...sources].map(domainOfPage)).size })));
  return writeCompact(labels, domainOfPage, SETTINGS);
}

/**
 * @param {Site | undefined} old
 * @param {Site} site
 * @param {number} first
 */
function merged(old, site, first) {
  const chunks = new Map(old?.chunks);
  let left = 0;
  for (const [sha1, holding] of site.chunks) {
    if (chunks.has(sha1)) continue;
    if (chunks.size >= RULES.maxSiteChunks) left += 1;
    else chunks.set(sha1, { ...holding, first: first + holding.first });
  }
  const days = Math.max(old?.days ?? 0, site.days), seen = Math.max(old?.seen ?? 0, site.seen);
  return { added: { domain: site.domain, days, seen, chunks }, left };
}

/**
 * @param {Uint8Array} bytes
 * @param {string} owner
 * @param {number} day
 */
function sitesOfLabels(bytes, owner, day) {
  const { settings, labels } = readCompact(bytes);
  if (settings) requireCut(settings);
  /** @type {Map<string, Site>} */
  const sites = new Map();
  for (const { sha1, kind, source } of labels) {
    if (!CHUNKS.includes(kind)) continue;
    const page = source === null ? "" : canonicalUrl(source);
    const domain = page ? domainOfPage(page) : domainGiven(owner);
    if (!sites.has(domain)) sites.set(domain, siteOf(domain, [], day));
    sites.get(domain)?.chunks.set(sha1, {
      page: page.split("?")[0] || `https://${domain}/`, seen: day, first: 1 });
  }
  return [...sites.values()];
}

/** @param {Record<string, unknown>} settings */
function requireCut(settings) {
  const tags = settings["chunk-tags"];
  const same = Array.isArray(tags) && tags.toSorted().join() === CUT["chunk-tags"].toSorted().join()
    && settings["chunk-normalise"] === CUT["chunk-normalise"] && settings.classic !== true;
  if (!same) {
    throw new Error("The chunks of this list are cut in another way: none would be found. " +
      "Make it with: beam-reuse labels ORIGINALS -o FILE.brl --config configs/phishing.yaml");
  }
}

/** @param {string} text */
function hashesOf(text) {
  return text.split(/\r\n|\r|\n/).flatMap((line, at) => {
    const hash = line.split("#")[0].trim().toLowerCase();
    if (hash && !/^[0-9a-f]{40}$/.test(hash)) {
      throw new Error(`Line ${at + 1} is no SHA-1 of 40 hexadecimal digits.`);
    }
    return hash ? [hash] : [];
  });
}

/** @param {string} owner */
function domainGiven(owner) {
  const url = canonicalUrl(owner.includes("://") ? owner : `https://${owner.trim()}/`);
  if (!owner.trim() || !url) {
    throw new Error("The list does not say whose its hashes are: give a domain beside the file.");
  }
  return domainOf(new URL(url).hostname);
}

/**
 * A site of hashes that a person trusts.
 * @param {string} domain
 * @param {string[]} hashes
 * @param {number} day
 * @returns {Site}
 */
function siteOf(domain, hashes, day) {
  return { domain, days: RULES.settleDays, seen: day, chunks: new Map(hashes.map((sha1) => [
    sha1, { page: `https://${domain}/`, seen: day, first: 1 }])) };
}

/**
 * @param {string} text
 * @returns {Brought}
 */
function readBackup(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error("The file is no whole backup: it ends too early, or was changed.");
  }
  if (content.format !== FORMAT) throw new Error("The file is neither a list nor a backup.");
  const { sites, joined, never } = content;
  if (![sites, joined, never, ...joined ?? []].every(Array.isArray) || !sites.every(isSound)) {
    throw new Error("The backup has a site that this extension has not written: it was changed.");
  }
  return {
    never: never.map(String),
    joined: joined.map((/** @type {any[]} */ owner) => owner.map(String)),
    sites: sites.map((/** @type {any} */ { domain, days, seen, chunks, first }) => ({
      domain, days, seen, chunks: new Map(chunks.map(
        (/** @type {any} */ [sha1, page, last], /** @type {number} */ at) => [
          sha1, { page, seen: last, first: first[at] }])) })),
  };
}

/**
 * Whether a site of a backup is as this extension writes it.
 * @param {any} site
 */
function isSound(site) {
  const whole = (/** @type {any} */ value) => Number.isInteger(value) && Math.abs(value) < 2 ** 30;
  return typeof site?.domain === "string" && site.domain === domainOf(site.domain) &&
    whole(site.days) && whole(site.seen) && Array.isArray(site.chunks) &&
    Array.isArray(site.first) && site.chunks.length === site.first.length &&
    site.first.every(whole) && site.chunks.every((/** @type {any} */ chunk) =>
    Array.isArray(chunk) && /^[0-9a-f]{40}$/.test(chunk[0]) && typeof chunk[1] === "string" &&
      whole(chunk[2]));
}
