// How far a sheet is judged, and which share of the table's rows is right by what is judged so far.
import {ask} from "./api.js";
import {counted, el, number, share} from "./dom.js";

// The share last found of each sheet, with the counts of the sheet it was found for.
const known = new Map();
let bar = null, asking = false, waiting = null;

export function progress({sheet, counts}) {
  const {rows, left} = counts;
  const live = el("span", {class: "live"});
  bar = rows > left ? {sheet, counts: JSON.stringify(counts), live} : null;
  show();
  if (bar) find(bar);
  const drawn = el("progress", {max: rows, "aria-label": "Rows judged"});
  drawn.value = rows - left;
  return el("div", {class: "progress small"}, drawn,
    el("span", {}, number(rows - left), " of ", counted(rows, "row"), " judged, ", number(left),
      " left"), live);
}

// One question at a time: of those that come meanwhile the last one.
async function find(asked) {
  if (asking) { waiting = asked; return; }
  asking = true;
  const found = {counts: asked.counts};
  try { found.text = said(await ask("precision", {sheet: asked.sheet})); } catch (error) {
    found.text = error.message;
  }
  known.set(asked.sheet, found);
  show();
  asking = false;
  if (waiting) { const next = waiting; waiting = null; find(next); }
}

// In the bar that is on the screen by now. What is older than its counts says so.
function show() {
  if (!bar) return;
  const found = known.get(bar.sheet);
  bar.live.replaceChildren(found?.counts === bar.counts
    ? found.text
    : (found ? found.text + "; " : "") + "counting…");
}

export function said(found) {
  if (found.why_not) return found.why_not;
  if (found.value === undefined) return "no flagged row is judged yet";
  return share(found.value) + " of " + found.of + " right (" + share(found.low) + " to "
    + share(found.high) + "), from " + number(found.judged) + " judged";
}
