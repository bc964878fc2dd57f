// Pairs of pages, and one pair side by side.
import {ask} from "./api.js";
import {page, plainTable} from "./cells.js";
import {counted, el, link, number, share, to} from "./dom.js";
import {asList, grid} from "./grid.js";
import {stepper} from "./marked.js";

export async function list(parameters, manifest) {
  const there = ["near_duplicates", "page_overlap"].filter((name) => name in manifest.tables);
  const which = parameters.of ?? there[0];
  const near = which === "near_duplicates";
  const tabs = el("nav", {class: "tabs", "aria-label": "Which pairs"},
    there.map((name) => {
      const made = link("pairs", {of: name},
        name === "near_duplicates" ? "Near-duplicates" : "Overlap", " (",
        number(manifest.tables[name]), ")");
      if (name === which) made.setAttribute("aria-current", "page");
      return made;
    }));
  const fields = near ? [
    {label: "hide pairs of one site", column: "same_site", op: "is", type: "check", value: "false"},
    {label: "C from", column: "c_similarity", op: "min", type: "number"},
    {label: "to", column: "c_similarity", op: "max", type: "number"},
    {label: "B from", column: "b_similarity", op: "min", type: "number"},
    ...["b", "c", "combined", "hybrid"].map((name) => ({label: NAMES[name], column: name, op: "is",
      type: "check", value: "true"})),
    {label: "page a has", column: "url_a", op: "has", type: "text"},
    {label: "page b has", column: "url_b", op: "has", type: "text"},
  ]
    : [{label: "hide pairs of one site", column: "same_site", op: "is", type: "check",
      value: "false"},
      {label: "containment from (0 to 1)", column: "larger", op: "min", type: "number"},
      {label: "compared by", column: "chunking", op: "is",
        options: [["", "any"],
          ...asList(manifest.settings["overlap-chunkings"]).filter((name) => name !== "whole").map(
            (name) => [name, name])]},
      {label: "shared from", column: "shared", op: "min", type: "number"},
      {label: "of page a from", column: "containment_a", op: "min", type: "number"},
      {label: "of page b from", column: "containment_b", op: "min", type: "number"},
    {label: "page a has", column: "url_a", op: "has", type: "text"},
    {label: "page b has", column: "url_b", op: "has", type: "text"}];
  const other = asList(parameters.f).includes("same_site.is.false");
  const column = near ? "c_similarity" : "larger", table = near ? which : "overlapping";
  const bins = which ? (await ask("similarities", {table, column, other_sites: other})).bins : [];
  return [el("h1", {}, "Pairs of pages"), tabs, histogram(bins, near, {...parameters, of: which}),
    await grid({screen: "pairs", table, parameters: {...parameters, of: which}, fields,
      sort: near ? "c_similarity" : "shared", descending: true, names: NAMES,
      empty: near ? "No two pages are near-duplicates." : "No two pages overlap.",
      judged: near ? null : {table: "page_overlap", without: ["larger", "same_site"]},
      columns: near
        ? ["url_a", "url_b", "c_similarity", "b_similarity", "same_site", "b", "c", "combined",
          "hybrid"]
        : ["url_a", "url_b", "chunking", "shared", "larger", "containment_a", "containment_b",
          "same_site"],
      last: (row) => link("pair", {a: row.url_a, b: row.url_b}, "compare")})];
}

const NAMES = {url_a: "page a", url_b: "page b", b_similarity: "B similarity",
  c_similarity: "C similarity", b: "by B", c: "by C", combined: "by combined", hybrid: "by hybrid",
  larger: "containment", containment_a: "of page a", containment_b: "of page b"};

