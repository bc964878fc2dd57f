// What a flagged page is called, and what can be done: for the bar and the page of warning.

/** @typedef {import("./messages.js").Notice} Notice */

/** Passages that are seen without a click. */
const ALWAYS_SHOWN = 3;

/**
 * The notice as elements: a heading, what it rests on, and buttons with the names of choices.
 * @param {Notice} notice
 * @param {boolean} [gone] whether the page is no longer there
 * @returns {DocumentFragment}
 */
export function noticeElements(notice, gone = false) {
  const fragment = document.createDocumentFragment();
  const { domain, owner, framed, count, passages, waits } = notice;
  const place = gone ? `The page of ${domain}`
    : framed ? `A frame of this page, from ${domain},` : "This page";
  fragment.append(
    element("h1", { id: "title" }, `${place} is made of pieces of ${owner}. It is not ${owner}.`),
    element("p", { id: "about" }, (gone ? "" : `You are looking at ${domain}. `) +
      `${count} of its passages ${count === 1 ? "is" : "are"} known to this browser ` +
      `from ${owner}.` +
      (waits && !gone ? " Typing on this page is switched off until you decide." : "")),
    buttons(notice),
    list(passages.slice(0, ALWAYS_SHOWN)),
  );
  const rest = passages.slice(ALWAYS_SHOWN);
  if (rest.length) {
    fragment.append(element("details", {}, element("summary", {}, `${count - ALWAYS_SHOWN} more`),
      list(rest), count > passages.length ? `and ${count - passages.length} others` : ""));
  }
  return fragment;
}

/** @param {Notice} notice */
function buttons({ domain, owner }) {
  return element("div", { class: "choices" },
    element("button", { "data-choice": "leave", class: "first" }, "Leave this page"),
    element("button", { "data-choice": "fine" }, `It is fine: ${domain} belongs to ${owner}`),
    element("button", { "data-choice": "never" }, `Never warn on ${domain}`));
}

/** @param {Notice["passages"]} passages */
function list(passages) {
  return element("ul", {}, ...passages.map(({ text, page }) => element("li", {},
    element("q", {}, text), " ", element("span", { class: "page" }, page))));
}

/**
 * A number of things: `1 site`, `1,234 sites`.
 * @param {number} count
 * @param {string} thing
 */
export function counted(count, thing) {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} content
 * @returns {HTMLElement}
 */
export function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** How notices look, in the bar and on the page of warning. */
export const STYLE = `
.notice { color-scheme: light dark; box-sizing: border-box; font: 15px/1.45 system-ui, sans-serif; color: #1c1b1a;
  background: #fff4f2; border-bottom: 4px solid #b3261e; padding: 14px 20px 12px;
  max-height: 70vh; overflow: auto; text-align: start; cursor: default; }
.notice:focus { outline: none; }
h1 { font-size: 18px; line-height: 1.3; margin: 0 0 4px; color: #8c1d18; font-weight: 650; }
h1::before { content: "!"; content: "!" / ""; display: inline-block; width: 1.3em;
  margin-inline-end: .5em; border-radius: 50%; background: #b3261e; color: #fff; text-align: center; }
p { margin: 0 0 10px; }
.choices { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 10px; }
button { font: inherit; padding: 7px 14px; border: 1px solid #75706c; border-radius: 6px;
  background: #fff; color: #1c1b1a; cursor: pointer; overflow-wrap: anywhere; }
button.first { background: #b3261e; border-color: #b3261e; color: #fff; font-weight: 600; }
button:focus-visible, summary:focus-visible { outline: 3px solid #1a5fb4; outline-offset: 2px; }
button[aria-disabled] { opacity: .55; cursor: default; }
summary { cursor: pointer; }
ul { margin: 6px 0; padding-inline-start: 20px; }
li { margin: 3px 0; overflow-wrap: anywhere; unicode-bidi: isolate; }
.page { color: #5b5650; font-size: 13px; }
@media (prefers-color-scheme: dark) {
  .notice { color: #ece7e3; background: #2b1a19; border-color: #f2675e; }
  h1 { color: #ffb4ab; }
  button { background: #3a2b2a; color: #ece7e3; border-color: #a8a09a; }
  button.first { background: #ffb4ab; border-color: #ffb4ab; color: #410e0b; }
  .page { color: #c3bab3; }
  button:focus-visible, summary:focus-visible { outline-color: #99c1f1; }
}
@media (prefers-reduced-motion: no-preference) {
  .notice.attention { animation: attention .4s; }
}
@keyframes attention { 50% { background: #f9c9c4; color: #1c1b1a; } }
`;
