// Which sites may have a chunk: the first 32 bits of every stored SHA-1, and whose it is.

/**
 * @typedef {object} Packed what is stored of an index
 * @property {Uint32Array} prefixes sorted
 * @property {Uint16Array} owners of each prefix the number of its site
 * @property {string[]} names of each number the domain, "" for none
 */

const NUMBERS = 1 << 16;

/**
 * A derived table: sites are what counts, and whether one has a chunk is asked there. Six bytes per
 * chunk; a lookup is a binary search, and names in a million chunks a wrong site for one hash in
 * four thousand.
 */
export class Index {
  /** @param {Packed} [packed] */
  constructor(packed) {
    this.prefixes = packed?.prefixes ?? new Uint32Array(0);
    this.owners = packed?.owners ?? new Uint16Array(0);
    this.names = packed?.names ?? [];
  }

  get size() {
    return this.prefixes.length;
  }

  /** @returns {Packed} */
  packed() {
    return { prefixes: this.prefixes, owners: this.owners, names: this.names };
  }

  /**
   * The domains that may have a chunk.
   * @param {string} sha1
   * @returns {string[]}
   */
  find(sha1) {
    const prefix = prefixOf(sha1);
    /** @type {string[]} */
    const found = [];
    for (let at = this.#first(prefix); this.prefixes[at] === prefix; at++) {
      const name = this.names[this.owners[at]];
      if (!found.includes(name)) found.push(name);
    }
    return found;
  }

  /**
   * The index after these sites have these chunks, and no others. Cost: one pass over all chunks.
   * @param {Map<string, Iterable<string>>} changes
   * @returns {Index}
   */
  with(changes) {
    const names = [...this.names];
    const stale = new Uint8Array(NUMBERS);
    /** @type {number[]} a prefix and an owner in one number, of 48 bits */
    const fresh = [];
    for (const [name, hashes] of changes) {
      const owner = numberFor(name, names);
      stale[owner] = 1;
      const before = fresh.length;
      for (const sha1 of hashes) fresh.push(prefixOf(sha1) * NUMBERS + owner);
      names[owner] = fresh.length > before ? name : "";
    }
    const added = Float64Array.from(fresh).sort();
    const kept = this.owners.reduce((sum, owner) => sum + 1 - stale[owner], 0);
    const index = new Index({ prefixes: new Uint32Array(kept + added.length),
                              owners: new Uint16Array(kept + added.length), names });
    let at = 0, next = 0;
    for (let from = 0; from <= this.owners.length; from++) {
      const end = from === this.owners.length;
      if (!end && stale[this.owners[from]]) continue;
      const limit = end ? Infinity : this.prefixes[from] * NUMBERS;
      for (; next < added.length && added[next] <= limit; next++) {
        index.prefixes[at] = Math.floor(added[next] / NUMBERS);
        index.owners[at++] = added[next] % NUMBERS;
      }
      if (end) break;
      index.prefixes[at] = this.prefixes[from];
      index.owners[at++] = this.owners[from];
    }
    return index;
  }

  /** @param {number} prefix */
  #first(prefix) {
    let low = 0, high = this.prefixes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.prefixes[middle] < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** @param {string} sha1 */
function prefixOf(sha1) {
  return parseInt(sha1.slice(0, 8), 16);
}

/**
 * The number of a site: its own, or one that is free.
 * @param {string} name
 * @param {string[]} names
 */
function numberFor(name, names) {
  let number = names.indexOf(name);
  if (number < 0) number = names.indexOf("");
  if (number < 0) number = names.length;
  if (number >= NUMBERS) throw new RangeError(`no more than ${NUMBERS} sites can be stored`);
  names[number] = name;
  return number;
}
