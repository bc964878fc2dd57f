// The button in the toolbar: what is known of the page that is shown, and "add this site".

import { domainOfPage } from "../core/domains.js";
import { counted } from "../core/notice.js";
import { withStore } from "../core/store.js";

/** @typedef {import("../core/messages.js").State} State */

const asked = new URLSearchParams(location.search).get("tab");

/** The page in front; a tab that the address names is for tests, where there is no popup. */
async function frontTab() {
  if (asked) return Number(asked);
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  return tab?.id;
}

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {number | undefined} tab */
async function show(tab) {
  /** @type {State | null} */
  const state = tab === undefined ? null
    : await chrome.tabs.sendMessage(tab, { kind: "state" }, { frameId: 0 }).catch(() => null);
  const domain = state ? domainOfPage(state.url) : "";
  if (!state || !domain) {
    byId("state").textContent = "This is no web page, or it was open before the extension was installed: "
      + "then load it again.";
    return;
  }
  byId("title").textContent = domain;
  const heads = await withStore((store) => store.heads());
  const head = heads.find((one) => one.domain === domain);
  byId("state").textContent = sentence(state, head?.count ?? 0);
  byId("add").textContent = head ? "Add this page, too" : "Add this site";
  // On a copy it would make the passages common property: the bar offers what can be done.
  byId("add").hidden = Boolean(state.reply?.notice);
  byId("add").onclick = async () => {
    const reply = await chrome.tabs.sendMessage(tab ?? 0, { kind: "trust" }, { frameId: 0 });
    await show(tab);
    if (!reply?.learnt) {
      byId("state").textContent = "Nothing was learnt: no passage has five words or more.";
    }
  };
}

/**
 * @param {State} state
 * @param {number} count
 */
function sentence({ reply }, count) {
  if (reply?.notice) return `This page is made of pieces of ${reply.notice.owner}.`;
  if (reply?.never) return "You have asked for no warnings here.";
  if (count) return `This site has been learnt: ${counted(count, "passage")}.`;
  return "This site has not been learnt yet. It will be when you log in, or when you add it.";
}

byId("options").onclick = () => chrome.runtime.openOptionsPage();
frontTab().then(show);
