// What speaks for whom, under the rules of docs/edge.md, whose numbers comments give.

/**
 * @typedef {import("./first_use.js").Passage} Passage
 * @typedef {import("./first_use.js").Shelf} Shelf
 * @typedef {import("./first_use.js").Site} Site
 */

/** What speaks for one owner. */
export class Evidence {
  constructor() {
    /** @type {{sha1: string, text: string, known: string[]}[]} */
    this.found = [];
    /** @type {Map<string, number>} */
    this.domains = new Map();
  }

  /** @param {{sha1: string, text: string, known: string[]}} one */
  add(one) {
    this.found.push(one);
    for (const domain of one.known) this.domains.set(domain, (this.domains.get(domain) ?? 0) + 1);
  }

  /** @returns {string} the owner's name (9) */
  name() {
    return [...this.domains].sort(([a, m], [b, n]) => n - m || compare(a, b))[0][0];
  }

  /**
   * @param {Sites} sites
   * @returns {Promise<Passage[]>}
   */
  async passages(sites) {
    const name = this.name();
    return Promise.all(this.found.map(async ({ sha1, text, known }) => {
      const domain = known.includes(name) ? name : [...known].sort(compare)[0];
      return { sha1, text, domain, page: (await sites.get(domain))?.chunks.get(sha1)?.page ?? "" };
    }));
  }
}

/** Sites that were asked for once. */
export class Sites {
  /** @param {Shelf} shelf */
  constructor(shelf) {
    this.shelf = shelf;
    /** @type {Map<string, Site | undefined>} */
    this.known = new Map();
  }

  /**
   * Those of many first that were learnt on most days.
   * @param {string[]} domains
   */
  async settledFirst(domains) {
    if (domains.length < 3) return domains;
    const days = new Map((await this.shelf.heads()).map((head) => [head.domain, head.days]));
    return domains.sort((a, b) => (days.get(b) ?? 0) - (days.get(a) ?? 0));
  }

  /** @param {string} domain */
  async get(domain) {
    if (!this.known.has(domain)) this.known.set(domain, await this.shelf.site(domain));
    return this.known.get(domain);
  }
}

/** Who owns a domain (6). */
export class Owners {
  /** @param {string[][]} joined */
  constructor(joined) {
    this.names = new Map(joined.flatMap((owner) => owner.map((one) => [one, owner[0]])));
  }

  /** @param {string} domain */
  of(domain) {
    return this.names.get(domain) ?? domain;
  }
}

/**
 * The order of names: by code points, as everywhere in this program.
 * @param {string} a
 * @param {string} b
 */
export function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
