// Quilts: a page with each patch in its source's colour and number.
import {ask} from "./api.js";
import {page, plainTable} from "./cells.js";
import {breakable, counted, el, facts, link, number, share} from "./dom.js";
import {grid} from "./grid.js";
import {fresh, marked, stepper} from "./marked.js";

const COLOURS = 8;
const LINKED = {page: "linked", domain: "its domain is linked", none: "not linked"};
const colour = (rank) => "p" + (Number(rank) - 1) % COLOURS;

export async function list(parameters) {
  return [el("h1", {}, "Quilts: pages stitched from others"),
    await grid({screen: "quilts", table: "quilts", parameters,
      empty: "No page is stitched from passages of others.", sort: "patch_fraction",
      descending: true,
    columns: ["url", "patch_fraction", "sources", "covered", "patch_grams", "grams", "copies",
      "linked_page_share", "linked_domain_share", "variant", "gram_size"],
    fields: [{label: "URL has", column: "url", op: "has", type: "text"},
      {label: "sources from", column: "sources", op: "min", type: "number"},
      {label: "patches from (0 to 1)", column: "patch_fraction", op: "min", type: "number"}],
    cells: {url: (value) => link("quilt", {url: value}, breakable(value))}})];
}

export async function one(parameters) {
  const {url} = parameters;
  const found = await ask("quilt", {url});
  const quilt = found.quilt;
  const beside = el("div", {class: "beside", "aria-live": "polite"});
  const sources = el("ol", {class: "sources"},
    found.sources.map((row) => el("li", {},
      el("button", {type: "button", class: colour(row.rank), on: {click: () => show(row.rank)}},
        String(row.rank)), " ", page(row.source_url),
    el("span", {class: "small"}, " ",
      counted(row.grams, "gram") + ", " + share(row.share) + " in " + counted(row.spans, "stretch")
        + ", " + LINKED[row.linked]))));
  let asked = 0;
  async function show(rank, words) {
    const mine = ++asked;
    if (!beside.childNodes.length) beside.replaceChildren(el("p", {class: "small"}, "…"));
    try {
      const source = await ask("source", {url, rank});
      if (mine !== asked) return;
      beside.replaceChildren(el("h2", {}, "Source ", String(rank)), el("p", {}, page(source.url)),
        source.why_not ? el("p", {class: "notice"}, source.why_not) : text(source, () => {}));
      const marks = [...beside.querySelectorAll("mark")];
      const same = words
        && marks.find((mark) => {
          const mine = plain(mark.textContent);
          return mine.includes(words) || words.includes(mine);
        });
      const first = same ?? marks[0];
      first?.classList.add("chosen");
      if (first) {
        const box = first.closest(".text");
        box.scrollTop = first.offsetTop - box.offsetTop - 60;
      }
    } catch (error) { beside.replaceChildren(el("p", {class: "error"}, error.message)); }
  }
  const plain = (words) => words.replace(/^\d+/, "").toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  function text(told, chosen) {
    fresh();
    return marked(told,
      {kind: (names) => colour(names[0]) + (names.length > 1 ? " several" : ""),
        label: (names, words) => words === undefined
          ? names.join(",")
          : "Source " + names.join(" and ") + ": " + words.slice(0, 80), chosen});
  }
  if (found.sources.length) show(parameters.rank ?? found.sources[0].rank);
  return [el("h1", {class: "url"}, breakable(url)),
    el("p", {}, link("page", {url}, "The page with everything known about it →")),
    facts([["patches",
      share(quilt.patch_fraction) + " of the page (" + number(quilt.patch_grams) + " of "
        + counted(quilt.grams, "gram") + ")"], ["sources", number(quilt.sources)],
      ["attribution",
        quilt.linked_domain_share
          ? share(quilt.linked_page_share) + " from pages it links to, "
            + share(quilt.linked_domain_share) + " from domains it links to"
          : "it links to none of its sources, nor to their domains"],
      ["copies of it", number(quilt.copies)]]),
    el("p", {class: "small"}, "Choose a patch or a number to see the same passage in its source."),
    stepper("patch"),
    el("div", {class: "quilt"},
      found.why_not
        ? el("p", {class: "notice", role: "status"}, "The content cannot be shown. ", found.why_not)
        : text(found, (names, element) => {
      for (const other of document.querySelectorAll("mark.chosen")) {
        other.classList.remove("chosen");
      }
      element.classList.add("chosen");
      show(names[0], plain(element.textContent));
    }), el("div", {class: "right"}, el("h2", {}, "Sources"), sources, beside)),
    found.settings.length > 1
      ? el("details", {}, el("summary", {}, "For other settings"),
        plainTable("quilts", found.settings))
      : null].filter(Boolean);
}
