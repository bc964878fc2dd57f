// Pages, and one page with all that is known of it.
import {ask} from "./api.js";
import {page, plainTable} from "./cells.js";
import {counted, el, facts, link, number, outside, share, size} from "./dom.js";
import {grid} from "./grid.js";
import {fresh, marked, stepper} from "./marked.js";

export async function list(parameters) {
  return [el("h1", {}, "Pages"), await grid({screen: "pages", table: "pages", parameters, columns: ["url", "host", "timestamp", "content_type", "bytes", "chunks", "tokens", "lines"],
    fields: [{label: "URL has", column: "url", op: "has", type: "text"}, {label: "host is", column: "host", op: "is", type: "text"}, {label: "bytes from", column: "bytes", op: "min", type: "number"},
      {label: "kind", column: "kind", op: "is", options: [["", "any"], ["document", "document"], ["code", "code"], ["other", "other"]]}]})];
}

export async function one(parameters) {
  const {url} = parameters;
  const [known, text] = await Promise.all([ask("page", {url}), ask("text", {url, source: parameters.as === "source"})]);
  const own = known.page, reuse = known.facts.page_reuse?.rows[0], kept = known.facts.keep?.rows.find((row) => row.url === url), lines = known.facts.boilerplate_pages?.rows[0];
  const why = el("aside", {class: "why", "aria-live": "polite"}, el("p", {class: "small"}, Object.keys(text.marks).length ? "Choose a marked passage to see why it is marked and where else it occurs." : "No passage of this page is known from elsewhere."));
  const tabs = el("nav", {class: "tabs", "aria-label": "How the page is shown"}, tab("Text", "", "t"), tab("Source", "source", "s"), stepper("mark"));
  function tab(name, as, key) {
    const made = el("a", {href: "#/page?" + new URLSearchParams(as ? {url, as} : {url}), "data-key": key}, name);
    if ((parameters.as ?? "") === as) made.setAttribute("aria-current", "page");
    return made;
  }
  return [el("h1", {class: "url"}, url),
    el("p", {}, outside(own.fetched_url)),
    facts([["host", link("site", {host: own.host}, own.host)], ["fetched as", own.fetched_url === url ? "" : own.fetched_url], ["captured", own.timestamp], ["content", own.kind + ", " + (own.content_type ?? "no type") + ", " + (own.charset ?? "") + ", " + size(own.bytes)],
      ["known content", reuse && [reuse.contains === null ? "–" : share(reuse.contains), " (", number(reuse.matching), " of ", counted(reuse.chunks, "chunk"), ")", reuse.flagged ? el("strong", {class: "flag"}, " flagged") : ""]],
      ["kept", kept && (kept.keep ? "yes" : ["no, because of ", page(kept.because_of), " ", link("pair", {a: kept.because_of, b: url}, "compare")])],
      ["template", lines && number(lines.template_lines) + " of " + counted(lines.lines, "line") + ", " + number(lines.template_tokens) + " of " + counted(lines.tokens, "word")],
      ["says its original is", own.declared_canonical && own.declared_canonical !== url ? page(own.declared_canonical) : ""], ["says its date is", own.declared_date], ["quilt", known.facts.quilts ? link("quilt", {url}, "its patches") : ""],
      ["in the crawl", own.file + " at " + number(own.offset)]]),
    tabs, el("div", {class: "reading"}, content(text, parameters, why), why),
    el("h2", {}, "In the tables"), Object.entries(known.facts).map(([table, told]) => rows(table, told, url))].flat();
}

function content(text, parameters, why) {
  if (text.why_not) return el("p", {class: "notice", role: "status"}, "The content cannot be shown. ", text.why_not);
  fresh();
  return marked(text, {
    kind: (names) => text.marks[names[0]]?.own ? "own" : "known",
    template: (name) => "Template: on " + number(text.template[name].pages) + " pages of this host",
    chosen(names, element) {
      for (const other of document.querySelectorAll("mark.chosen")) other.classList.remove("chosen");
      element.classList.add("chosen");
      why.replaceChildren(...names.flatMap((name) => reason(text.marks[name])));
    },
  });
}

function reason(row) {
  const often = row.frequent;
  return [el("h2", {}, row.own ? "Its own content" : "Known content"),
    el("p", {}, row.score === null || row.score === undefined ? "The chunk has the hash of a label." : "The chunk is similar to a label (Nilsimsa " + row.score + ")."),
    facts([["source", row.source_url && page(row.source_url)], ["sources", number(row.sources)], ["occurs", often && counted(often.occurrences, "time") + " on " + counted(often.pages, "page") + " of " + counted(often.hosts, "host")], ["chunk", number(row.position) + ", bytes " + number(row.start) + " to " + number(row.end)]]),
    often?.sample_urls?.length ? el("ul", {class: "plain"}, often.sample_urls.map((url) => el("li", {}, page(url)))) : null,
    el("p", {}, link("passage", {sha1: row.sha1}, "Where it occurs →"))].filter(Boolean);
}

function rows(table, told, url) {
  const other = (row) => told.columns.map((name) => row[name]).find((value) => value && value !== url);
  const compared = ["near_duplicates", "page_overlap", "identity_sets", "exact_copies", "keep", "skippable"].includes(table);
  return el("details", {open: ["near_duplicates", "page_overlap", "quilt_sources"].includes(table)}, el("summary", {}, table, " (", told.more ? "more than " : "", number(told.rows.length), ")"), plainTable(table, told.rows),
    compared && told.rows.some(other) ? el("p", {}, "Compare with ", told.rows.filter(other).slice(0, 20).map((row, at) => [at ? ", " : "", link("pair", {a: other(row) < url ? other(row) : url, b: other(row) < url ? url : other(row)}, other(row))])) : null,
    told.more ? el("p", {class: "small"}, link("table", {name: table, f: [told.columns[0] + ".is." + url]}, "All rows")) : null);
}
