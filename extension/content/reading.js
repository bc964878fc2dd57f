// A document is read in slices, and its chunks are sent to the worker.

import { READ } from "../core/messages.js";
import { walkChunks } from "../core/text_chunks.js";
import { counts } from "../core/tokens.js";

/**
 * @typedef {import("../core/messages.js").End} End
 * @typedef {import("../core/messages.js").Reply} Reply
 * @typedef {object} Taken what a reading has taken of the document's thread, in milliseconds
 * @property {number} all
 * @property {number} longest of one slice
 * @property {number} chunks that were sent
 * @property {boolean} whole whether the end was reached
 * @property {boolean} broken whether the page has taken away what was being read
 */

/** Milliseconds of a slice. */
const SLICE = 6;
/** Letters that are sent at once. */
const BATCH = 1 << 16;
/** What is read of a document: chunks, letters of one, letters of all. */
const MOST = { chunks: 50_000, longest: 1 << 18, letters: 1 << 24 };
const ATTEMPTS = 3;
const CAN_HOST = new Set(("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header " +
  "main nav p section span").split(" "));

/**
 * Read the document and have the worker's reply; null if it has none. A worker that was stopped
 * meanwhile is given everything once more.
 * @param {Set<ShadowRoot>} shadows those that are met are added
 * @param {boolean} pauses between slices; the page cannot change in a reading that does not pause
 * @param {() => End} end
 * @returns {Promise<{reply: Reply | null, taken: Taken}>}
 */
export async function readDocument(shadows, pauses, end) {
  /** @type {Taken} */
  let taken = { all: 0, longest: 0, chunks: 0, whole: false, broken: false };
  for (let attempt = 0; attempt < ATTEMPTS && chrome.runtime?.id; attempt++) {
    try {
      const port = chrome.runtime.connect({ name: READ });
      /** @type {Promise<Reply | null>} */
      const answered = new Promise((resolve) => {
        port.onMessage.addListener(resolve);
        port.onDisconnect.addListener(() => resolve(null));
      });
      taken = await sendChunks(port, shadows, pauses ? SLICE : Infinity);
      port.postMessage({ end: end() });
      const reply = await answered;
      port.disconnect();
      if (reply) return { reply, taken };
    } catch {
      // The other end is gone: once more.
    }
  }
  return { reply: null, taken };
}

/**
 * @param {chrome.Port} port
 * @param {Set<ShadowRoot>} shadows
 * @param {number} most milliseconds of a slice
 * @returns {Promise<Taken>}
 */
async function sendChunks(port, shadows, most) {
  const taken = { all: 0, longest: 0, chunks: 0, whole: false, broken: false };
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {string[]} */
  let texts = [];
  let letters = 0, inBatch = 0, start = performance.now();
  const stop = () => {
    const slice = performance.now() - start;
    taken.all += slice;
    taken.longest = Math.max(taken.longest, slice);
  };
  const send = () => {
    if (texts.length) port.postMessage({ texts });
    texts = [];
    inBatch = 0;
  };
  const walk = walkChunks(document.documentElement, {
    longest: MOST.longest, shadowOf: (element) => shadowOf(element, shadows) });
  let step = walk.next();
  for (; !step.done; step = walk.next()) {
    const text = step.value;
    if (text !== undefined && counts(text) && !seen.has(text)) {
      seen.add(text);
      texts.push(text);
      letters += text.length;
      inBatch += text.length;
      if (inBatch > BATCH) send();
      if (seen.size >= MOST.chunks || letters >= MOST.letters) break;
    }
    if (performance.now() - start > most) {
      stop();
      await new Promise((resolve) => setTimeout(resolve));
      start = performance.now();
    }
  }
  send();
  stop();
  return { ...taken, chunks: seen.size, whole: step.done === true && step.value,
           broken: step.done === true && !step.value };
}

/**
 * The shadow tree of an element, closed ones too, which browsers show to extensions.
 * @param {Element} element
 * @param {Set<ShadowRoot>} shadows
 * @returns {ShadowRoot | null}
 */
function shadowOf(element, shadows) {
  if (!CAN_HOST.has(element.localName) && !element.localName.includes("-")) return null;
  if (!(element instanceof HTMLElement)) return null;
  const root = "openOrClosedShadowRoot" in element
    ? /** @type {ShadowRoot | null} */ (element.openOrClosedShadowRoot)
    : element.shadowRoot ?? chrome.dom?.openOrClosedShadowRoot(element) ?? null;
  if (root) shadows.add(root);
  return root;
}
