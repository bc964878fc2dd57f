// In every document: reads it, shows the bar, lets fields wait. What is known, the worker knows.

import { Bar, isBar } from "./bar.js";
import { Hold } from "./holding.js";
import { isFirst, listenFirst } from "./listening.js";
import { readDocument } from "./reading.js";
import { Settling } from "./settling.js";

/**
 * @typedef {import("../core/messages.js").Reply} Reply
 * @typedef {import("../core/messages.js").State} State
 * @typedef {import("../core/messages.js").ToPage} ToPage
 * @typedef {import("../core/messages.js").ToWorker} ToWorker
 */

const PASSWORD = "input[type=password]";
const top = window === window.top;
/** @type {Set<ShadowRoot>} */
const shadows = new Set();
/** @type {State} */
const state = { url: location.href, reply: null, readings: 0,
                taken: { all: 0, longest: 0, chunks: 0, whole: false, broken: false } };
/** How many readings in a row the page may break off by changing; the next one does not pause. */
const MOST_BROKEN = 2;
let broken = 0;
let used = false;
let trusted = false;
/** @type {Set<string>} what was decided about: whose content on which domain */
const decided = new Set();
/** @type {((reply: Reply | null) => void)[]} */
let waiting = [];

const bar = new Bar(
  (choice, notice) => tell({ kind: "decide", choice, notice }),
  (notice) => tell({ kind: "replace", notice }), shadows);
const hold = new Hold(() => bar.attention());
const settling = new Settling(read, () => passwordFields().length > 0, isBar);

/** @returns {Promise<number>} */
async function read() {
  if (!document.documentElement) return 0;
  if (state.url !== location.href) used = false;
  state.url = location.href;
  const wanted = trusted;
  const { reply, taken } = await readDocument(shadows, broken < MOST_BROKEN, () => ({
    url: addressOf(), password: passwordFields().length > 0, used, trusted }));
  broken = taken.broken ? broken + 1 : 0;
  Object.assign(state, { reply, taken, readings: state.readings + 1 });
  shadows.forEach((root) => settling.watch(root));
  if (reply?.notice) warn(reply.notice);
  if (wanted) trusted = false;
  for (const resolve of waiting.splice(0)) resolve(reply);
  return taken.all;
}

/**
 * Warn of this document, or of a frame of it. A bar whose clicks the page can take is no good: then
 * the page is taken away.
 * @param {import("../core/messages.js").Notice} notice
 */
function warn(notice) {
  if (decided.has(matter(notice))) return;
  hold.on = notice.waits;
  if (!isFirst()) tell({ kind: "replace", notice });
  else if (top) bar.show(notice);
}

/** @param {import("../core/messages.js").Notice} notice */
function matter({ domain, owner }) {
  return `${owner} on ${domain}`;
}

/**
 * The address of what has one: frames without one are part of the page around them.
 * @returns {string}
 */
function addressOf() {
  if (/^https?:/.test(location.href)) return location.href;
  const around = location.ancestorOrigins?.[0] ?? document.referrer;
  return /^https?:/.test(self.origin) ? self.origin : around;
}

/** @returns {HTMLInputElement[]} */
function passwordFields() {
  return [document, ...shadows].flatMap((root) => [...root.querySelectorAll(PASSWORD)].map(
    (field) => /** @type {HTMLInputElement} */ (field)));
}

/**
 * Whether what somebody does is part of a login: with a password field, its form, or any field
 * after one was filled. Scripts do not produce such events.
 * @param {Event} event
 */
function noteUse(event) {
  if (used || !event.isTrusted) return;
  const target = event.composedPath()[0];
  const fields = passwordFields();
  if (!fields.length || !(target instanceof Element)) return;
  const form = target.closest("form");
  if (fields.some((field) => field === target || form?.contains(field) || field.value)) {
    used = true;
    settling.now();
  }
}

/** @param {ToWorker} message */
function tell(message) {
  chrome.runtime.sendMessage(message).catch(() => {});
}

chrome.runtime.onMessage.addListener((/** @type {ToPage} */ message, _sender, respond) => {
  if (message.kind === "show" && top) warn(message.notice);
  if (message.kind === "hold") hold.on ||= !decided.has(matter(message.notice));
  if (message.kind === "release") {
    decided.add(matter(message.notice));
    hold.on = false;
    bar.hide();
    settling.now();  // there may be more to warn of
  }
  if (message.kind === "held") respond(bar.notice?.waits ? bar.notice : null);
  if (message.kind === "state") respond(state);
  if (message.kind !== "trust") return false;
  trusted = true;
  waiting.push(respond);
  settling.now();
  return true;
});

bar.install();
hold.install();
for (const name of ["keydown", "pointerdown"]) listenFirst(name, noteUse);
settling.start();
