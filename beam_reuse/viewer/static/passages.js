// Passages that are copied, and where.
import {ask, change} from "./api.js";
import {page, plainTable, readable, words} from "./cells.js";
import {counted, el, facts, link, number, size} from "./dom.js";
import {grid} from "./grid.js";

export async function list(parameters, manifest) {
  const there = [["frequent_chunks", "chunks", "Chunks"],
    ["boilerplate", "lines", "Lines of templates"]].filter(([table]) => table in manifest.tables);
  const which = parameters.of ?? there[0][1];
  const tabs = el("nav", {class: "tabs", "aria-label": "Which passages"},
    there.map(([, of, name]) => {
      const made = link("passages", {of}, name);
      if (of === which) made.setAttribute("aria-current", "page");
      return made;
    }));
  return [el("h1", {}, "Passages that are copied"), tabs,
    which === "lines" ? await lines(parameters) : await chunks(parameters)];
}

// Marks a passage as a stop chunk, or takes that back; what is marked goes into the stop list.
function stopButton(sha1, benign, word = "stop chunk") {
  const said = (is) => [is ? "✓ stop chunk" : word];
  const button = el("button",
    {type: "button", class: "stop", "aria-pressed": String(benign),
      title: "Stop chunks count nowhere in a run with the stop list: menus, licences, empty idioms",
      on: {async click() {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.disabled = true;
    try {
      await change("mark", {sha1, benign: String(now)});
      button.setAttribute("aria-pressed", String(now));
      button.replaceChildren(...said(now));
      holder.replaceChildren(button);
    } catch (error) {
      holder.replaceChildren(button,
        el("span", {class: "error", role: "alert"}, " ", error.message));
    }
    button.disabled = false;
    button.focus();
  }}}, said(benign));
  const holder = el("span", {}, button);
  return holder;
}

const LETTERS = "letters.min.20";

async function chunks(asked) {
  const marked = new Set((await ask("marked")).benign),
    parameters = asked.f === undefined ? {...asked, f: [LETTERS]} : asked;
  return grid({
    screen: "passages", table: "by_chunk", parameters,
    judged: {table: "frequent_chunks", without: ["letters"]}, sort: "hosts", descending: true,
    usual: [LETTERS], empty: "No passage occurs often enough to be listed.",
    columns: ["text", "occurrences", "pages", "hosts", "domains", "bytes", "first_url"],
    fields: [{label: "text has", column: "text", op: "has", type: "text"},
      {label: "letters of text from", column: "letters", op: "min", type: "number"},
      {label: "hosts from", column: "hosts", op: "min", type: "number"},
      {label: "occurrences from", column: "occurrences", op: "min", type: "number"},
      {label: "bytes from", column: "bytes", op: "min", type: "number"},
      {label: "to", column: "bytes", op: "max", type: "number"}],
    cells: {text: (value, row) => el("div", {class: "passage"},
      link("passage", {sha1: row.sha1}, readable(words(value), 200) || "(white space)"))},
    last: (row) => stopButton(row.sha1, marked.has(row.sha1)),
    note: el("p", {class: "small"},
      "Chunks with fewer than 20 letters are mere markup, and not shown unless you ask for them. "
        + "What you mark as a stop chunk counts nowhere when you run again with the ",
      link("judge", {}, "stop list"), "."),
  });
}

function lines(parameters) {
  return grid({
    screen: "passages", table: "by_line", parameters, sort: "hosts", descending: true,
    columns: ["text", "hosts", "pages", "letters", "share"],
    names: {share: "largest share of a host's pages"},
    fields: [{label: "text has", column: "text", op: "has", type: "text"},
      {label: "hosts from", column: "hosts", op: "min", type: "number"},
      {label: "pages from", column: "pages", op: "min", type: "number"},
      {label: "letters from", column: "letters", op: "min", type: "number"},
      {label: "to", column: "letters", op: "max", type: "number"}],
    cells: {text: (value, row) => el("div", {class: "passage"},
      link("line", {fingerprint: row.fingerprint}, readable(value, 200) || "(white space)"))},
  });
}

export async function line(parameters) {
  const found = await ask("line", parameters);
  return [el("h1", {}, "A line of templates"),
    el("blockquote", {class: "chunk"}, found.text, found.text.length === 200 ? "…" : ""),
    facts([["fingerprint", el("code", {}, parameters.fingerprint)],
      ["occurs",
        "on " + counted(found.pages, "page") + ", in the template of "
          + counted(found.hosts, "host")]]),
    el("h2", {}, "Hosts that have it"),
    plainTable("boilerplate", found.rows, ["host", "pages", "share", "position"]),
    found.more
      ? el("p", {class: "small"},
        link("table", {name: "boilerplate", f: ["fingerprint.is." + parameters.fingerprint]},
          "All of them"))
      : null].filter(Boolean);
}

export async function one(parameters) {
  const [found, marked] = await Promise.all([ask("passage", {sha1: parameters.sha1}),
    ask("marked")]);
  const {chunk, labels, pages} = found;
  const text = chunk?.text ?? labels[0]?.text ?? "";
  return [el("h1", {}, "One passage"),
    el("blockquote", {class: "chunk"},
      words(text) || el("span", {class: "empty"}, "(its text is not in this result)")),
    facts([["occurs",
      chunk && counted(chunk.occurrences, "time") + " on " + counted(chunk.pages, "page") + " of "
        + counted(chunk.hosts, "host") + ", " + counted(chunk.domains, "domain")],
      ["length", chunk && size(chunk.bytes)],
      ["first captured at",
        chunk?.first_url
          && [page(chunk.first_url),
            chunk.first_timestamp
              ? ", " + String(chunk.first_timestamp).replace("T", " ").replace("+00:00", " UTC")
              : ""]], ["hash", el("code", {}, parameters.sha1)]]),
    chunk
      ? el("p", {class: "stopping"},
        stopButton(parameters.sha1, marked.benign.includes(parameters.sha1), "Mark as stop chunk"),
        " ", link("judge", {}, "stop list"))
      : null,
    text
      ? el("details", {}, el("summary", {}, "As it is in the source of the page"),
        el("pre", {tabindex: 0}, text))
      : null,
    chunk?.sample_urls?.length
      ? [el("h2", {},
        chunk.hosts > chunk.sample_urls.length
          ? "A page of each of " + number(chunk.sample_urls.length) + " hosts"
          : "A page of each host"),
        el("ul", {class: "plain"}, chunk.sample_urls.map((url) => el("li", {}, page(url))))]
      : null,
    labels.length > 1 || labels.length && labels[0].source_url !== chunk?.first_url
      ? [el("h2", {}, "As a label"),
        plainTable("labels", labels, ["kind", "source_url", "domains", "bytes"])]
      : null,
    el("h2", {}, "Pages it is on"),
    pages.length
      ? plainTable("pages", pages,
        ["url", "times", "from_byte", ...(pages.some((row) => row.own) ? ["own"] : [])])
      : el("p", {class: "empty"},
        "No page is listed: the run looked for other labels, or for none."),
    found.more
      ? el("p", {class: "small"}, "Only the first ", number(pages.length), " are shown. ",
        link("table", {name: "matched_chunks", f: ["sha1.is." + parameters.sha1]}, "All of them"))
      : null,
  ].flat(2).filter(Boolean);
}
