// Families: pages on different domains that are made of the same thing.
import {ask} from "./api.js";
import {page} from "./cells.js";
import {breakable, counted, el, facts, link, number, share} from "./dom.js";
import {grid} from "./grid.js";
import {listing} from "./listing.js";

const ALIKE = {file: "the same file", words: "the same words", similar: "similar"};
const alike = (names) => names.split(", ").map((name) => ALIKE[name] ?? name).join(", ");

export async function list(parameters) {
  return [el("h1", {}, "Families: pages on different domains made of the same thing"),
    el("p", {class: "small"},
      "Kits, link farms and parked pages look like this, and so do mirrors. A family is named "
        + "after its smallest URL; a low similarity to that page shows a chain."),
    await grid({screen: "families",
      empty: "No page is made of the same thing as a page of another domain.", table: "by_family",
      parameters, sort: "domains", descending: true,
      columns: ["family", "domains", "pages", "alike", "least", "mean", "example"],
      names: {least: "least similar", mean: "similar on average", example: "on another domain"},
      fields: [{label: "URL has", column: "family", op: "has", type: "text"},
        {label: "domains from", column: "domains", op: "min", type: "number"},
        {label: "pages from", column: "pages", op: "min", type: "number"},
        {label: "alike by", column: "alike", op: "has",
          options: [["", "anything"], ["file", "file"], ["words", "words"],
            ["similar", "similarity"]]},
        {label: "similar from (0 to 1)", column: "least", op: "min", type: "number"}],
      cells: {family: (value) => link("family", {name: value}, breakable(value)), alike,
        example: (value) => value ? page(value) : ""},
      last: (row) => row.example ? link("pair", {a: row.family, b: row.example}, "compare") : ""})];
}

export async function one(parameters) {
  const {name} = parameters;
  const found = await ask("family", {name});
  const base = parameters.with ?? name;
  const compare = (url) => url === base
    ? el("strong", {}, "compared with")
    : [link("pair", {a: base, b: url}, "compare"), " ",
      link("family", {name, with: url}, "compare all with this")];
  const few = found.by_domain.slice(0, 12);
  return [el("h1", {}, "A family on ", counted(found.domains, "domain")),
    facts([["named after", page(name)], ["members", counted(found.pages, "page")],
      ["alike by", alike(found.alike)],
      ["similarity to that page",
        found.least === 1 ? share(1)
          : share(found.least) + " or more, " + share(found.mean) + " on average"],
      ["domains",
        [few.map(([domain, pages], at) => [at ? ", " : "", domain, " (", number(pages), ")"]),
          found.domains > few.length && " and " + number(found.domains - few.length) + " more"]]]),
    el("h2", {}, "Its members"),
    el("p", {class: "small"}, "Each is compared side by side with ", page(base), "."),
    listing("Members",
      [{name: "page"}, {name: "domain"}, {name: "alike"}, {name: "similarity", n: true},
        {name: "side by side", last: true}],
      found.members.map((row) => [page(row.url), row.domain, alike(row.alike),
        share(row.similarity), compare(row.url)])),
    found.more
      ? el("p", {class: "small"}, number(found.members.length), " are shown. ",
        link("table", {name: "families", f: ["family.is." + name]}, "All of them"))
      : null].filter(Boolean);
}
