// Directories as a tree, one host, and what two hosts share.
import {ask} from "./api.js";
import {page, plainTable, readable, words} from "./cells.js";
import {listing} from "./listing.js";
import {bar, breakable, counted, el, facts, link, number, share, size, to} from "./dom.js";

export async function tree(parameters) {
  const prefix = parameters.prefix ?? "";
  const above = prefix ? prefix.split("/").slice(0, -1) : [];
  const found = await ask("neighbourhoods",
    {prefix, hosts: parameters.hosts, flagged: parameters.flagged === "true"});
  const trail = el("nav", {class: "trail", "aria-label": "Directories above"},
    link("sites", {}, "all hosts"),
    above.map((name, at) => [" / ",
      link("sites", {prefix: above.slice(0, at + 1).join("/") + "/"}, name)]),
    above.length ? [" · ", link("site", {host: above[0]}, "everything of this host")] : null);
  const own = found.own, filtered = Boolean(parameters.hosts || parameters.flagged);
  return [el("h1", {}, prefix ? breakable(prefix) : "Sites"), prefix ? trail : null,
    own
      ? facts([["known content", known(own)], ["sources", others(own)],
        ["pages",
          link("pages", {f: ["url.has.://" + prefix]}, counted(own.pages, "page") + " below it")]])
      : null,
    found.rows.length || filtered
      ? el("p", {class: "small"}, "How much of each ", prefix ? "directory" : "host",
        " is known content; those with the most matching chunks first.",
        found.thresholds.neighbourhood === undefined
          ? ""
          : " Flagged: above " + share(found.thresholds.neighbourhood) + ".")
      : null,
    prefix || !(found.rows.length || filtered) ? null : form(parameters),
    level(found,
      prefix
        ? "It has no directories of its own."
        : filtered ? "No host passes these filters."
        : "There is no host: the result has no pages.")].filter(Boolean);
}

const known = (row) => [share(row.badness) || "–", " ", bar(row.badness, row.flagged),
  row.flagged ? el("strong", {class: "flag"}, " flagged") : "", " ", number(row.matching), " of ",
  counted(row.chunks, "chunk")];

function form(parameters) {
  return el("form", {class: "filters", role: "search", on: {submit(event) {
    event.preventDefault();
    location.hash = to("sites",
      {hosts: event.target.elements.hosts.value.trim(),
        flagged: event.target.elements.flagged.checked ? "true" : ""});
  }}},
  el("label", {}, el("span", {}, "host has"),
    el("input",
      {type: "search", name: "hosts", value: parameters.hosts ?? "", autocomplete: "off"})),
  el("label", {class: "check"}, el("span", {}, "flagged only"),
    el("input", {type: "checkbox", name: "flagged", checked: parameters.flagged === "true"})),
  el("button", {type: "submit"}, "Filter"));
}

function level(found, none = "") {
  if (!found.rows.length) return el("p", {class: "empty"}, none);
  return el("div", {}, el("ul", {class: "tree"}, found.rows.map(branch)),
    found.more
      ? el("p", {class: "small"}, "Only the first ", number(found.rows.length), " are shown. ",
        link("table", {name: "neighbourhoods"}, "All of them"))
      : null);
}

// Domains whose content it has, without its own.
function others(row) {
  const host = row.prefix.split("/")[0];
  const foreign = row.sources.filter(({source}) => source && host !== source
    && !host.endsWith("." + source));
  return foreign.length
    ? "also on " + foreign.map(({source}) => source).join(", ")
    : row.sources.length ? "repeated within its own domain"
    : "";
}

function branch(row) {
  const parts = row.prefix.split("/");
  const name = row.depth === 1
    ? link("site", {host: parts[0]}, parts[0])
    : link("sites", {prefix: row.prefix}, parts[row.depth - 1] + "/");
  const also = others(row);
  const said = [el("span", {class: "share"}, share(row.badness) || "–"),
    bar(row.badness, row.flagged),
    el("span", {class: "of"}, name, row.flagged ? el("strong", {class: "flag"}, " flagged") : null),
    el("span", {class: "small facts-of"}, number(row.matching), " of ",
      counted(row.chunks, "chunk"), " on ", counted(row.pages, "page"), also ? "; " + also : null)];
  if (!row.has_more) return el("li", {},
    el("div", {class: "branch"}, el("span", {class: "toggle"}), said));
  const inner = el("div", {class: "below"});
  inner.hidden = true;
  const toggle = el("button",
    {type: "button", class: "toggle", "aria-expanded": "false",
      "aria-label": "Directories below " + row.prefix, on: {async click() {
    inner.hidden = !inner.hidden;
    toggle.setAttribute("aria-expanded", String(!inner.hidden));
    if (inner.hidden || inner.childNodes.length) return;
    inner.replaceChildren(el("p", {class: "small"}, "…"));
    try { inner.replaceChildren(level(await ask("neighbourhoods", {prefix: row.prefix}))); } catch (
      error) { inner.replaceChildren(el("p", {class: "error"}, error.message)); }
  }}}, "▸");
  return el("li", {}, el("div", {class: "branch"}, toggle, said), inner);
}

