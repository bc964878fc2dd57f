// Pages, and one page with all that is known of it.
import {ask} from "./api.js";
import {page, plainTable, readable, words} from "./cells.js";
import {breakable, counted, el, facts, link, number, outside, share, size, to} from "./dom.js";
import {grid} from "./grid.js";
import {fresh, marked, stepper} from "./marked.js";

export async function list(parameters, manifest) {
  if (parameters.words) return [el("h1", {}, "Pages by words"), wordsForm(parameters),
    ...await byWords(parameters.words)];
  return [el("h1", {}, "Pages"),
    "frequent_chunks" in manifest.tables || "boilerplate" in manifest.tables
      ? wordsForm(parameters)
      : null,
    await grid({screen: "pages", table: "pages", parameters,
      columns: ["url", "host", "timestamp", "content_type", "bytes", "chunks", "tokens", "lines"],
    fields: [{label: "URL has", column: "url", op: "has", type: "text"},
      {label: "host is", column: "host", op: "is", type: "text"},
      {label: "bytes from", column: "bytes", op: "min", type: "number"},
      {label: "kind", column: "kind", op: "is",
        options: [["", "any"], ["document", "document"], ["code", "code"], ["other", "other"]]}]})];
}

function wordsForm(parameters) {
  return el("form", {class: "filters words", role: "search", on: {submit(event) {
    event.preventDefault();
    location.hash = to("pages", {words: event.target.elements.words.value.trim()});
  }}},
  el("label", {}, el("span", {}, "words of a passage that is copied, one after another"),
    el("input",
      {type: "search", name: "words", value: parameters.words ?? "", size: 40,
        autocomplete: "off"})), el("button", {type: "submit"}, "Search"),
  parameters.words ? link("pages", {}, "all pages") : null);
}

async function byWords(asked) {
  const found = await ask("search", {words: asked});
  const list = (rows, made) => el("ul", {class: "plain found"},
    rows.map((row) => el("li", {}, made(row), " ",
      el("span", {class: "small"}, counted(row.pages, "page"), " of ",
        counted(row.hosts, "host")))));
  if (!found.chunks.length && !found.lines.length) return [el("p", {class: "empty"},
    "No frequent chunk and no line of a template has these words one after another. Text that "
      + "occurs once is not searched.")];
  return [found.chunks.length
    ? [el("h2", {}, "Chunks with these words"),
      list(found.chunks,
        (row) => link("passage", {sha1: row.sha1}, readable(words(row.text), 200)))]
    : null,
    found.lines.length
      ? [el("h2", {}, "Lines of templates with these words"),
        list(found.lines,
          (row) => link("line", {fingerprint: row.fingerprint}, readable(row.text, 200)))]
      : null,
    found.pages.length
      ? [el("h2", {}, "Pages with such a chunk"),
        el("ul", {class: "plain"},
          found.pages.map(([url, many]) => el("li", {}, page(url),
            many > 1 ? el("span", {class: "small"}, " ", counted(many, "passage")) : null))),
        found.more
          ? el("p", {class: "small"}, "Only the first ", number(found.pages.length), " are shown.")
          : null]
      : null].flat().filter(Boolean);
}

