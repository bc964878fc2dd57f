// A table that is sorted, filtered and paged; all of it is in the address.
import {ask, overview} from "./api.js";
import {cell, heading, isNumber} from "./cells.js";
import {counted, el, link, to} from "./dom.js";
import {listing} from "./listing.js";

// Fields of filters for any column, by its type.
export function fieldsOf(columns) {
  return columns.flatMap(({name, type}) => {
    if (type === "BIGINT" || type === "DOUBLE") return [{label: heading(name) + " from",
      column: name, op: "min", type: "number"},
      {label: heading(name) + " to", column: name, op: "max", type: "number"}];
    if (type === "BOOLEAN") return [{label: heading(name), column: name, op: "is",
      options: [["", "any"], ["true", "yes"], ["false", "no"]]}];
    if (type === "VARCHAR" || type === "VARCHAR[]") return [{label: heading(name) + " has",
      column: name, op: "has", type: "text"}];
    return [];
  });
}

function form(screen, parameters, fields) {
  const given = new Map(asList(parameters.f).map((text) => [text.split(".", 2).join("."),
    text.split(".").slice(2).join(".")]));
  const inputs = fields.map((field) => {
    const key = field.column + "." + field.op;
    const value = given.get(key) ?? "";
    given.delete(key);
    const input = field.options
      ? el("select", {name: key},
        field.options.map(([each, name]) => el("option", {value: each, selected: each === value},
          name)))
      : field.type === "check"
        ? check(key, field.value, value)
        : el("input",
          {type: field.type === "number" ? "text" : "search",
            inputmode: field.type === "number" ? "decimal" : null, name: key, value,
            size: field.type === "number" ? 7 : 16, autocomplete: "off", spellcheck: "false"});
    return el("label", {class: field.type === "check" ? "check" : ""}, el("span", {}, field.label),
      input);
  });
  const others = [...given].map(([key, value]) => key + "." + value);
  return el("form", {class: "filters", role: "search", on: {submit(event) {
    event.preventDefault();
    const filters = [...others];
    for (const input of event.target.elements) {
      const unchecked = input.type === "checkbox" && !input.checked;
      if (!input.name || input.value === "" || unchecked) continue;
      filters.push(input.name + "." + input.value);
    }
    location.hash = to(screen, {...parameters, f: filters, after: "", before: ""});
  }}}, inputs, el("button", {type: "submit"}, "Filter"),
  asList(parameters.f).length
    ? link(screen, {...parameters, f: [], after: "", before: ""}, "clear")
    : null,
  others.length ? el("p", {class: "small"}, "Also filtered by ", others.join(", ")) : null);
}

// A box that filters when it is ticked; the one that was ticked has the focus again.
let ticked = null;
function check(key, meant, value) {
  const input = el("input", {type: "checkbox", name: key, value: meant, checked: value === meant,
    on: {change() {
      ticked = key;
      input.form.requestSubmit();
    }}});
  if (ticked === key) {
    ticked = null;
    document.getElementById("screen").addEventListener("shown", () => {
      input.closest("details").open = true;
      input.focus();
    }, {once: true});
  }
  return input;
}

// Filters fold where they would fill the window: on a phone, and where there is one for every
// column.
export const NARROW = matchMedia("(max-width: 50rem)");
function folding(shown, used, folded) {
  return el("details",
    {class: folded ? "folding" : "folding wide", open: used || !(folded || NARROW.matches)},
    el("summary", {}, "Filter"), shown);
}
NARROW.addEventListener("change", () => {
  for (const each of document.querySelectorAll("details.folding.wide")) {
    each.open ||= !NARROW.matches;
  }
});