const HEADINGS = {crawl_savings: "What a crawler need not fetch",
  skippable: "Pages it need not fetch",
  popular_collections: "Collections that occur on other hosts",
  boilerplate: "Lines of its template"};
const COLUMNS = {crawl_savings: ["chunking", "pages", "redundant_pages", "bytes",
  "redundant_bytes"], skippable: ["url", "because_of", "containment", "bytes", "chunking"],
  popular_collections: ["prefix", "hosts", "pages", "bytes", "sample_urls"],
  boilerplate: ["text", "pages", "share", "position"]};

export async function one(parameters) {
  const {host} = parameters;
  const found = await ask("site", {host});
  const own = found.neighbourhood;
  return [el("h1", {}, host),
    facts([["pages",
      found.pages
        ? link("pages", {f: ["host.is." + host]},
          counted(found.pages, "page") + ", " + size(found.bytes))
        : "none"], ["address", found.ip], ["domain", found.domain], ["site", found.site],
      ["known content", own && known(own)],
      ["directories", own && link("sites", {prefix: host + "/"}, "as a tree")]]),
    found.sources.length ? [el("h2", {}, "Whose content it is"), whose(found.sources, host)] : null,
    found.copiers.length
      ? [el("h2", {}, "Who has content of ", found.domain), copiers(found.copiers, host),
        found.more_copiers
          ? el("p", {class: "small"}, "Only the first ", number(found.copiers.length),
            " are shown. ",
            link("table", {name: "neighbourhood_sources", f: ["source.is." + found.domain]},
              "All of them"))
          : null]
      : null,
    found.tables.server_overlap
      ? [el("h2", {}, "Hosts it shares content with"),
        found.overlap.length ? overlap(found.overlap, host) : el("p", {class: "empty"}, "None.")]
      : null,
    Object.entries(found.facts).map(([table, {rows, more}]) => rows.length
      ? [el("h2", {}, HEADINGS[table]), plainTable(table, rows, COLUMNS[table]),
        more
          ? el("p", {class: "small"}, "Only the first ", number(rows.length), " are shown. ",
            link("table",
              {name: table,
                f: [table === "popular_collections"
                  ? "prefix.starts." + host + "/"
                  : "host.is." + host]}, "All of them"))
          : null]
      : null),
  ].flat(3).filter(Boolean);
}

function whose(rows, host) {
  const own = (source) => host === source || host.endsWith("." + source);
  return listing("Whose content it is",
    [{name: "domain"}, {name: "matching chunks", n: true}, {name: "different ones", n: true}],
    rows.map((row) => [
    row.source
      ? own(row.source) ? row.source + " (its own)"
      : link("sites", {hosts: row.source}, breakable(row.source))
      : "–",
    number(row.matching), number(row.distinct_matching)]));
}

// Hosts that have its content: how much of them that is, and what both have.
function copiers(rows, host) {
  return listing("Who has its content",
    [{name: "host"}, {name: "matching chunks", n: true}, {name: "of its chunks", n: true},
      {name: "different ones", n: true}, {last: true}],
    rows.map((row) => {
      const other = row.prefix.slice(0, -1);
      return [link("site", {host: other}, breakable(other)), number(row.matching),
        share(row.chunks ? row.matching / row.chunks : null),
        number(row.distinct_matching), link("shared", {a: host, b: other}, "what both have")];
    }));
}

