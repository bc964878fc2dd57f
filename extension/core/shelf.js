// Sites in memory: for tests, and the pattern of any other place.

import { Index } from "./index.js";
import { compare } from "./evidence.js";
import { headOf } from "./first_use.js";

/**
 * @typedef {import("./first_use.js").Shelf} Shelf
 * @typedef {import("./first_use.js").Site} Site
 */

/**
 * A site as lists of it have it, in the order of its chunks.
 * @param {Site} site
 * @param {string[][]} joined
 */
export function listed({ domain, days, seen, chunks }, joined) {
  return {
    domain, days, seen, owner: joined.find((owner) => owner.includes(domain)) ?? [domain],
    chunks: [...chunks].map(([sha1, holding]) => /** @type {[string, string, number]} */ (
      [sha1, holding.page, holding.seen])).sort(([a], [b]) => compare(a, b)),
  };
}

/** @implements {Shelf} */
export class MemoryShelf {
  constructor() {
    this.index = new Index();
    /** @type {string[][]} */
    this.joined = [];
    /** @type {Map<string, Site>} */
    this.sites = new Map();
  }

  async heads() {
    return [...this.sites.values()].map(headOf);
  }

  /** @param {string} domain */
  async site(domain) {
    return structuredClone(this.sites.get(domain));
  }

  /**
   * @param {Map<string, Site | null>} sites
   * @param {string[][]} [joined]
   */
  async commit(sites, joined) {
    for (const [domain, site] of sites) {
      if (site) this.sites.set(domain, structuredClone(site));
      else this.sites.delete(domain);
    }
    this.index = this.index.with(new Map([...sites].map(([domain, site]) => [
      domain, site ? site.chunks.keys() : []])));
    if (joined) this.joined = joined;
  }
}
