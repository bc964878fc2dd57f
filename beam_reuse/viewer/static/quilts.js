// Quilts: a page with each patch in its source's colour and number.
import {ask} from "./api.js";
import {page, plainTable} from "./cells.js";
import {breakable, counted, el, facts, link, number, share} from "./dom.js";
import {grid, NARROW} from "./grid.js";
import {fresh, marked, stepper} from "./marked.js";

const COLOURS = 8;
const LINKED = {page: "linked", domain: "its domain is linked", none: "not linked"};
const colour = (rank) => "p" + (Number(rank) - 1) % COLOURS;

export async function list(parameters) {
  return [el("h1", {}, "Quilts: pages stitched from others"),
    await grid({screen: "quilts", table: "quilts", parameters,
      empty: "No page is stitched from passages of others.", sort: "patch_fraction",
      descending: true,
      names: {patch_fraction: "patches", covered: "of them from sources"},
    columns: ["url", "patch_fraction", "covered", "sources", "patch_grams", "grams", "copies",
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
      el("button", {type: "button", class: colour(row.rank), on: {
        click: (event) => show(row.rank, event.currentTarget)}}, String(row.rank)), " ",
      page(row.source_url),
    el("span", {class: "small"}, " ",
      counted(row.grams, "gram") + ", " + share(row.share) + " in " + counted(row.spans, "stretch")
        + ", " + LINKED[row.linked]))));
  let asked = 0;
  // A source; `chosen` is what was chosen to see it, a patch or the source's number.
  async function show(rank, chosen) {
    const mine = ++asked;
    const words = chosen?.matches("mark") ? plain(chosen.textContent) : "";
    if (!beside.childNodes.length) beside.replaceChildren(el("p", {class: "small"}, "…"));
    try {
      const source = await ask("source", {url, rank});
      if (mine !== asked) return;
      beside.replaceChildren(el("h2", {}, "Source ", String(rank)),
        el("p", {class: "small"}, page(source.url)),
        source.why_not ? el("p", {class: "notice"}, source.why_not) : text(source, () => {}));
      const marks = [...beside.querySelectorAll("mark")];
      for (const mark of marks) delete mark.dataset.stop; // stops are those of the quilt
      const first = marks.find((mark) => {
        const there = plain(mark.textContent);
        return there && words && (there.includes(words) || words.includes(there));
      }) ?? marks[0];
      first?.classList.add("chosen");
      if (chosen) inSight(chosen);
      if (first) middle(first.closest(".text"), first);
    } catch (error) { beside.replaceChildren(el("p", {class: "error"}, error.message)); }
  }
  // What was chosen and the source come into the window together, above the bar of judging.
  function inSight(chosen) {
    const covered = document.querySelector(".judge-bar")?.offsetHeight ?? 0;
    both.style.setProperty("--covered", covered + "px");
    beside.classList.add("asked");
    const text = chosen.closest(".text");
    if (!NARROW.matches) both.scrollIntoView({block: "nearest"});
    else if (!text) chosen.scrollIntoView({block: "nearest"});
    else {
      text.scrollIntoView({block: "start"});
      middle(text, chosen);
    }
  }
  // A mark in the middle of what is seen of its box, or at the top if it is higher than that.
  function middle(box, mark) {
    box.scrollTop = mark.offsetTop - Math.max(8, (box.clientHeight - mark.offsetHeight) / 2);
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
  const both = el("div", {class: "quilt"},
    found.why_not
      ? el("p", {class: "notice", role: "status"}, "The content cannot be shown. ", found.why_not)
      : text(found, (names, element) => {
        for (const other of document.querySelectorAll("mark.chosen")) {
          other.classList.remove("chosen");
        }
        element.classList.add("chosen");
        show(names[0], element);
      }), el("div", {class: "right"}, el("h2", {}, "Sources"), sources, beside));
  if (found.sources.length) show(parameters.rank ?? found.sources[0].rank);
  return [el("h1", {class: "url"}, breakable(url)),
    el("p", {}, link("page", {url}, "The page with everything known about it →")),
    facts([["patches",
      share(quilt.patch_fraction) + " of its text is on other pages, too (" + number(
        quilt.patch_grams) + " of " + counted(quilt.grams, "gram") + ")"],
      ["sources",
        found.part + " of its text is from " + counted(quilt.sources, "source") + ", which have "
          + share(quilt.covered) + " of these patches"],
      ["attribution",
        quilt.linked_domain_share
          ? share(quilt.linked_page_share) + " from pages it links to, "
            + share(quilt.linked_domain_share) + " from domains it links to"
          : "it links to none of its sources, nor to their domains"],
      ["copies of it", number(quilt.copies)]]),
    el("p", {class: "small"}, "Choose a patch or a number to see the same passage in its source."),
    el("div", {class: "tools"}, stepper("patch", both)), both,
    found.settings.length > 1
      ? el("details", {}, el("summary", {}, "For other settings"),
        plainTable("quilts", found.settings))
      : null].filter(Boolean);
}
