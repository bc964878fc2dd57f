// Passages that are copied, and where.
import {ask} from "./api.js";
import {page, plainTable, readable, words} from "./cells.js";
import {counted, el, facts, link, number, size} from "./dom.js";
import {grid} from "./grid.js";

export async function list(parameters) {
  return [el("h1", {}, "Passages that are copied"), await grid({
    screen: "passages", table: "frequent_chunks", parameters, sort: "hosts", descending: true,
    columns: ["text", "occurrences", "pages", "hosts", "domains", "bytes", "first_url"],
    fields: [{label: "text has", column: "text", op: "has", type: "text"}, {label: "hosts from", column: "hosts", op: "min", type: "number"}, {label: "occurrences from", column: "occurrences", op: "min", type: "number"},
      {label: "bytes from", column: "bytes", op: "min", type: "number"}, {label: "to", column: "bytes", op: "max", type: "number"}],
    cells: {text: (value, row) => el("div", {class: "passage"}, link("passage", {sha1: row.sha1}, readable(words(value), 200) || "(white space)"))},
  })];
}

export async function one(parameters) {
  const found = await ask("passage", {sha1: parameters.sha1});
  const {chunk, labels, pages} = found;
  const text = chunk?.text ?? labels[0]?.text ?? "";
  return [el("h1", {}, "One passage"),
    facts([["hash", el("code", {}, parameters.sha1)], ["occurs", chunk && counted(chunk.occurrences, "time") + " on " + counted(chunk.pages, "page") + " of " + counted(chunk.hosts, "host") + ", " + counted(chunk.domains, "domain")],
      ["length", chunk && size(chunk.bytes)], ["first captured at", chunk?.first_url && page(chunk.first_url)], ["at", chunk?.first_timestamp]]),
    el("h2", {}, "Its text"), el("blockquote", {class: "chunk"}, words(text)),
    el("details", {}, el("summary", {}, "As it is in the page"), el("pre", {tabindex: 0}, text)),
    chunk?.sample_urls?.length ? [el("h2", {}, "One page of each host"), el("ul", {class: "plain"}, chunk.sample_urls.map((url) => el("li", {}, page(url))))] : null,
    labels.length ? [el("h2", {}, "As a label"), plainTable("labels", labels, ["kind", "source_url", "domains", "bytes"])] : null,
    el("h2", {}, "Pages it is on"),
    pages.length ? plainTable("matched_chunks", pages, ["url", "position", "start", "end", "source_url", "sources", "own"]) : el("p", {class: "empty"}, "No page is listed: the run has looked for other labels, or not at all."),
    found.more ? el("p", {class: "small"}, number(pages.length), " are shown. ", link("table", {name: "matched_chunks", f: ["sha1.is." + parameters.sha1]}, "All of them")) : null,
  ].flat();
}
