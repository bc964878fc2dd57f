// Trust on first use: the rules of docs/edge.md, whose numbers comments give.

import { Evidence, Owners, Sites, compare } from "./evidence.js";

/**
 * @typedef {import("./index.js").Index} Index
 * @typedef {{page: string, seen: number, first: number}} Holding of a chunk: the page that first
 *   showed it, the last day on which the site did, and a number that tells which site was first
 * @typedef {{domain: string, days: number, seen: number, chunks: Map<string, Holding>}} Site
 * @typedef {{domain: string, days: number, seen: number, oldest: number, first: number,
 *   count: number}} Head what there is to know of a site without its chunks; `oldest` is the
 *   smallest `seen` of these, `first` the largest `first`
 * @typedef {{minEvidence: number, settleDays: number, maxAge: number, maxSites: number,
 *   maxSiteChunks: number, learnPages: readonly string[]}} Rules
 * @typedef {{url: string, domain: string, chunks: Map<string, string>, password: boolean,
 *   day: number}} Page `url` is canonical, `chunks` are texts by SHA-1 in the order of the page, as
 *   `addChunks` adds them
 * @typedef {{sha1: string, text: string, domain: string, page: string}} Passage
 * @typedef {{login: boolean, flagged: boolean, domain: string | null, evidence: number,
 *   passages: Passage[]}} Answer
 * @typedef {{learnt: boolean, new: number}} Learnt
 */

/**
 * Where sites are stored.
 * @typedef {object} Shelf
 * @property {Index} index of all sites
 * @property {string[][]} joined domains that have one owner
 * @property {() => Promise<Head[]>} heads
 * @property {(domain: string) => Promise<Site | undefined>} site
 * @property {(sites: Map<string, Site | null>, joined?: string[][]) => Promise<void>} commit
 *   replaces sites, null removes one; all or nothing
 */

/** @type {Rules} */
export const RULES = {
  minEvidence: 2, settleDays: 3, maxAge: 365, maxSites: 1000, maxSiteChunks: 1000, learnPages: [],
};

/**
 * The day of a time in milliseconds since 1970 (4).
 * @param {number} time
 * @returns {number}
 */
export function dayOf(time) {
  return Math.floor(time / 86_400_000);
}

/**
 * Whether a page is one to log in to (2).
 * @param {Page} page
 * @param {readonly string[]} patterns
 * @returns {boolean}
 */
function isLogin({ url, password }, patterns) {
  return password || patterns.some((pattern) => fits(pattern, url));
}

/**
 * Whether a pattern, in which * is any run of characters, fits the whole of a text. Cost: one pass
 * over the text, which whoever wants to be a burden may have written.
 * @param {string} pattern
 * @param {string} text
 * @returns {boolean}
 */
