// When a document is read: when it has settled, and at once when a password field appears.

/** Milliseconds without a change after which a document has settled. */
const QUIET = 200;
/** Milliseconds after which a document is read that does not settle. */
const LATEST = 1500;
/** Milliseconds between a change and a look at the address and for password fields. */
const PEEK = 50;
/** Milliseconds between readings, at first and at most; or this many times what one has taken. */
const PACE = { first: 400, most: 4000, share: 10 };

export class Settling {
  /**
   * @param {() => Promise<number>} read gives what it has taken of the document's thread
   * @param {() => boolean} hasPassword
   * @param {(node: Node) => boolean} isOurs whether a node is the extension's own
   */
  constructor(read, hasPassword, isOurs) {
    this.read = read;
    this.hasPassword = hasPassword;
    this.isOurs = isOurs;
    this.observer = new MutationObserver((records) => this.#changed(records));
    this.address = "";
    this.password = false;
    this.pace = PACE.first;
    this.since = 0;
    this.next = 0;
    this.timer = 0;
    this.peek = 0;
    this.reading = false;
    this.again = false;
  }

  /** A page that never ends loading is read, too. */
  start() {
    if (document.readyState !== "loading") this.#begin();
    else document.addEventListener("DOMContentLoaded", () => this.#begin(), { once: true });
    setTimeout(() => this.#begin(), LATEST);
    addEventListener("load", () => this.#changed());
    addEventListener("popstate", () => this.#look());
    addEventListener("hashchange", () => this.#look());
    addEventListener("pageshow", (event) => { if (event.persisted) this.now(); });
  }

  /** @param {Node} root a tree whose changes count, too */
  watch(root) {
    this.observer.observe(root, { subtree: true, childList: true, characterData: true,
                                  attributes: true, attributeFilter: ["type"] });
  }

  /** Read at once, whatever was read before. */
  now() {
    this.pace = PACE.first;
    this.next = 0;
    this.#schedule(0);
  }

  #begin() {
    if (this.address) return;
    this.address = location.href;
    this.watch(document);
    this.password = this.hasPassword();
    this.#schedule(this.password ? 0 : QUIET);
  }

  /** @param {MutationRecord[]} [records] */
  #changed(records) {
    if (!this.address || records?.every((record) => this.#ours(record))) return;
    this.since ||= performance.now();
    this.peek ||= setTimeout(() => this.#look(), PEEK);
    this.#schedule(Math.min(QUIET, Math.max(0, this.since + LATEST - performance.now())));
  }

  /** @param {MutationRecord} record */
  #ours(record) {
    const nodes = [...record.addedNodes, ...record.removedNodes];
    return this.isOurs(record.target) ||
      nodes.length > 0 && nodes.every((node) => this.isOurs(node));
  }

  #look() {
    clearTimeout(this.peek);
    this.peek = 0;
    const password = this.hasPassword();
    if (this.address !== location.href || password && !this.password) this.now();
    this.address = location.href;
    this.password = password;
  }

  /** @param {number} delay */
  #schedule(delay) {
    clearTimeout(this.timer);
    const wait = Math.max(delay, this.next - performance.now());
    this.timer = setTimeout(() => this.#run(), wait);
  }

  async #run() {
    if (this.reading) {
      this.again = true;
      return;
    }
    this.reading = true;
    this.since = 0;
    const took = await this.read();
    this.reading = false;
    this.pace = Math.min(2 * this.pace, PACE.most);
    this.next = performance.now() + Math.max(this.pace, PACE.share * took);
    if (this.again) this.#schedule(0);
    this.again = false;
  }
}