// How many pairs have which similarity; a bar sets the cutoff.
function histogram(bins, near, parameters) {
  if (bins.length < 2) return null;
  const most = Math.max(...bins.map((bin) => bin[1]));
  const others = asList(parameters.f).filter((text) => !/^(c_similarity|larger)\.min\./.test(text));
  const cutoff = Number(asList(parameters.f).find((text) => /^(c_similarity|larger)\.min\./.test(
    text))?.split(".min.")[1] ?? -1);
  const all = bins.reduce((sum, bin) => sum + bin[1], 0),
    named = (value) => near ? String(value) : share(value);
  let left = all;
  const bars = bins.map(([value, many]) => {
    const chosen = {...parameters,
      f: [...others, (near ? "c_similarity" : "larger") + ".min." + value], after: "", before: ""};
    const said = named(value) + ": " + counted(many, "pair") + "; " + number(left)
      + " from here up";
    left -= many;
    const made = el("a",
      {href: to("pairs", near ? chosen : {...chosen, sort: "larger", descending: "true"}),
        title: said, "aria-label": said, "aria-current": value === cutoff ? "true" : null},
      el("span", {}));
    made.classList.toggle("below", value < cutoff);
    made.firstChild.style.height = Math.max(2, 100 * Math.log1p(many) / Math.log1p(most)) + "%";
    return made;
  });
  const above = bins.reduce((sum, [value, many]) => value < cutoff ? sum : sum + many, 0);
  return el("figure", {class: "histogram"},
    el("figcaption", {}, near ? "Pairs by C similarity" : "Pairs by the larger containment",
      ", bars by powers of ten. ",
    cutoff < 0
      ? "Choose a bar to see the pairs from there up."
      : [el("b", {}, "From ", named(cutoff), " up: ", number(above), " of ", counted(all, "pair"),
        "."), " ", link("pairs", {...parameters, f: others, after: "", before: ""}, "all")]),
  el("div", {class: "ends small"}, el("span", {}, named(bins[0][0])),
    el("div", {class: "bars"}, bars),
    el("span", {}, named(bins.at(-1)[0]))));
}

export async function one(parameters, manifest) {
  const {a, b} = parameters;
  const found = await ask("pair", {a, b});
  const numbers = found.lines ? differences(found.lines) : null;
  return [el("h1", {}, "Two pages side by side"),
    el("ul", {class: "measures"},
      measures(found, numbers, a, manifest.settings).map((each) => el("li", {}, each))),
    numbers
      ? el("p", {class: "small"}, counted(numbers.same, "line"), " the same, ",
        number(numbers.changed), " changed, ", number(numbers.a), " only on the left, ",
        number(numbers.b), " only on the right")
      : null,
    el("div", {class: "sides-head"}, el("div", {}, page(a)), el("div", {}, page(b))),
    found.why_not
      ? el("p", {class: "notice", role: "status"}, "The contents cannot be shown. ", found.why_not)
      : sides(found),
    Object.entries(found.rows).filter(([, rows]) => rows.length).map(([table, rows]) => el(
      "details", {}, el("summary", {}, "In the table ", table), plainTable(table, rows)))]
        .flat().filter(Boolean);
}

// What the tables say of both, a line for each.
function measures({rows, contained}, numbers, a, settings) {
  const near = rows.near_duplicates[0];
  const by = near && ["b", "c", "combined", "hybrid"].filter((name) => near[name])
    .map((name) => name.length === 1 ? name.toUpperCase() : name).join(", ");
  const alike = numbers && 2 * numbers.same
    / Math.max(1, 2 * (numbers.same + numbers.changed) + numbers.a + numbers.b);
  const shifted = rows.page_overlap.some((row) => /^\d+-(lines|words)$/.test(row.chunking)
    && alike > Math.max(row.containment_a, row.containment_b) + 0.1);
  return [
    near && `Near-duplicates: B-similarity ${near.b_similarity}${outOf(settings.supershingles)}, `
      + `C-similarity ${near.c_similarity}${outOf(settings["projection-bits"])}; found by ${by}; `
      + (near.same_site ? "on one site" : "on different sites"),
    !near && !rows.identity_sets.length && "Not reported as near-duplicates",
    rows.identity_sets.length && "The same words", rows.exact_copies.length && "The same lines",
    ...rows.page_overlap.map((row) => overlap(row, a)),
    shifted && `${share(alike)} of the lines below are the same: pieces are counted from the first `
      + "line, and one that only one page has shifts all that follow",
    ...rows.keep.map((row, at) => verdict(row, contained?.[at], near, alike, a, settings)),
  ].filter(Boolean);
}

// The chunks of one chunking that both have.
function overlap(row, a) {
  const [, size, unit] = row.chunking.match(/^(\d+)-(line|word)s$/) ?? [];
  const chunks = size > 1 ? `pieces of ${size} ${unit}s` : (unit ?? row.chunking) + "s";
  const [left, right] = row.url_a === a
    ? [row.containment_a, row.containment_b]
    : [row.containment_b, row.containment_a];
  return `Overlap by ${row.chunking}: ${number(row.shared)} ${chunks} are on both pages, `
    + `${share(left)} of the left page's and ${share(right)} of the right page's`;
}

const PROVEN = 0.8;

