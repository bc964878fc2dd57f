// Fields that wait: on a flagged page nothing typed arrives until the user has decided.

import { listenFirst } from "./listening.js";

const KEYS = ["keydown", "keypress", "keyup"];
const EDITS = ["beforeinput", "paste", "drop", "compositionstart", "submit"];
/** Keys that move in a page, or out of it, and write nothing. */
const MOVES = /^(Tab|Escape|F\d+|Arrow\w+|Page\w+|Home|End|Shift|Control|Alt|Meta)$/;

/**
 * Installed before any script of the page, so that the page's listeners come after these. All
 * fields wait, not those for passwords alone: a page can make a field of any kind look like one.
 */
export class Hold {
  /** @param {() => void} refused is called when something was not let through */
  constructor(refused) {
    this.refused = refused;
    this.on = false;
  }

  install() {
    for (const name of KEYS) listenFirst(name, (event) => this.#key(event));
    for (const name of EDITS) listenFirst(name, (event) => this.#refuse(event));
  }

  /** @param {Event} event */
  #key(event) {
    if (!this.on) return;
    event.stopImmediatePropagation();
    const { key, ctrlKey, metaKey } = /** @type {KeyboardEvent} */ (event);
    if (!isField(event.composedPath()[0]) || MOVES.test(key) || ctrlKey || metaKey) return;
    event.preventDefault();
    if (event.type === "keydown") this.refused();
  }

  /** @param {Event} event */
  #refuse(event) {
    if (!this.on) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    // What is composed of several keys cannot be prevented: the field loses the keyboard instead.
    if (!event.cancelable && document.activeElement instanceof HTMLElement) {
      document.activeElement.blur();
    }
    this.refused();
  }
}

/** @param {EventTarget | undefined} target */
function isField(target) {
  return target instanceof HTMLElement &&
    (target.matches("input, textarea, select") || target.isContentEditable || !!target.shadowRoot ||
     target.localName.includes("-"));
}