// One row for each other host: what both share by the way of cutting pages that finds most.
function overlap(rows, host) {
  const by = Map.groupBy(rows, (row) => row.host_a === host ? row.host_b : row.host_a);
  const names = (rows) => rows.map((each) => each.chunking).join(", ");
  const relations = (all) => [...Map.groupBy(all, (each) => each.relation)]
    .map(([relation, some]) => relation + (some.length < all.length ? ` (${names(some)})` : ""))
    .join("; ");
  return listing("Hosts it shares content with", [
    {name: "other host"}, {name: "relation"}, {name: "of this host", n: true},
    {name: "of the other", n: true}, {name: "shared", n: true}, {last: true},
  ], [...by].map(([other, all]) => {
    const row = all.reduce((most, each) => each.shared > most.shared ? each : most),
      mine = row.host_a === host;
    return [link("site", {host: other}, breakable(other)), relations(all),
      share(mine ? row.containment_a : row.containment_b),
      share(mine ? row.containment_b : row.containment_a), number(row.shared) + " " + row.chunking,
      link("shared", {a: host, b: other}, "what both have")];
  }));
}

const FIRST = 25;

// What is said of two pages of two hosts, by the table that has them.
const MEASURES = {exact_copies: [], near_duplicates: ["B similarity", "C similarity"],
  page_overlap: ["shared", "of the left page", "of the right page"]};
function measures(table, row, left) {
  if (table === "near_duplicates") return [number(row.b_similarity), number(row.c_similarity)];
  if (table !== "page_overlap") return [];
  const both = [share(row.containment_a), share(row.containment_b)];
  return [number(row.shared) + " " + row.chunking, ...(left ? both : both.reverse())];
}

// The first rows, and the others by a click.
function paged(label, names, rows) {
  const heads = [...names.map((name, at) => ({name, n: at > 1})), {last: true}];
  return [listing(label, heads, rows.slice(0, FIRST)), rows.length > FIRST
    ? el("details", {}, el("summary", {}, number(rows.length - FIRST), " more"),
      listing(label + ", the others", heads, rows.slice(FIRST)))
      : null];
}

// Two hosts: what both have, and what only one of them has.
export async function shared(parameters) {
  const {a, b} = parameters;
  const found = await ask("shared", {a, b});
  const path = (url) => url.replace(/^\w+:\/\/[^/]*/, "") || "/";
  const pairs = (name, table, rows, x, y) => paged(name, ["on " + a, "on " + b, ...MEASURES[table]],
    rows.map((row) => {
    const left = row[x].split("/")[2] === a,
      [mine, other] = left ? [row[x], row[y]] : [row[y], row[x]];
    const shown = (url) => link("page", {url}, breakable(path(url)));
    return [shown(mine), path(mine) === path(other) ? "the same path" : shown(other),
      ...measures(table, row, left), link("pair", {a: mine, b: other}, "compare")];
  }));
  const listed = (items) => [el("ul", {class: "plain"}, items.slice(0, FIRST)),
    items.length > FIRST
      ? el("details", {}, el("summary", {}, number(items.length - FIRST), " more"),
        el("ul", {class: "plain"}, items.slice(FIRST)))
      : null];
  const title = (name, items) => el("h2", {}, name,
    items.length
      ? " (" + (items.length === found.most ? "more than " : "") + number(items.length) + ")"
      : "");
  const only = (host, side) => el("section", {}, el("h2", {}, "Only on ", host),
    el("p", {class: "small"},
      side.urls.length
        ? [number(side.shared), " of its ", counted(side.pages, "page"),
          " share something with the other host. These do not:"]
        : ["Nothing: ",
          side.pages === 1
            ? "its page shares"
            : "all of its " + counted(side.pages, "page") + " share",
          " something with the other host."]),
    side.urls.length ? listed(side.urls.map((url) => el("li", {}, page(url)))) : null,
    side.more
      ? el("p", {class: "small"}, "Only the first ", number(side.urls.length), " are shown.")
      : null);
  return [el("h1", {}, "What two hosts share"),
    el("p", {}, link("site", {host: a}, a), " and ", link("site", {host: b}, b)),
    [["exact_copies", "Exact copies", "centre", "url"],
      ["near_duplicates", "Near-duplicates", "url_a", "url_b"],
      ["page_overlap", "Pages that overlap, exact copies aside", "url_a", "url_b"]].filter(
        ([table]) => found[table]).map(([table, name, x, y]) =>
      [title(name, found[table]),
        found[table].length
          ? pairs(name, table, found[table], x, y)
          : el("p", {class: "empty"}, "None.")]),
    found.passages.length
      ? [title("Passages on both", found.passages),
        listed(found.passages.map((row) => el("li", {},
          link("passage", {sha1: row.sha1}, readable(words(row.text), 160)),
          el("span", {class: "small"}, " ", counted(row.pages, "page"), " of ",
            counted(row.hosts, "host")))))]
      : null,
    el("div", {class: "two"}, only(a, found.only_a), only(b, found.only_b)),
  ].flat(3).filter(Boolean);
}