// Which page is to be dropped, and what proves that its text is on the other. Signatures that agree
// do not.
function verdict({url, reason, containment}, contained, near, alike, a, settings) {
  const [kept, dropped] = url === a ? ["right", "left"] : ["left", "right"];
  const known = containment ?? contained;
  const there = known === undefined
    ? ""
    : `${share(known)} of the ${dropped} page's runs of 5 words are on the ${kept} page`;
  const usual = `Keep the ${kept} page, drop the ${dropped}`;
  if (reason === "identity") return usual;
  if (typeof settings["min-containment"] === "number" || known >= PROVEN) {
    return usual + (there && ": " + there);
  }
  return el("strong", {}, "The ", dropped, " page is dropped for the ", kept, " one ",
    near?.c && !near.b
      ? "although only the projections (C) found the pair"
      : "because signatures agree", alike === null ? "" : [": ", share(alike),
      " of the lines below are on both, and ", there], ". A run with ",
    el("code", {}, "--min-containment " + PROVEN), known === undefined
      ? " asks for proof."
      : " keeps both, unless a third page has its text.");
}

const outOf = (most) => typeof most === "number" ? " of " + most : "";

function differences(lines) {
  const many = (kind) => lines.filter((line) => line.kind === kind).length;
  return {same: many("same"), changed: many("changed"), a: many("only_a"), b: many("only_b")};
}

const AROUND = 3;

// Both sides in one grid, so that they scroll together; long stretches that are the same fold.
function sides(found) {
  const holder = el("div",
    {class: "sides", role: "table", "aria-label": "Both pages, line by line"});
  const rows = found.lines;
  const differs = rows.map((row) => row.kind !== "same");
  const near = rows.map((_, at) => differs.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(
    Boolean));
  if (!differs.some(Boolean)) near.fill(true, 0, 60);
  let folded = [], before = false;
  const flush = () => {
    if (!folded.length) return;
    const hidden = folded;
    const row = el("div", {role: "row"}, el("div", {role: "cell", "aria-colspan": 2}, el("button",
      {type: "button", class: "fold", on: {click() { row.replaceWith(...hidden); }}}, "… ",
      counted(hidden.length, "line"), " the same on both sides")));
    holder.append(row);
    folded = [];
  };
  rows.forEach((row, at) => {
    const made = el("div",
      {class: "row " + row.kind, "data-at": at, role: "row", "data-stop": differs[at] && !before},
      side(row.a, row.n_a, "a"), side(row.b, row.n_b, "b"));
    before = differs[at];
    if (near[at]) { flush(); holder.append(made); } else folded.push(made);
  });
  flush();
  const map = minimap(holder, rows, differs);
  return el("div", {}, el("div", {class: "tools"}, stepper("difference", holder)),
    el("div", {class: "compared"}, holder, map),
    found.left_out
      ? el("p", {class: "small"}, number(found.left_out), " more lines are not shown.")
      : null);
}

// The number of the first element, of many from top to bottom, whose box passes a test.
function firstOf(elements, passes) {
  let low = 0, high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(elements[middle].getBoundingClientRect())) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Where the differences are, and what of it all is in the window; a click goes to the nearest
// difference.
function minimap(holder, rows, differs) {
  const here = el("b", {});
  const map = el("div",
    {class: "minimap", "aria-hidden": "true", title: "Where both differ; click to go there",
      on: {click(event) {
    const box = map.getBoundingClientRect();
    const wanted = rows.length * (event.clientY - box.top) / box.height;
    const at = differs.reduce((best, is, n) => is
      && (best < 0 || Math.abs(n - wanted) < Math.abs(best - wanted)) ? n
      : best, -1);
    holder.querySelector(`[data-at="${at}"]`)?.scrollIntoView({block: "center"});
  }}}, here);
  rows.forEach((row, at) => {
    if (!differs[at]) return;
    const tick = el("i", {class: row.kind});
    tick.style.top = 100 * at / rows.length + "%";
    map.append(tick);
  });
  let waiting = false;
  const draw = () => {
    waiting = false;
    const all = [...holder.querySelectorAll("[data-at]")];
    const start = firstOf(all, (box) => box.bottom > 0);
    const end = firstOf(all, (box) => box.top >= innerHeight);
    if (start >= end) return;
    const [first, last] = [all[start], all[end - 1]].map((row) => Number(row.dataset.at));
    here.style.top = 100 * first / rows.length + "%";
    here.style.height = 100 * (last + 1 - first) / rows.length + "%";
  };
  const later = () => {
    if (!map.isConnected) return removeEventListener("scroll", later);
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  };
  addEventListener("scroll", later, {passive: true});
  requestAnimationFrame(draw);
  return map;
}

function side(pieces, n, which) {
  if (!pieces) return el("div", {class: "cell none", role: "cell"});
  return el("div", {class: "cell", role: "cell"},
    el("span", {class: "no", "aria-hidden": "true"}, String(n)),
    el("span", {class: "said"},
      pieces.map(([text, differs]) => differs
        ? el(which === "a" ? "del" : "ins", {}, text)
        : text)));
}
