// The store in IndexedDB. Workers are stopped at any time and several pages may have it open: what
// is held in memory is compared with the database before each use, under one lock.

import { FirstUse, RULES, headOf } from "./first_use.js";
import { Index } from "./index.js";
import { pack, unpack } from "./packing.js";

/**
 * @typedef {import("./first_use.js").Head} Head
 * @typedef {import("./first_use.js").Rules} Rules
 * @typedef {import("./first_use.js").Shelf} Shelf
 * @typedef {import("./first_use.js").Site} Site
 * @typedef {object} Settings
 * @property {boolean} wait whether fields of a flagged page wait until the user has decided
 * @property {"used" | "shown"} learn when a login page is learnt
 * @property {number} minEvidence
 * @property {string[]} learnPages
 */

const NAME = "beam-reuse";
const SITES = "sites";
const HEADS = "heads";
const META = "meta";
const CACHED = 64;

/** @type {Settings} */
export const SETTINGS = {
  wait: true, learn: "used", minEvidence: RULES.minEvidence, learnPages: [...RULES.learnPages],
};

/**
 * Do something with the store, when nobody else does.
 * @template T
 * @param {(store: Store) => Promise<T>} task
 * @returns {Promise<T>}
 */
export async function withStore(task) {
  return /** @type {Promise<T>} */ (navigator.locks.request(NAME, async () => {
    store ??= await Store.open(NAME);
    await store.refresh();
    return task(store);
  }));
}

/** @type {Store | undefined} */
let store;

/** @implements {Shelf} */
export class Store {
  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
    this.version = -1;
    this.index = new Index();
    /** @type {string[][]} */
    this.joined = [];
    /** @type {string[]} */
    this.never = [];
    this.settings = SETTINGS;
    /** @type {Map<string, Head> | undefined} */
    this.known = undefined;
    /** @type {Map<string, Site | undefined>} */
    this.cache = new Map();
  }

  /** @param {string} name */
  static async open(name) {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(SITES, { keyPath: "domain" });
      request.result.createObjectStore(HEADS, { keyPath: "domain" });
      request.result.createObjectStore(META);
    };
    const database = await done(request);
    database.onclose = () => { store = undefined; };
    return new Store(database);
  }

  /** Whose content a page is made of, by these settings. */
  get trust() {
    const { minEvidence, learnPages } = this.settings;
    return new FirstUse(this, { minEvidence, learnPages });
  }

  /** What is in memory becomes what is stored, if another has changed that. */
  async refresh() {
    const meta = this.database.transaction(META).objectStore(META);
    const version = await done(meta.get("version")) ?? 0;
    if (version === this.version) return;
    const [index, joined, never, settings] = await Promise.all(
      ["index", "joined", "never", "settings"].map((key) => done(meta.get(key))));
    this.index = new Index(index);
    this.joined = joined ?? [];
    this.never = never ?? [];
    this.settings = { ...SETTINGS, ...settings };
    this.known = undefined;
    this.cache.clear();
    this.version = version;
  }

  async heads() {
    this.known ??= new Map((/** @type {Head[]} */ (await done(
      this.database.transaction(HEADS).objectStore(HEADS).getAll()))).map(
      (head) => [head.domain, head]));
    return [...this.known.values()];
  }

  /** @param {string} domain */
  async site(domain) {
    if (!this.cache.has(domain)) {
      const packed = await done(this.database.transaction(SITES).objectStore(SITES).get(domain));
      if (this.cache.size >= CACHED) this.cache.delete([...this.cache.keys()][0]);
      this.cache.set(domain, packed && unpack(packed));
    }
    const site = this.cache.get(domain);
    return site && { ...site, chunks: new Map(site.chunks) };
  }

  /**
   * @param {Map<string, Site | null>} sites
   * @param {string[][]} [joined]
   */
  async commit(sites, joined) {
    await this.heads();
    const index = sites.size && await this.#hasOthers(sites) ? this.index.with(new Map(
      [...sites].map(([domain, site]) => [domain, site ? site.chunks.keys() : []]))) : this.index;
    await this.#write((at) => {
      for (const [domain, site] of sites) {
        if (site) at(SITES).put(pack(site));
        else at(SITES).delete(domain);
        if (site) at(HEADS).put(headOf(site));
        else at(HEADS).delete(domain);
      }
      if (index !== this.index) at(META).put(index.packed(), "index");
      if (joined) at(META).put(joined, "joined");
    });
    for (const [domain, site] of sites) {
      this.cache.delete(domain);
      if (site) this.known?.set(domain, headOf(site));
      else this.known?.delete(domain);
    }
    this.index = index;
    this.joined = joined ?? this.joined;
  }

  /** @param {string[]} never domains on which nothing is looked at */
  async setNever(never) {
    await this.#write((at) => at(META).put(never, "never"));
    this.never = never;
  }

  /** @param {Settings} settings */
  async setSettings(settings) {
    await this.#write((at) => at(META).put(settings, "settings"));
    this.settings = settings;
  }

  /**
   * Whether sites have other chunks than the index says.
   * @param {Map<string, Site | null>} sites
   */
  async #hasOthers(sites) {
    for (const [domain, site] of sites) {
      const old = (await this.site(domain))?.chunks;
      if ((old?.size ?? 0) !== (site?.chunks.size ?? 0)) return true;
      for (const sha1 of site?.chunks.keys() ?? []) if (!old?.has(sha1)) return true;
    }
    return false;
  }

  /**
   * Write all or nothing.
   * @param {(at: (name: string) => IDBObjectStore) => void} task
   */
  async #write(task) {
    const transaction = this.database.transaction([SITES, HEADS, META], "readwrite");
    task((name) => transaction.objectStore(name));
    transaction.objectStore(META).put(this.version + 1, "version");
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    this.version += 1;
  }
}

/**
 * What a request gives.
 * @param {IDBRequest} request
 * @returns {Promise<any>}
 */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
