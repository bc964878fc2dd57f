// Directories as a tree, one host, and what two hosts share.
import {ask} from "./api.js";
import {plainTable} from "./cells.js";
import {bar, counted, el, facts, link, number, share, size, to} from "./dom.js";

export async function tree(parameters) {
  const prefix = parameters.prefix ?? "";
  const above = prefix ? prefix.split("/").slice(0, -1) : [];
  const found = await ask("neighbourhoods", {prefix, hosts: parameters.hosts, flagged: parameters.flagged === "true"});
  const trail = el("nav", {class: "trail", "aria-label": "Directories above"}, link("sites", {}, "all hosts"),
    above.map((name, at) => [" / ", link("sites", {prefix: above.slice(0, at + 1).join("/") + "/"}, name)]),
    above.length ? [" · ", link("site", {host: above[0]}, "everything of this host")] : null);
  return [el("h1", {}, prefix ? "Below " + prefix : "Sites"), trail,
    el("p", {class: "small"}, "How much of each directory is known content; those with most of it first. Flagged: above ", share(found.thresholds.neighbourhood), "."),
    prefix ? null : form(parameters), level(found),
    prefix ? el("p", {}, link("pages", {f: ["url.has.://" + prefix]}, "Pages below it")) : null].filter(Boolean);
}

function form(parameters) {
  return el("form", {class: "filters", role: "search", on: {submit(event) {
    event.preventDefault();
    location.hash = to("sites", {hosts: event.target.elements.hosts.value.trim(), flagged: event.target.elements.flagged.checked ? "true" : ""});
  }}}, el("label", {}, el("span", {}, "host has"), el("input", {type: "search", name: "hosts", value: parameters.hosts ?? "", autocomplete: "off"})),
  el("label", {class: "check"}, el("span", {}, "flagged only"), el("input", {type: "checkbox", name: "flagged", checked: parameters.flagged === "true"})), el("button", {type: "submit"}, "Filter"));
}

function level(found) {
  if (!found.rows.length) return el("p", {class: "empty"}, "Nothing is below it.");
  return el("div", {}, el("ul", {class: "tree"}, found.rows.map(branch)), found.more ? el("p", {class: "small"}, "Only the first ", number(found.rows.length), " are shown. ", link("table", {name: "neighbourhoods"}, "All of them")) : null);
}

function branch(row) {
  const parts = row.prefix.split("/");
  const name = row.depth === 1 ? link("site", {host: parts[0]}, parts[0]) : link("sites", {prefix: row.prefix}, parts[row.depth - 1] + "/");
  const much = [el("span", {class: "share"}, share(row.badness) || "–"), bar(row.badness, row.flagged)];
  const said = [row.flagged ? el("strong", {class: "flag"}, "flagged") : null,
    el("span", {class: "small"}, number(row.matching), " of ", counted(row.chunks, "chunk"), " on ", counted(row.pages, "page"),
      row.sources.length ? ["; also on ", row.sources.map((each) => each.source).join(", ")] : null)];
  if (!row.has_more) return el("li", {}, el("div", {class: "branch"}, much, name, said));
  const inner = el("div", {class: "below"});
  return el("li", {}, el("details", {on: {async toggle(event) {
    if (!event.target.open || inner.childNodes.length) return;
    inner.replaceChildren(el("p", {class: "small"}, "…"));
    try { inner.replaceChildren(level(await ask("neighbourhoods", {prefix: row.prefix}))); } catch (error) { inner.replaceChildren(el("p", {class: "error"}, error.message)); }
  }}}, el("summary", {class: "branch"}, much, name, said), inner));
}

const HEADINGS = {crawl_savings: "What a crawler need not fetch", skippable: "Pages it need not fetch", popular_collections: "Collections that occur on other hosts", boilerplate: "Lines of its template"};
const COLUMNS = {crawl_savings: ["chunking", "pages", "redundant_pages", "bytes", "redundant_bytes"], skippable: ["url", "chunking", "because_of", "bytes"], popular_collections: ["prefix", "hosts", "pages", "bytes", "sample_urls"], boilerplate: ["text", "pages", "share", "position"]};

export async function one(parameters) {
  const {host} = parameters;
  const found = await ask("site", {host});
  const own = found.neighbourhood;
  return [el("h1", {}, host),
    facts([["pages", found.pages ? link("pages", {f: ["host.is." + host]}, counted(found.pages, "page") + ", " + size(found.bytes)) : "none"], ["address", found.ip], ["domain", found.domain], ["site", found.site],
      ["known content", own && [share(own.badness) || "–", " ", bar(own.badness, own.flagged), own.flagged ? el("strong", {class: "flag"}, " flagged") : "", " ", number(own.matching), " of ", counted(own.chunks, "chunk")]],
      ["directories", own && link("sites", {prefix: host + "/"}, "as a tree")]]),
    found.sources.length ? [el("h2", {}, "Whose content it is"), plainTable("neighbourhood_sources", found.sources, ["source", "matching", "distinct_matching"])] : null,
    found.tables.server_overlap ? [el("h2", {}, "Hosts it shares content with"), found.overlap.length ? overlap(found.overlap, host) : el("p", {class: "empty"}, "None that is listed.")] : null,
    Object.entries(found.facts).map(([table, rows]) => rows.length ? [el("h2", {}, HEADINGS[table]), plainTable(table, rows, COLUMNS[table])] : null),
  ].flat(3).filter(Boolean);
}

function overlap(rows, host) {
  return el("div", {class: "scroll", tabindex: 0}, el("table", {}, el("thead", {}, el("tr", {}, ["other host", "chunking", "relation", "shared", "of this host", "of the other", ""].map((name) => el("th", {scope: "col"}, name)))),
    el("tbody", {}, rows.map((row) => {
      const mine = row.host_a === host, other = mine ? row.host_b : row.host_a;
      return el("tr", {}, el("td", {}, link("site", {host: other}, other)), el("td", {}, row.chunking), el("td", {}, row.relation), el("td", {class: "n"}, number(row.shared)),
        el("td", {class: "n"}, share(mine ? row.containment_a : row.containment_b)), el("td", {class: "n"}, share(mine ? row.containment_b : row.containment_a)), el("td", {}, link("shared", {a: host, b: other}, "pages")));
    }))));
}

export async function shared(parameters) {
  const {a, b} = parameters;
  const found = await ask("shared", {a, b});
  const compare = (rows, x, y) => el("ul", {class: "plain"}, rows.map((row) => el("li", {}, link("pair", {a: row[x], b: row[y]}, row[x], " – ", row[y]),
    el("span", {class: "small"}, row.shared !== undefined ? " " + number(row.shared) + " shared by " + row.chunking : row.c_similarity !== undefined ? " C " + row.c_similarity : ""))));
  return [el("h1", {}, "What two hosts share"), el("p", {}, link("site", {host: a}, a), " and ", link("site", {host: b}, b)),
    [["page_overlap", "Pages that overlap", "url_a", "url_b"], ["near_duplicates", "Near-duplicates", "url_a", "url_b"], ["exact_copies", "Exact copies", "centre", "url"]].map(([table, title, x, y]) =>
      [el("h2", {}, title), found[table].length ? compare(found[table], x, y) : el("p", {class: "empty"}, "None that is listed.")])].flat(2);
}
