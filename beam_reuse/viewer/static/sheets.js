// Sheets to judge, drawing one, and what the judged rows say.
import {ask, change} from "./api.js";
import {heading} from "./cells.js";
import {command, counted, el, link, number, share, to} from "./dom.js";
import {asList} from "./grid.js";
import {QUESTIONS} from "./judging.js";
import {listing} from "./listing.js";
import {said} from "./precision.js";

export async function list(parameters, manifest) {
  const found = await ask("sheets");
  return [el("h1", {}, "Judging"),
    el("p", {},
      "Look at a sample of what was found, one row at a time, and say with a key whether each is "
        + "right: so you learn how far to trust the rest. Every judgement is stored at once, as ",
      el("b", {}, found.who || "nobody"), ", in a sheet (CSV) that ",
      el("code", {}, "beam-reuse evaluate"), " reads."),
    found.sheets.length
      ? table(found)
      : el("p", {class: "empty"}, "There is no sheet yet: draw one below."),
    el("p", {class: "small path"}, "New sheets go to ", found.folder),
    drawing(parameters, manifest, found), stopList()];
}

function table(found) {
  const said = ({counts}) =>
    Object.entries(counts.labels).map(([label, many]) => label + " " + number(many)).join(", ");
  const known = (sheet) => [el("td", {}, sheet.table || "–"),
    el("td", {class: "n"}, number(sheet.counts.rows - sheet.counts.left), " of ",
      number(sheet.counts.rows)),
    el("td", {}, said(sheet) || "–"),
    el("td", {class: "last"}, sheet.counts.rows > sheet.counts.left
      ? link("judged", {sheet: sheet.name}, "figures") : "")];
  const row = (sheet) => el("tr", {},
    el("th", {scope: "row"}, sheet.why_not ? sheet.name : link("judging",
      {sheet: sheet.name, state: sheet.counts.left ? "unjudged" : ""}, sheet.name)),
    sheet.why_not ? el("td", {colspan: 4}, el("span", {class: "error"}, sheet.why_not))
      : known(sheet));
  return el("div", {class: "scroll sheets", tabindex: 0, role: "group", "aria-label": "Sheets"},
    el("table", {},
      el("thead", {},
        el("tr", {},
          ["sheet", "table", "judged", "labels", "figures"].map((name, at) => el("th",
            {scope: "col", class: at === 2 ? "n" : ""}, name)))),
      el("tbody", {}, found.sheets.map(row))));
}

// What `beam-reuse sample` asks for.
function drawing(parameters, manifest, found) {
  const tables = Object.entries(manifest.tables).filter(([, rows]) => rows);
  if (!tables.length) return null;
  const said = el("p", {role: "status"});
  const field = (name, title, attributes) => el("label", {}, el("span", {}, title),
    el("input", {name, autocomplete: "off", spellcheck: "false", ...attributes}));
  const wanted = asList(parameters.where);
  const choices = (label, some) => some.length ? el("optgroup", {label}, some.map(([name, rows]) =>
    el("option", {value: name, selected: name === (parameters.of ?? first)}, name, " (",
      number(rows), ")")))
      : null;
  const first = ["near_duplicates", "frequent_chunks", "quilts", "page_reuse"].find(
    (name) => manifest.tables[name]);
  return el("section", {}, el("h2", {}, "Draw a sheet"),
    el("form", {class: "filters", on: {async submit(event) {
    event.preventDefault();
    const {table, rows, by, where, seed} = event.target.elements;
    said.replaceChildren("drawing…");
    try {
      const told = await change("draw",
        {table: table.value, rows: Number(rows.value), seed: Number(seed.value),
          by: by.value.split(",").map((each) => each.trim()).filter(Boolean),
          where: where.value.split("\n").map((each) => each.trim()).filter(Boolean)});
      location.hash = to("judging", {sheet: told.sheet, state: "unjudged"});
    } catch (error) { said.replaceChildren(el("span", {class: "error"}, error.message)); }
  }}},
  el("label", {}, el("span", {}, "table"),
    el("select", {name: "table"},
      choices("What was found", tables.filter(([name]) => name in QUESTIONS)),
      choices("Other tables", tables.filter(([name]) => !(name in QUESTIONS))))),
  field("rows", "rows", {type: "number", min: 1, max: found.most, value: 100, required: true}),
  field("by", "as many of each (a column)", {type: "text", size: 18, placeholder: "same_site"}),
  el("label", {}, el("span", {}, "only rows where (one condition a line)"),
    (() => {
      const made = el("textarea",
        {name: "where", rows: Math.max(1, wanted.length), cols: 26, spellcheck: "false",
          placeholder: "same_site = false"});
      made.value = wanted.join("\n");
      return made;
    })()),
  field("seed", "seed", {type: "number", min: 0, max: 999999999, value: 0, required: true}),
  el("button", {type: "submit", class: "main"}, "Draw and judge")), said,
  el("p", {class: "small"},
    "A sheet is a random sample of a table. So are its first rows: you can stop anywhere. The same "
      + "seed draws the same rows."));
}

