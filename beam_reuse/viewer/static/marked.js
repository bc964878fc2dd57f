// Texts with marks: a line is a list of pieces, each with the names of its marks.
import {el, number} from "./dom.js";

// `chosen(names, element)` is asked when a marked piece is activated, or reached by a step; `kind`
// gives its class.
export function marked(found, {chosen, kind, label, template}) {
  const lines = found.lines.map((line) => {
    const row = el("p",
      {class: "line" + (line.template ? " template" : ""),
        title: line.template && template ? template(line.template) : null},
      line.pieces.map(([text, ...names]) => names.length ? piece(text, names) : text),
      line.left_out
        ? el("span", {class: "small"}, " … ", number(line.left_out), " more characters")
        : null);
    return row;
  });
  function piece(text, names) {
    const name = names[0];
    const first = seenNames !== name;
    seenNames = name;
    return el("mark",
      {class: kind(names), tabindex: 0, role: "button", "data-name": name,
        "data-names": names.join(" "), "data-stop": first,
        "aria-label": label ? label(names, text) : null,
      on: {click: (event) => chosen(names, event.currentTarget),
        stepped: (event) => chosen(names, event.currentTarget),
        keydown(event) { if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          chosen(names, event.currentTarget);
        } }}},
    first && label ? el("sup", {"aria-hidden": "true"}, label(names)) : null, text);
  }
  return el("div", {class: "text", tabindex: 0, role: "region", "aria-label": "Text of the page"},
    lines.length ? lines : el("p", {class: "empty"}, "The page has no text."),
    found.left_out
      ? el("p", {class: "small"}, number(found.left_out), " more lines are not shown.")
      : null);
}
let seenNames = null;
export const fresh = () => { seenNames = null; };

// Buttons to the stops of what is shown `within` an element; there may be none.
export function stepper(what, within) {
  const disabled = !within.querySelector("[data-stop]");
  const go = (by) => document.getElementById("screen").dispatchEvent(new CustomEvent("step",
    {detail: by}));
  return el("span", {class: "stepper"},
    el("button", {type: "button", disabled, on: {click: () => go(-1)}}, "← previous ", what, " ",
      el("kbd", {}, "p")),
    el("button", {type: "button", disabled, on: {click: () => go(1)}}, "next ", what, " → ",
      el("kbd", {}, "n")), " ",
    el("span", {"data-place": true, role: "status", class: "small"}, ""));
}
