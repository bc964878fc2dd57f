// Elements are made of names and text alone: nothing of a crawl is ever parsed as HTML.

const UNSEEN = new RegExp([
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f]/,
  /[\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]/,
  /[\ud800-\udbff](?![\udc00-\udfff])/,
  /(?<![\ud800-\udbff])[\udc00-\udfff]/,
].map((some) => some.source).join("|"), "g");

// Text as it is shown: characters that would change how other text is shown, as what they are.
export function seen(text) {
  return String(text).replace(UNSEEN,
    (letter) => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"));
}

// An element. Attributes: `class`, `on` ({event: listener}), `props`; others as they are, and none
// that runs anything. Children are text, elements or lists of these; null is left out.
export function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(
      event, listener);
    else if (key === "props") Object.assign(made, value);
    else if (/^on/i.test(key) || key === "style" || key === "srcdoc") throw new Error(key);
    else if (key === "href" && !/^#/.test(value)) throw new Error("links stay in the viewer");
    else made.setAttribute(key, value === true ? "" : seen(value));
  }
  add(made, children);
  return made;
}

export function add(parent, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : seen(child));
  }
}

// The address of a screen.
export function to(screen, parameters = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const each of [value].flat()) if (each !== "" && each !== null && each !== undefined
      && each !== false) query.append(key, each);
  }
  const text = query.toString();
  return "#/" + screen + (text ? "?" + text : "");
}

export function link(screen, parameters, ...children) {
  return el("a", {href: to(screen, parameters)}, ...children);
}

export const number = (value) => value === null || value === undefined
  ? ""
  : Number(value).toLocaleString("en");
export function share(value) {
  if (value === null || value === undefined) return "";
  const digits = value === 0 || value === 1 ? 0 : value < 0.1 ? 2 : 1;
  return (100 * value).toFixed(digits) + "\u00a0%";
}
export const counted = (many, what) => number(many) + " " + what
  + (many === 1 ? "" : /(ch|sh|x|s)$/.test(what) ? "es" : "s");

export function size(bytes) {
  for (const [unit, scale] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (bytes >= scale) return (
    bytes / scale).toFixed(1) + " " + unit;
  return number(bytes) + " B";
}

// A long name that breaks where its parts end.
export function breakable(text) {
  const parts = String(text).split(/(?<=[/?&=])(?=[^/?&=])/);
  return parts.length > 200
    ? text
    : parts.flatMap((part, at) => at ? [document.createElement("wbr"), part] : [part]);
}

// A URL of the crawl: text. Opening it takes a second, deliberate step.
export function outside(url) {
  if (!/^https?:\/\//i.test(url)) return null;
  const holder = el("span", {class: "outside"});
  holder.append(el("button", {type: "button", on: {click() {
    const anchor = el("a", {rel: "noreferrer noopener", target: "_blank", class: "danger"}, "Open ",
      url, " in a new window");
    anchor.href = url;
    holder.replaceChildren(el("span", {class: "warn"},
      "It may be hostile, and its owner will see your visit. "), anchor);
    anchor.focus();
  }}}, "Open on the web…"));
  return holder;
}

export function facts(pairs) {
  return el("dl", {class: "facts"},
    pairs.filter((pair) => pair[1] !== null && pair[1] !== undefined && pair[1] !== "")
    .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function bar(value, above) {
  const made = el("meter",
    {min: 0, max: 1, class: above ? "above" : "", "aria-label": share(value)});
  made.value = value ?? 0;
  return made;
}

// A command, copied with one click.
export function command(text) {
  const shown = el("pre", {class: "command", tabindex: 0}, text);
  const button = el("button", {type: "button", on: {async click() {
    try { await navigator.clipboard.writeText(text); button.replaceChildren("Copied"); } catch {
      getSelection().selectAllChildren(shown);
      button.replaceChildren("Selected");
    }
  }}}, "Copy");
  return el("div", {class: "with-copy"}, shown, button);
}