export function stopList() {
  const said = el("div", {role: "status"});
  return el("section", {}, el("h2", {}, "Stop list"),
    el("p", {},
      "Menus, licences and the like are no copies that matter. Chunks and files that you judged "
        + "benign, or marked as stop chunks, become a list; a run with it leaves them out. ",
    el("button", {type: "button", on: {async click() {
      try {
        const told = await change("stop_list");
        said.replaceChildren(el("p", {}, counted(told.chunks, "chunk"), " and ",
          counted(told.files, "file"), " in ", el("code", {}, told.path),
          told.left_out
            ? "; " + number(told.left_out) + " left out, as they are judged otherwise, too"
            : "", ". The run again, without them:"), command(told.command));
      } catch (error) { said.replaceChildren(el("p", {class: "error"}, error.message)); }
    }}}, "Make a stop list")), said);
}

const TITLES = {
  "pairs precision": "By algorithm, site and similarity (Henzinger's Tables 2 and 5)",
  "pairs reasons": "Reasons (Tables 3, 4, 6, 7)", "pairs b-thresholds": "Thresholds of B",
  "pairs sweep": "Thresholds of combined (Figures 6, 7, Table 11)",
  "pairs choices": "The chosen threshold on the other half (Table 12)",
  "pairs calibration": "The threshold at which C returns as many correct pairs as B",
  "pairs outcomes": "Each pair", "judged precision": "Rows that are right",
  "judged classes": "By label and reason", "judged outcomes": "Each row",
};
const OTHERS = {outcomes: "Each row", classes: "Classes",
  sweep: "What other thresholds would have given", absent: "Not in the result"};

export async function figures(parameters) {
  const [found, whole] = await Promise.all([ask("evaluation", {sheet: parameters.sheet}),
    ask("precision", {sheet: parameters.sheet})]);
  return [el("h1", {}, "What ", parameters.sheet, " says"),
    el("p", {}, link("judging", {sheet: parameters.sheet, state: "unjudged"}, "← judge more"),
      " · ", link("judge", {}, "all sheets")),
    el("p", {class: "small"}, "The same as"), command(found.command),
    found.why_not
      ? el("p", {class: "notice", role: "status"}, found.why_not)
      : el("p", {class: "question"}, said(whole)),
    found.reports.flatMap(report),
    found.reports.length && /_(chunks|files)$|^labels$/.test(found.table)
      ? stopList()
      : null].flat().filter(Boolean);
}

function report(told) {
  const {confusion, weighted, table_precision: whole} = told.facts;
  const plain = Object.entries(told.facts).filter(([name, value]) => typeof value !== "object"
    && (value !== 0 || name === "judged")).map(([name, each]) => [heading(name),
      value(name, each)]);
  return [counts(plain), confusion ? rates(confusion, weighted) : null,
    whole
      ? el("p", {}, "Precision in the table, if these rows were drawn from it: ",
        share(whole.value), ", from ", share(whole.low), " to ", share(whole.high),
        " (95 % interval)")
      : null,
    told.tables.filter((table) => table.rows.length).map((table) => section(told.name, table))]
      .flat().filter(Boolean);
}

const counts = (pairs) => el("p", {class: "counts"},
  pairs.map(([name, many]) => el("span", {}, name, " ", el("b", {}, many))));

function rates(found, weighted) {
  const names = Object.keys(found).filter((name) => typeof found[name] === "object");
  return [counts(["tp", "fp", "fn", "tn"].map((name) => [name.toUpperCase(), number(found[name])])),
    listing("Rates", [{name: "rate"}, {name: "of the judged", n: true}, {name: "exactly", n: true},
      ...(weighted ? [{name: "of the whole table", n: true}] : [])],
    names.map((name) => [heading(name), share(found[name].value),
      number(found[name].part) + "/" + number(found[name].whole),
      ...(weighted ? [share(weighted[name].value)] : [])]))];
}

// Columns of shares; other numbers are counts, estimates of counts, and thresholds.
const SHARES = /precision|recall|accuracy|share|_rate$|_low$|_high$|^f1$|(^|_)r$/;

function value(column, each) {
  if (each === null || each === undefined) return "";
  if (typeof each === "boolean") return each ? "yes" : "no";
  if (typeof each !== "number") return String(each);
  if (SHARES.test(column)) return share(each);
  const digits = each >= 100 ? 0 : each >= 1 ? 1 : 4;
  return each.toLocaleString("en", {maximumFractionDigits: digits});
}

function section(name, table) {
  const title = TITLES[name + " " + table.name] ?? OTHERS[table.name] ?? table.name;
  const columns = table.columns.map((column, at) => ({name: heading(column),
    n: table.rows.every((row) => row[at] === null || typeof row[at] === "number")}));
  return el("details",
    {open: table.name !== "outcomes", class: "figures-table",
      "data-table": name + "-" + table.name},
    el("summary", {}, title),
    listing(title, columns,
      table.rows.map((row) => row.map((each, at) => value(table.columns[at], each)))),
    table.left_out
      ? el("p", {class: "small"}, number(table.left_out),
        " more rows; the command writes them with -o DIR.")
      : null);
}
