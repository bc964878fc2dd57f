// The bar over a flagged page, which no script of the page can reach, hide or click.

import { STYLE, element, noticeElements } from "../core/notice.js";
import { listenFirst } from "./listening.js";

/**
 * @typedef {import("../core/messages.js").Choice} Choice
 * @typedef {import("../core/messages.js").Notice} Notice
 */

/** Milliseconds after which a bar that has appeared can be clicked: nobody clicks it by mistake. */
const INERT = 1000;
/** Milliseconds between looks at whether the bar is still there, and above everything. */
const WATCH = 250;
/** How often the bar is put up again before the page is taken away. */
const MOST_REPAIRS = 6;
const EVENTS = ["click", "dblclick", "auxclick", "pointerdown", "pointerup", "mousedown", "mouseup",
  "touchstart", "touchend", "keydown", "keypress", "keyup", "contextmenu", "focusin", "wheel"];
const TOP_LAYER = ":popover-open, :modal, :fullscreen";
// Important rules for :host go before any of the page's, its style attributes included.
const HOST = `:host { all: initial !important; display: block !important;
  position: fixed !important; inset: 0 0 auto 0 !important;
  z-index: 2147483647 !important; direction: ltr !important; }`;

/** @type {WeakSet<Node>} */
const hosts = new WeakSet();

/**
 * Whether a node is a bar.
 * @param {Node} node
 * @returns {boolean}
 */
export function isBar(node) {
  return hosts.has(node);
}

export class Bar {
  /**
   * @param {(choice: Choice, notice: Notice) => void} decided
   * @param {(notice: Notice) => void} overcome called when the page does not leave the bar alone
   * @param {Set<ShadowRoot>} shadows of the page
   */
  constructor(decided, overcome, shadows) {
    this.decided = decided;
    this.overcome = overcome;
    this.shadows = shadows;
    /** @type {Notice | null} */
    this.notice = null;
    /** @type {HTMLElement | null} */
    this.host = null;
    /** @type {ShadowRoot | null} */
    this.root = null;
    /** @type {HTMLElement | null} the root that the bar was put into */
    this.page = null;
    this.shownAt = 0;
    this.repairs = 0;
    this.timer = 0;
    this.observer = new MutationObserver(() => this.#repair());
  }

  /** Listeners before the page's, which can neither stop clicks on the bar nor see them. */
  install() {
    for (const name of EVENTS) listenFirst(name, (event) => this.#event(event));
    listenFirst("beforeunload", (event) => {
      if (this.notice) event.stopImmediatePropagation();
    });
  }

  /** @param {Notice} notice */
  show(notice) {
    if (this.notice) return;
    this.notice = notice;
    this.#put();
    this.timer = setInterval(() => this.#watch(), WATCH);
  }

  hide() {
    this.notice = null;
    clearInterval(this.timer);
    this.#remove();
  }

  /** Say that something was not let through. */
  attention() {
    const box = this.root?.querySelector(".notice");
    box?.classList.remove("attention");
    requestAnimationFrame(() => box?.classList.add("attention"));
  }

  /** Put a new bar above everything. */
  #put() {
    if (!this.notice) return;
    this.page = document.documentElement;
    if (!this.page) return;
    const focused = !this.host || this.root?.activeElement;
    this.#remove();
    const host = document.createElement("div");
    hosts.add(host);
    this.root = host.attachShadow({ mode: "closed" });
    const box = element("div", { class: "notice", role: "alertdialog", tabindex: "-1",
      "aria-labelledby": "title", "aria-describedby": "about" });
    box.append(noticeElements(this.notice));
    this.root.append(styled(this.root), box);
    host.setAttribute("popover", "manual");
    this.host = host;
    this.page.append(host);
    this.shownAt = performance.now();
    try {
      host.showPopover();
    } catch {
      return;  // a listener of the page has removed it; the next look finds that
    }
    if (focused) box.focus({ preventScroll: true });
    const buttons = [...box.querySelectorAll("button")];
    for (const button of buttons) button.setAttribute("aria-disabled", "true");
    setTimeout(() => {
      for (const button of buttons) button.removeAttribute("aria-disabled");
    }, INERT);
    this.observer.observe(host, { attributes: true });
    this.observer.observe(this.page, { childList: true });
    this.observer.observe(document, { childList: true });
  }

  #remove() {
    this.observer.disconnect();
    this.host?.remove();
  }

  /** A page that has removed, changed or covered the bar gets a new one, and at last none. */
  #repair() {
    if (!this.notice || this.#whole()) return;
    this.repairs += 1;
    if (this.repairs > MOST_REPAIRS || this.page !== document.documentElement) {
      const notice = this.notice;
      this.hide();
      this.overcome(notice);
    } else {
      this.#put();
    }
  }

  /** The bar is where it was put, as it was put. */
  #whole() {
    const { host } = this;
    return host !== null && host.isConnected && host.parentNode === document.documentElement &&
      host.matches(":popover-open") && host.attributes.length === 1;
  }

  #watch() {
    if (document.hidden || innerWidth < 50 || innerHeight < 50) return;
    if (!this.#whole() || this.#covered()) this.#raise();
  }

  #raise() {
    this.host?.remove();
    this.#repair();
  }

  /** Whether something is above the bar: what takes its clicks, or may only be seen. */
  #covered() {
    const button = this.root?.querySelector("button")?.getBoundingClientRect();
    if (!button || !this.host) return true;
    const top = document.elementFromPoint(
      button.left + button.width / 2, button.top + button.height / 2);
    if (top !== this.host) return true;
    return [document, ...this.shadows].some((root) => [...root.querySelectorAll(TOP_LAYER)].some(
      (other) => other !== this.host));
  }

  /** @param {Event} event */
  #event(event) {
    if (!this.notice || event.target !== this.host || !this.root) return;
    event.stopImmediatePropagation();
    if (event.type !== "click" || !event.isTrusted) return;
    const { clientX, clientY, detail } = /** @type {MouseEvent} */ (event);
    const target = detail ? this.root.elementFromPoint(clientX, clientY) : this.root.activeElement;
    const choice = target?.closest("button")?.dataset.choice;
    if (!choice || performance.now() - this.shownAt < INERT) return;
    this.decided(/** @type {Choice} */ (choice), this.notice);
  }
}

/**
 * The style of the bar, which a page's security policy does not keep away.
 * @param {ShadowRoot} root
 * @returns {Node}
 */
function styled(root) {
  try {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(HOST + STYLE);
    root.adoptedStyleSheets = [sheet];
    return document.createDocumentFragment();
  } catch {
    return element("style", {}, HOST + STYLE);
  }
}