// Filters as conditions of `sample`, which knows no others.
const SIGNS = {is: "=", not: "!=", min: ">=", max: "<=", has: "~"};
function conditions(filters) {
  return filters.map((text) => {
    const [, column, op, value] = text.match(/^([^.]*)\.([^.]*)\.(.*)$/s) ?? [];
    return op === "null"
      ? column + (value === "true" ? " = null" : " != null")
      : SIGNS[op] ? column + " " + SIGNS[op] + " " + value
      : null;
  }).filter(Boolean);
}

export const asList = (value) => value === undefined ? [] : [value].flat();

// The grid of a table. `columns` are names of those shown (all without), `cells` says how some are.
// Rows of a table that was made of another are judged as those of the other: `judged`, without
// filters by columns it has not. `usual` filters are there unless somebody asks for others.
export async function grid({screen, table, parameters, fields, columns, names = {}, cells = {},
  last = null, note = null, judged = null, sort = "", descending = false, folded = false,
  empty = null, usual = []}) {
  const by = parameters.sort ?? sort,
    down = parameters.descending
      ? parameters.descending === "true"
      : parameters.sort ? false
      : descending;
  const filters = asList(parameters.f);
  const answer = await ask("table",
    {name: table, sort: by, descending: down, filters, after: parameters.after,
      before: parameters.before});
  const shown = columns
    ? columns.map((name) => answer.columns.find((column) => column.name === name)).filter(Boolean)
    : answer.columns;
  const many = el("span", {class: "small", role: "status"}, "counting…");
  ask("count", {name: table, filters}).then((told) => many.replaceChildren(counted(told.rows, "row")
    + (filters.length ? " after filtering" : "")), (error) => many.replaceChildren(error.message));
  const heads = shown.map((column) => {
    const mine = by === column.name, name = names[column.name] ?? heading(column.name);
    const next = {...parameters, sort: column.name,
      descending: mine ? String(!down) : String(isNumber(column)), after: "", before: ""};
    return {name, n: isNumber(column), title: column.name,
      sort: mine ? (down ? "descending" : "ascending") : null,
      shown: column.type.endsWith("[]")
        ? name
        : link(screen, next, name, mine ? (down ? "\u00a0▼" : "\u00a0▲") : "")};
  });
  if (last) heads.push({last: true});
  const rows = answer.rows.map((row) => [
    ...shown.map((column) => cells[column.name]
      ? cells[column.name](row[column.name], row)
      : cell(table, column, row[column.name])),
    ...(last ? [last(row)] : [])]);
  const sizes = (await overview()).tables, like = judged?.table ?? (table in sizes ? table : null);
  const asked = filters.some((text) => !usual.includes(text));
  if (!rows.length && !asked && !(sizes[like ?? table] > 0)) {
    return el("p", {class: "empty"}, empty ?? "The table is empty.");
  }
  const back = parameters.before ? answer.more : Boolean(parameters.after);
  const forward = parameters.before ? true : answer.more;
  return el("section", {class: "grid"},
    folding(form(screen, parameters, fields ?? fieldsOf(answer.columns)), asked, folded), note,
    answer.rows.length ? listing(table, heads, rows)
      : el("p", {class: "empty"},
        filters.length
          ? ["No row passes these filters. ",
            link(screen, {...parameters, f: [], after: "", before: ""}, "Show all")]
          : "No row is here."),
    el("nav", {class: "pages", "aria-label": "Pages of the table"},
      back
        ? el("a",
          {href: to(screen, {...parameters, before: answer.first, after: ""}), "data-key": "["},
          "← previous")
        : el("span", {class: "off"}, "← previous"),
      parameters.after || parameters.before
        ? link(screen, {...parameters, before: "", after: ""}, "first")
        : null,
      forward
        ? el("a",
          {href: to(screen, {...parameters, after: answer.last, before: ""}), "data-key": "]"},
          "next →")
        : el("span", {class: "off"}, "next →"), many,
      like && sizes[like]
        ? link("judge",
          {of: like,
            where: conditions(filters.filter((text) => !judged?.without.includes(
              text.split(".")[0])))}, "judge rows like these")
        : null));
}
