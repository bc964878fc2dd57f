// Which screen an address is of, and keys that work everywhere.
import {overview} from "./api.js";
import {el, link, seen} from "./dom.js";
import * as families from "./families.js";
import * as judging from "./judging.js";
import * as overviews from "./overview.js";
import * as pages from "./pages.js";
import * as pairs from "./pairs.js";
import * as passages from "./passages.js";
import * as quilts from "./quilts.js";
import * as sheets from "./sheets.js";
import * as sites from "./sites.js";
import * as tables from "./tables.js";

const SCREENS = {
  "": overviews.screen, table: tables.table, tables: tables.list, records: tables.records,
  passages: passages.list, passage: passages.one, line: passages.line,
  families: families.list, family: families.one,
  sites: sites.tree, site: sites.one, shared: sites.shared,
  pages: pages.list, page: pages.one,
  pairs: pairs.list, pair: pairs.one,
  quilts: quilts.list, quilt: quilts.one,
  judge: sheets.list, judging: judging.one, judged: sheets.figures,
};
// Name, screen, and the tables of which one must be there.
const MENU = [
  ["Overview", "", []], ["Passages", "passages", ["frequent_chunks", "boilerplate"]],
  ["Sites", "sites", ["neighbourhoods"]], ["Pages", "pages", ["pages"]],
  ["Pairs", "pairs", ["near_duplicates", "page_overlap"]], ["Quilts", "quilts", ["quilts"]],
  ["Families", "families", ["families"]],
  ["Rejects, skipped", "records", ["rejects", "skipped"]], ["Tables", "tables", []],
  ["Judge", "judge", []],
];
const PART_OF = {passage: "passages", line: "passages", site: "sites", shared: "sites",
  page: "pages", pair: "pairs", quilt: "quilts", family: "families", table: "tables",
  judging: "judge", judged: "judge"};
const KEYS = [["?", "these keys"], ["/", "to the first filter"],
  ["n, p", "next and previous difference, mark or patch"],
  ["[ ]", "previous and next page of a table"], ["t, s, r", "text, source and rendering of a page"],
  ["g then 1 … 9, 0", "to a screen of the menu"], ["Esc", "close"]];

const main = document.getElementById("screen");
const nav = document.getElementById("nav");
const help = document.getElementById("help");
const wait = document.getElementById("wait");
let shown = 0, going = false, slow = 0;

function address() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parameters = Object.create(null);
  // names come from the address, and none means anything by itself
  for (const [key, value] of new URLSearchParams(query)) parameters[key] = key in parameters
    ? [parameters[key], value].flat()
    : value;
  return {path, parameters};
}

async function show(moved) {
  const mine = ++shown;
  const {path, parameters} = address();
  const screen = Object.hasOwn(SCREENS, path) ? SCREENS[path] : null;
  main.setAttribute("aria-busy", "true");
  clearTimeout(slow);
  slow = setTimeout(() => { wait.hidden = false; }, 400);
  try {
    const manifest = await overview();
    menu(manifest, PART_OF[path] ?? path);
    named(manifest.folder);
    const needs = MENU.find(([, name]) => name === path)?.[2] ?? [];
    const content = needs.length && !needs.some((table) => table in manifest.tables)
      ? [el("h1", {}, "Not looked for"),
        el("p", {class: "empty"}, "The run has not made ", needs.join(" or "),
          ": it was asked for other analyses. ", link("tables", {}, "What there is"))]
      : screen
        ? await screen(parameters, manifest, SCREENS)
        : [el("h1", {}, "There is no such screen"), el("p", {}, link("", {}, "To the overview"))];
    if (mine !== shown) return;
    main.replaceChildren(...[content].flat(Infinity).filter(Boolean));
    scrollTo(0, 0);
  } catch (error) {
    if (mine !== shown) return;
    main.replaceChildren(el("h1", {}, "Not shown"),
      el("p", {class: "error", role: "alert"}, error.message));
  }
  clearTimeout(slow);
  wait.hidden = true;
  main.removeAttribute("aria-busy");
  const title = main.querySelector("h1");
  document.title = [title?.textContent, document.getElementById("result").textContent, "beam-reuse"]
    .filter(Boolean).join(" – ");
  main.setAttribute("aria-label", title?.textContent ?? "");
  if (document.activeElement === document.body && moved) main.focus({preventScroll: true});
  main.dispatchEvent(new Event("shown"));
}

// Which result this is: several may be open beside each other.
function named(folder) {
  const shown = document.getElementById("result");
  shown.replaceChildren(seen(folder.split("/").filter(Boolean).slice(-1)[0] ?? folder));
  shown.title = seen(folder);
}

function menu(manifest, current) {
  nav.replaceChildren(...MENU.filter(([, , needs]) => !needs.length
    || needs.some((table) => table in manifest.tables))
    .map(([name, screen]) => {
      const made = link(screen, {}, name);
      if (screen === current) made.setAttribute("aria-current", "page");
      return made;
    }));
  const here = nav.querySelector("[aria-current]");
  if (here) nav.scrollLeft = here.offsetLeft - (nav.clientWidth - here.offsetWidth) / 2;
}

function step(by) {
  const marks = [...main.querySelectorAll("[data-stop]")];
  if (!marks.length) return;
  const at = marks.findIndex((mark) => mark.classList.contains("current"));
  marks[at]?.classList.remove("current");
  const next = marks[at < 0
    ? (by > 0 ? 0 : marks.length - 1)
    : (at + by + marks.length) % marks.length];
  next.classList.add("current");
  next.scrollIntoView({block: "center", behavior: "auto"});
  next.dispatchEvent(new Event("stepped"));
  const told = main.querySelector("[data-place]");
  if (told) told.textContent = (marks.indexOf(next) + 1) + " of " + marks.length;
}
main.addEventListener("step", (event) => step(event.detail));

function keys() {
  const listed = (keys) => el("dl", {class: "facts"},
    keys.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]));
  help.replaceChildren(el("h2", {id: "help-title"}, "Keys"), listed(KEYS),
    el("h3", {}, "While judging"), listed(judging.KEYS),
    el("form", {method: "dialog"}, el("button", {type: "submit"}, "Close")));
  help.showModal();
}
document.getElementById("keys").addEventListener("click", keys);
document.getElementById("skip").addEventListener("click",
  (event) => { event.preventDefault(); main.focus(); });

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open
    || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const went = going && /^\d$/.test(event.key);
  if (went) nav.querySelectorAll("a")[(Number(event.key) + 9) % 10]?.click();
  going = event.key === "g";
  if (went) return;
  if (event.key === "?") keys();
  else if (event.key === "/") {
    main.querySelector("form.filters input")?.focus();
    event.preventDefault();
  }
  else if (event.key === "n" || event.key === "p") step(event.key === "n" ? 1 : -1);
  else if (event.key.length === 1 && !event.repeat) {
    const made = main.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (made) { made.click(); event.preventDefault(); }
  }
});
addEventListener("hashchange", () => show(true));
show(false);