export async function one(parameters, manifest) {
  const {url} = parameters;
  const [known, text] = await Promise.all([ask("page", {url}),
    ask("text", {url, source: parameters.as === "source"})]);
  const own = known.page, reuse = known.facts.page_reuse?.rows[0],
    kept = known.facts.keep?.rows.find((row) => row.url === url),
    lines = known.facts.boilerplate_pages?.rows[0];
  const why = el("aside", {class: "why", "aria-live": "polite"},
    el("p", {class: "small idle"},
      Object.keys(text.marks).length
        ? "Choose a marked passage to see why it is marked and where else it occurs."
        : "No passage of this page occurs elsewhere, as far as the run looked."));
  const shown = parameters.as === "rendered"
    ? frame(url)
    : el("div", {class: "reading"}, content(text, parameters, why), why);
  const tabs = el("nav", {class: "tabs", "aria-label": "How the page is shown"},
    tab("Text", "", "t"), tab("Source", "source", "s"), tab("Rendered", "rendered", "r"),
    stepper("mark", shown));
  function tab(name, as, key) {
    const made = el("a",
      {href: "#/page?" + new URLSearchParams(as ? {url, as} : {url}), "data-key": key}, name);
    if ((parameters.as ?? "") === as) made.setAttribute("aria-current", "page");
    return made;
  }
  return [el("h1", {class: "url"}, breakable(url)),
    el("p", {}, outside(own.fetched_url)),
    facts([["host", link("site", {host: own.host}, own.host)],
      ["fetched as", own.fetched_url === url ? "" : own.fetched_url],
      ["captured",
        own.timestamp && String(own.timestamp).replace("T", " ").replace("+00:00", " UTC")],
      ["content",
        own.kind + ", " + (own.content_type ?? "no type") + ", " + (own.charset ?? "") + ", "
          + size(own.bytes)],
      ["known content",
        reuse
          && [reuse.contains === null ? "–" : share(reuse.contains), " (", number(reuse.matching),
            " of ", counted(reuse.chunks, "chunk"), ")",
            reuse.flagged
              ? [el("strong", {class: "flag"}, " flagged"),
                manifest.thresholds.page === undefined
                  ? ""
                  : ": above the threshold of " + share(manifest.thresholds.page)]
              : ""]],
      ["kept",
        kept
          && (kept.keep
            ? "yes"
            : ["no, because of ", page(kept.because_of), " ",
              link("pair", {a: kept.because_of, b: url}, "compare")])],
      ["template",
        lines && number(lines.template_lines) + " of " + counted(lines.lines, "line") + ", "
          + number(lines.template_tokens) + " of " + counted(lines.tokens, "word")],
      ["says its original is",
        own.declared_canonical && own.declared_canonical !== url
          ? page(own.declared_canonical)
          : ""], ["says its date is", own.declared_date],
      ["quilt", known.facts.quilts ? link("quilt", {url}, "its patches") : ""],
      ["in the crawl", own.file + " at " + number(own.offset)]]),
    tabs, parameters.as === "rendered" ? null : legend(text), shown,
    el("h2", {}, "In the tables"),
    Object.entries(known.facts).map(([table, told]) => rows(table, told, url))].flat();
}

// The page as a browser draws it, asked for by a button, in a frame that runs and loads nothing.
function frame(url) {
  const holder = el("div", {class: "notice"},
    el("p", {}, el("strong", {}, "It may be made to deceive. "),
      "The page is drawn without its scripts, pictures, frames, forms and links, and nothing is "
        + "fetched: it looks different from what visitors saw. Believe nothing that it asks for."),
    el("button", {type: "button", on: {click() {
      holder.replaceWith(el("iframe",
        {class: "rendered", sandbox: true, referrerpolicy: "no-referrer",
          title: "The page, rendered: " + url, src: "/rendered?" + new URLSearchParams({url})}));
    }}}, "Render it"));
  return holder;
}

function content(text, parameters, why) {
  if (text.why_not) return el("p", {class: "notice", role: "status"},
    "The content cannot be shown. ", text.why_not);
  fresh();
  return marked(text, {
    kind: (names) => [...new Set(names.map((name) => text.marks[name].why))].join(" "),
    template: (name) => "Template: on " + number(text.template[name].pages) + " pages of this host",
    chosen(names, element) {
      for (const other of document.querySelectorAll("mark.chosen")) {
        other.classList.remove("chosen");
      }
      element.classList.add("chosen");
      const rows = names.map((name) => text.marks[name]);
      why.replaceChildren(...rows.filter((row) => row.why !== "overlap").flatMap(
        (row) => reason(row, parameters.url, text.frequent)),
        ...overlaps(rows.filter((row) => row.why === "overlap"), parameters.url));
    },
  });
}

// What each kind of mark means, and how often the text has it.
const KINDS = {known: "known content", own: "its own content, as a label",
  patch: "a patch of a quilt", overlap: "a line of an overlapping page"};