function fits(pattern, text) {
  const parts = pattern.split("*");
  const [first] = parts, last = parts[parts.length - 1];
  if (parts.length === 1) return text === first;
  let at = first.length;
  const end = text.length - last.length;
  if (at > end || !text.startsWith(first) || !text.endsWith(last)) return false;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** A store that learns which pages people log in to, and knows pages that are made of them. */
export class FirstUse {
  /**
   * @param {Shelf} shelf
   * @param {Partial<Rules>} [rules]
   */
  constructor(shelf, rules = {}) {
    this.shelf = shelf;
    /** @type {Rules} */
    this.rules = { ...RULES, ...rules };
  }

  /**
   * The answer to a visit; the page may be learnt (11, 12).
   * @param {Page} page
   * @returns {Promise<Answer & Learnt>}
   */
  async visit(page) {
    const answer = await this.answer(page);
    const learnt = answer.login && !answer.flagged ? await this.#learn(page, 1) : NOT_LEARNT;
    return { ...answer, ...learnt };
  }

  /**
   * The answer to a page that a person trusts: it is learnt (12).
   * @param {Page} page
   * @returns {Promise<Answer & Learnt>}
   */
  async trust(page) {
    return { ...await this.answer(page), ...await this.#learn(page, this.rules.settleDays) };
  }

  /**
   * Whose content a page has (7 to 10). Cost: a binary search per chunk, and the sites that have
   * some of them; of what many settled sites have, two.
   * @param {Page} page
   * @returns {Promise<Answer>}
   */
  async answer(page) {
    const sites = new Sites(this.shelf);
    const owners = new Owners(this.shelf.joined);
    /** @type {Map<string, Evidence>} */
    const evidence = new Map();
    for (const [sha1, text] of page.chunks) {
      const candidates = this.shelf.index.find(sha1);
      if (!candidates.length) continue;
      const known = await this.#knownTo(sha1, candidates, page, sites, owners);
      if (!known.length) continue;
      const owner = owners.of(known[0]);
      if (!evidence.has(owner)) evidence.set(owner, new Evidence());
      evidence.get(owner)?.add({ sha1, text, known });
    }
    const [best] = [...evidence.values()].sort((a, b) =>
      b.found.length - a.found.length || compare(a.name(), b.name()));
    const most = best?.found.length ?? 0;
    const flagged = most >= this.rules.minEvidence || 2 * most > page.chunks.size;
    return {
      login: isLogin(page, this.rules.learnPages), flagged,
      domain: flagged ? best.name() : null, evidence: most,
      passages: flagged ? await best.passages(sites) : [],
    };
  }

  /**
   * Make the owners of domains one (19).
   * @param {string[]} domains
   */
  async join(domains) {
    const all = new Set(domains);
    const others = [];
    for (const owner of this.shelf.joined) {
      if (owner.some((domain) => domains.includes(domain))) owner.forEach((one) => all.add(one));
      else others.push(owner);
    }
    await this.shelf.commit(new Map(), [...others, [...all].sort(compare)]);
  }

  /**
   * Remove a site; its domain is an owner of its own again (20).
   * @param {string} domain
   */
  async forget(domain) {
    const joined = this.shelf.joined.map((owner) => owner.filter((one) => one !== domain));
    await this.shelf.commit(new Map([[domain, null]]), joined.filter((owner) => owner.length > 1));
  }

  /**
   * The owner's sites to which a chunk is known (7) that is evidence for one; none if it is
   * evidence for nobody (8).
   * @param {string} sha1
   * @param {string[]} candidates
   * @param {Page} page
   * @param {Sites} sites
   * @param {Owners} owners
   * @returns {Promise<string[]>}
   */
  async #knownTo(sha1, candidates, page, sites, owners) {
    /** @type {{domain: string, first: number}[]} */
    const known = [];
    /** @type {Set<string>} */
    const settled = new Set();
    for (const domain of await sites.settledFirst(candidates)) {
      const site = await sites.get(domain);
      const holding = site?.chunks.get(sha1);
      if (!site || !holding || page.day - holding.seen > this.rules.maxAge) continue;
      known.push({ domain, first: holding.first });
      if (site.days >= this.rules.settleDays) settled.add(owners.of(domain));
      if (settled.size > 1) return [];  // whoever was first, one of the two is another
    }
    if (!known.length) return [];
    const first = owners.of(known.reduce((a, b) => (b.first < a.first ? b : a)).domain);
    settled.delete(first);
    if (settled.size || first === owners.of(page.domain)) return [];
    return known.map((one) => one.domain).filter((domain) => owners.of(domain) === first);
  }

  /**
   * Learn a page (12 to 18).
   * @param {Page} page
   * @param {number} leastDays
   * @returns {Promise<Learnt>}
   */
  async #learn({ url, domain, chunks, day }, leastDays) {
    if (!domain || !chunks.size) return NOT_LEARNT;
    const heads = new Map((await this.shelf.heads()).map((head) => [head.domain, head]));
    /** @type {Map<string, Site | null>} */
    const changes = new Map();
    for (const head of heads.values()) {
      if (day - head.oldest > this.rules.maxAge) {
        await this.#age(head.domain, day, changes);
        const site = changes.get(head.domain);
        if (site) heads.set(head.domain, headOf(site));
        else heads.delete(head.domain);
      }
    }
    const old = changes.has(domain) ? changes.get(domain) : await this.shelf.site(domain);
    /** @type {Site} */
    const site = old ?? { domain, days: 1, seen: day, chunks: new Map() };
    const { days, seen } = site;
    if (site.seen < day) Object.assign(site, { days: site.days + 1, seen: day });
    site.days = Math.max(site.days, leastDays);
    const page = url.split("?")[0];
    const first = Math.max(0, ...[...heads.values()].map((head) => head.first)) + 1;
    let fresh = 0, touched = !old || site.days !== days || site.seen !== seen;
    for (const sha1 of [...chunks.keys()].slice(0, this.rules.maxSiteChunks)) {
      const holding = site.chunks.get(sha1);
      if (!holding) fresh += 1;
      if (holding && holding.seen >= day) continue;
      site.chunks.set(sha1, { page, first, ...holding, seen: day });
      touched = true;
    }
    this.#bound(site);
    if (touched) changes.set(domain, site);
    heads.set(domain, headOf(site));
    for (const gone of surplus(heads, domain, this.rules.maxSites)) changes.set(gone, null);
    if (changes.size) await this.shelf.commit(changes);
    return { learnt: true, new: fresh };
  }

  /**
   * A site without the chunks that are too old (13).
   * @param {string} domain
   * @param {number} day
   * @param {Map<string, Site | null>} changes
   */
  async #age(domain, day, changes) {
    const site = await this.shelf.site(domain);
    if (!site) return;
    for (const [sha1, { seen }] of site.chunks) {
      if (day - seen > this.rules.maxAge) site.chunks.delete(sha1);
    }
    changes.set(domain, site.chunks.size ? site : null);
  }

  /**
   * A site without the chunks that are too many (16).
   * @param {Site} site
   */
  #bound(site) {
    const surplus = site.chunks.size - this.rules.maxSiteChunks;
    if (surplus <= 0) return;
    const order = [...site.chunks].sort(([a, x], [b, y]) => x.seen - y.seen || compare(b, a));
    for (const [sha1] of order.slice(0, surplus)) site.chunks.delete(sha1);
  }
}

/**
 * What there is to know of a site without its chunks.
 * @param {Site} site
 * @returns {Head}
 */
export function headOf({ domain, days, seen, chunks }) {
  let oldest = Infinity, first = 0;
  for (const holding of chunks.values()) {
    oldest = Math.min(oldest, holding.seen);
    first = Math.max(first, holding.first);
  }
  return { domain, days, seen, oldest, first, count: chunks.size };
}

/** @type {Learnt} */
const NOT_LEARNT = { learnt: false, new: 0 };

/**
 * The sites that are too many (17).
 * @param {Map<string, Head>} heads
 * @param {string} learnt
 * @param {number} most
 * @returns {string[]}
 */
function surplus(heads, learnt, most) {
  const number = Math.min(heads.size - most, heads.size - 1);
  if (number <= 0) return [];
  return [...heads.values()].filter((head) => head.domain !== learnt)
    .sort((a, b) => a.days - b.days || a.seen - b.seen || compare(a.domain, b.domain))
    .slice(0, number).map((head) => head.domain);
}
