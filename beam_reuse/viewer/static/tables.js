// Any table, and records that are no pages.
import {ask} from "./api.js";
import {cell, page} from "./cells.js";
import {el, link, number} from "./dom.js";
import {ROWS} from "./rows.js";
import {grid, NARROW} from "./grid.js";
import {hasWord, kindOf} from "./kinds.js";

export async function list(parameters, manifest) {
  return [el("h1", {}, "Tables"),
    el("table", {class: "tables"},
      el("thead", {},
        el("tr", {}, el("th", {scope: "col"}, "table"),
          el("th", {scope: "col", class: "n"}, "rows"), el("th", {scope: "col"}, "each row is"))),
    el("tbody", {},
      Object.entries(manifest.tables).map(([name, rows]) => el("tr", {},
        el("td", {}, link("table", {name}, name)), el("td", {class: "n"}, number(rows)),
        el("td", {class: "small"}, ROWS[name] ?? "")))))];
}

export async function table(parameters) {
  const name = parameters.name ?? "pages";
  return [el("h1", {}, name),
    ROWS[name] ? el("p", {class: "small"}, "Each row is ", ROWS[name], ".") : null,
    await grid({screen: "table", table: name, parameters, folded: true,
      last: hasWord(name) ? lastOf(name) : null})];
}

// What leads from a row to the screen of its kind.
function lastOf(name) {
  return (row) => {
    const kind = kindOf(name, row);
    return kind?.word ? link(kind.screen, kind.parameters, kind.word) : "";
  };
}

export async function records(parameters, manifest) {
  const which = ["rejects", "skipped"].find((name) => name === parameters.of)
    ?? ("rejects" in manifest.tables && manifest.tables.rejects ? "rejects" : "skipped");
  const counts = manifest.accounting[which === "rejects" ? "rejected" : "skipped"];
  const reasons = Object.keys(counts).sort();
  const listed = (await ask("reasons", {name: which})).reasons;
  const tabs = el("nav", {class: "tabs", "aria-label": "Which records"},
    ["rejects", "skipped"].filter((name) => name in manifest.tables).map((name) => {
    const made = link("records", {of: name}, name === "rejects" ? "Rejected" : "Skipped", " (",
      number(manifest.tables[name]), ")");
    if (name === which) made.setAttribute("aria-current", "page");
    return made;
  }));
  return [el("h1", {}, "Records that are no pages"), tabs,
    reasons.length
      ? el("p", {class: "small"}, "By reason: ",
        reasons.map((reason) => reason + " " + number(counts[reason])).join(", "), ".",
        countedOnly(counts, manifest.tables[which]))
      : null,
    await grid({screen: "records", table: which, parameters: {...parameters, of: which}, fields: [
      {label: "reason", column: "reason", op: "is",
        options: [["", "any"], ...listed.map((reason) => [reason, reason])]},
      {label: "URL has", column: "url", op: "has", type: "text"},
      {label: "file has", column: "file", op: "has", type: "text"}],
    empty: which === "rejects"
      ? "Nothing was rejected: every record could be read."
      : "No document was skipped.",
    cells: {url: (value, row) => row.reason === "older-capture"
      ? page(value)
      : cell(which, {name: "url", type: "VARCHAR"}, value)},
    last: (row) => bytes(row)})];
}

// Requests, for one, are no documents: they are counted, and not listed.
function countedOnly(counts, listed) {
  const all = Object.values(counts).reduce((a, b) => a + b, 0);
  return all > listed
    ? " " + number(all - listed) + " of them are no documents, and only counted."
    : "";
}

// A button that shows the bytes of a record in a row of their own below its row, and hides them.
function bytes(row) {
  const button = el("button", {type: "button", "aria-expanded": "false", on: {async click() {
    const mine = button.closest("tr"), open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) { mine.nextElementSibling.remove(); return; }
    const holder = el("td", {role: "cell", colspan: mine.cells.length}, "…");
    mine.after(el("tr", {role: "row", class: "opened"}, holder));
    try {
      holder.replaceChildren(...found(await ask("record", {file: row.file, offset: row.offset}),
        row));
    } catch (error) { holder.replaceChildren(el("p", {class: "error"}, error.message)); }
  }}}, "bytes");
  return button;
}

function found(told, {file, offset}) {
  if (told.why_not) return [el("p", {class: "small"}, told.why_not)];
  const place = " byte " + number(offset) + " of ";
  return [el("p", {class: "small"},
    told.unit ? ["What the " + told.unit + " at" + place, file, " holds:"] : ["From" + place, file,
      " on:"]),
  el("pre", {class: "bytes", tabindex: 0},
    dump(told.bytes, told.unit ? 0 : offset, NARROW.matches ? 8 : 16))];
}

// Bytes as people look at them: place, digits, letters.
export function dump(digits, offset, width = 16) {
  const bytes = digits.match(/../g) ?? [];
  const lines = [];
  for (let at = 0; at < bytes.length; at += width) {
    const some = bytes.slice(at, at + width);
    const letters = some.map((each) => {
      const code = parseInt(each, 16);
      return code >= 32 && code < 127 ? String.fromCharCode(code) : "·";
    });
    lines.push(String(offset + at).padStart(10) + "  " + some.join(" ").padEnd(3 * width) + " "
      + letters.join(""));
  }
  return lines.join("\n") || "Nothing is there: the file ends before this place.";
}