function legend(text) {
  const many = {};
  for (const row of Object.values(text.marks)) if (row.why !== "overlap") many[row.why] = (
    many[row.why] ?? 0) + 1;
  many.overlap = text.lines?.filter((line) => line.pieces.some(([, ...names]) => names.some(
    (name) => text.marks[name].why === "overlap"))).length;
  const kinds = Object.keys(KINDS).filter((kind) => many[kind]);
  const grey = text.lines?.filter((line) => line.template).length;
  if (!kinds.length && !grey) return null;
  return el("p", {class: "small legend"},
    kinds.map((kind) => el("span", {}, el("mark", {class: kind}, KINDS[kind]), " ",
      number(many[kind]))),
    grey
      ? el("span", {}, el("span", {class: "template"}, "a line of the host's template"), " ",
        number(grey))
      : null);
}

// The pages that have a line, too, each with how much both share.
function overlaps(rows, url) {
  return rows.length
    ? [el("h2", {}, "On overlapping pages"),
      el("p", {},
        rows.length === 1
          ? "Another page has this line, too."
          : rows.length + " other pages have this line, too."),
    el("ul", {class: "plain"},
      rows.map((row) => el("li", {}, page(row.url), el("br"),
        el("span", {class: "small"}, number(row.shared), " shared by ", row.chunking, ": ",
          share(row.of_this), " of this page, ", share(row.of_that), " of the other. "),
        link("pair", {a: url, b: row.url}, "Side by side →"))))]
      : [];
}

function reason(row, url, frequent) {
  if (row.why === "patch") return [el("h2", {}, "Patch of a quilt"),
    el("p", {}, "These words occur in source ", String(row.rank), ", in the same order."),
    facts([["source", page(row.source_url)],
      ["has of this page", share(row.share) + ", " + counted(row.grams, "gram")],
      ["linked", {page: "yes", domain: "its domain is", none: "no"}[row.linked]]]),
    el("p", {}, link("quilt", {url, rank: row.rank}, "The same passage in the source →"))];
  const often = frequent[row.sha1];
  return [el("h2", {}, row.own ? "Its own content" : "Known content"),
    el("p", {},
      row.score === null || row.score === undefined
        ? often ? "This chunk is one of the frequent ones of the crawl."
        : "This chunk is one that was looked for: it equals a label."
        : "The chunk is similar to a label (Nilsimsa " + row.score + ")."),
    facts([["source", row.source_url && page(row.source_url)], ["sources", number(row.sources)],
      ["occurs",
        often && counted(often.occurrences, "time") + " on " + counted(often.pages, "page") + " of "
          + counted(often.hosts, "host")],
      ["chunk", number(row.position) + ", bytes " + number(row.start) + " to " + number(row.end)]]),
    often?.sample_urls?.length
      ? el("ul", {class: "plain"}, often.sample_urls.map((url) => el("li", {}, page(url))))
      : null,
    el("p", {}, link("passage", {sha1: row.sha1}, "Where it occurs →"))].filter(Boolean);
}

function rows(table, told, url) {
  const other = (row) => told.columns.map((name) => row[name]).find((value) => value
    && value !== url);
  const compared = ["near_duplicates", "page_overlap", "identity_sets", "exact_copies", "keep",
    "skippable"].includes(table);
  return el("details", {open: ["near_duplicates", "page_overlap", "quilt_sources"].includes(table)},
    el("summary", {}, table, " (", told.more ? "more than " : "", number(told.rows.length), ")"),
    plainTable(table, told.rows),
    compared && told.rows.some(other)
      ? el("p", {}, "Compare with ",
        told.rows.filter(other).slice(0, 20).map((row, at) => [at ? ", " : "",
          link("pair",
            {a: other(row) < url ? other(row) : url, b: other(row) < url ? url : other(row)},
            other(row))]))
      : null,
    told.more
      ? el("p", {class: "small"},
        link("table", {name: table, f: [told.columns[0] + ".is." + url]}, "All rows"))
      : null);
}
