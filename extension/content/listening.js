// Listeners that come before those of the page, and a way to know that they still do.

/** @type {[string, (event: Event) => void][]} */
const listeners = [];
const sign = `beam-reuse-${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
let heard = false;

/**
 * Listen before any script of the page runs: this script starts first.
 * @param {string} name
 * @param {(event: Event) => void} listener
 */
export function listenFirst(name, listener) {
  listeners.push([name, listener]);
  addEventListener(name, listener, true);
}

/**
 * Whether all listeners are there: a page that opens its document anew (`document.open`) removes
 * them, and its own may be first from then on. They are put back, behind those.
 * @returns {boolean}
 */
export function isFirst() {
  heard = false;
  dispatchEvent(new Event(sign));
  if (heard) return true;
  for (const [name, listener] of listeners) addEventListener(name, listener, true);
  return false;
}

listenFirst(sign, () => { heard = true; });
