// The background: hashes what pages show, looks it up, learns. It may be stopped after any message;
// whatever must last is in the store.

import { addChunks } from "../core/chunks.js";
import { canonicalUrl, domainOfPage } from "../core/domains.js";
import { dayOf } from "../core/first_use.js";
import { READ, SHOWN_LETTERS, SHOWN_PASSAGES } from "../core/messages.js";
import { withStore } from "../core/store.js";

/**
 * @typedef {import("../core/messages.js").End} End
 * @typedef {import("../core/messages.js").Notice} Notice
 * @typedef {import("../core/messages.js").Reply} Reply
 * @typedef {import("../core/messages.js").ToPage} ToPage
 * @typedef {import("../core/messages.js").ToWorker} ToWorker
 */

const BLANK = "about:blank";
const WARNING = "pages/warning.html";

chrome.runtime.onConnect.addListener((port) => {
  if (port.name !== READ || port.sender?.id !== chrome.runtime.id) return;
  /** @type {Map<string, string>} */
  const chunks = new Map();
  port.onMessage.addListener(async (/** @type {{texts?: string[], end?: End}} */ message) => {
    addChunks(chunks, message.texts ?? []);
    if (!message.end || !port.sender) return;
    try {
      port.postMessage(await examine(chunks, message.end, port.sender));
    } catch {
      port.disconnect();  // the page is gone, or asks once more
    }
  });
});

chrome.runtime.onMessage.addListener((/** @type {ToWorker} */ message, sender, respond) => {
  if (sender.id !== chrome.runtime.id) return false;
  const tab = sender.tab?.id;
  const task = message.kind === "decide" ? decide(message.choice, message.notice, tab)
    : message.kind === "replace" ? replace(message.notice, tab) : Promise.resolve();
  task.then(() => respond(true));
  return true;
});

/**
 * What is known of a page; it may be learnt, and other frames of its tab hear of it.
 * @param {Map<string, string>} chunks
 * @param {End} end
 * @param {chrome.Sender} sender
 * @returns {Promise<Reply>}
 */
async function examine(chunks, end, sender) {
  const url = canonicalUrl(sender.url ?? "") || canonicalUrl(end.url);
  const domain = domainOfPage(url);
  const reply = await withStore(async ({ trust, settings, never }) => {
    if (never.includes(domain) && !end.trusted) {
      return { learnt: false, login: false, domain, never: true, notice: null };
    }
    const password = end.password && (end.used || settings.learn === "shown");
    const page = { url, domain, chunks, password, day: dayOf(Date.now()) };
    const kept = sender.tab?.incognito ? await trust.answer(page)
      : end.trusted ? await trust.trust(page) : await trust.visit(page);
    const learnt = "learnt" in kept && kept.learnt === true;
    if (!kept.flagged || end.trusted || !kept.domain) {
      return { learnt, login: kept.login, domain, never: false, notice: null };
    }
    /** @type {Notice} */
    const notice = {
      domain: domain || "a page without an address", owner: kept.domain, url,
      framed: sender.frameId !== 0, waits: settings.wait, count: kept.passages.length,
      passages: kept.passages.slice(0, SHOWN_PASSAGES).map(({ text, page: source }) => ({
        text: shortened(text), page: source })),
    };
    return { learnt, login: kept.login, domain, never: false, notice };
  });
  if (reply.notice) warn(reply.notice, sender);
  else holdToo(sender);
  return reply;
}

/**
 * A frame that has come to a page on which fields wait: its fields wait, too.
 * @param {chrome.Sender} sender
 */
async function holdToo({ tab, frameId }) {
  if (!frameId || tab?.id === undefined) return;
  /** @type {Notice | null} */
  const notice = await chrome.tabs.sendMessage(tab.id, { kind: "held" }, { frameId: 0 })
    .catch(() => null);
  if (notice) await send(tab.id, { kind: "hold", notice }, { frameId });
}

/**
 * @param {Notice} notice
 * @param {chrome.Sender} sender
 */
function warn(notice, sender) {
  const tab = sender.tab?.id;
  if (tab === undefined) return;
  if (notice.framed) send(tab, { kind: "show", notice }, { frameId: 0 });
  if (notice.waits) send(tab, { kind: "hold", notice });
}

/**
 * What the user has decided, on the bar or on the page of warning.
 * @param {import("../core/messages.js").Choice} choice
 * @param {Notice} notice
 * @param {number | undefined} tab
 */
async function decide(choice, notice, tab) {
  if (tab === undefined) return;
  if (choice === "leave") {
    await chrome.tabs.update(tab, { url: BLANK });
    return;
  }
  await withStore(async (store) => {
    if (choice === "fine") await store.trust.join([notice.domain, notice.owner]);
    else await store.setNever([...new Set([...store.never, notice.domain])].sort());
  });
  await send(tab, { kind: "release", notice });
}

/**
 * A page that does not leave the bar alone is taken away.
 * @param {Notice} notice
 * @param {number | undefined} tab
 */
async function replace(notice, tab) {
  if (tab === undefined) return;
  const told = encodeURIComponent(JSON.stringify(notice));
  await chrome.tabs.update(tab, { url: `${chrome.runtime.getURL(WARNING)}#${told}` });
}

/**
 * @param {number} tab
 * @param {ToPage} message
 * @param {{frameId?: number}} [place]
 */
async function send(tab, message, place = {}) {
  await chrome.tabs.sendMessage(tab, message, place).catch(() => {});
}

/** @param {string} text */
function shortened(text) {
  return text.length > SHOWN_LETTERS ? text.slice(0, SHOWN_LETTERS) + "…" : text;
}
