// Tables of rows: with columns where there is room for them, else a card for each row in which
// every value says what it is.
import {el} from "./dom.js";

// `columns`: what each heading shows, its `name` where that is no text, whether it is of numbers
// (`n`), `last` for what leads elsewhere, `sort` as ARIA has it. `rows`: cells in their order.
export function listing(label, columns, rows) {
  const classes = ({n, last}) => [n && "n", last && "last"].filter(Boolean).join(" ") || null;
  const head = columns.map((column) => el("th", {
    scope: "col", role: "columnheader", class: classes(column), title: column.title,
    "aria-sort": column.sort,
  },
  column.last
    ? el("span", {class: "hidden"}, column.name ?? "more")
    : column.shown ?? column.name));
  const line = (cells) => el("tr", {role: "row"}, cells.map((content, at) => el("td", {
    role: "cell", class: classes(columns[at]),
    "data-label": columns[at].last ? null : columns[at].name,
    "data-empty": isEmpty(content),
  }, content)));
  return el("div", {class: "scroll listing", tabindex: 0, role: "group", "aria-label": label},
    el("table", {role: "table"}, el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, head)),
      el("tbody", {role: "rowgroup"}, rows.map(line))));
}

function isEmpty(content) {
  return [content].flat(Infinity).every((each) => each === null || each === undefined
    || each === false || each === "");
}
