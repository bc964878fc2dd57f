// Learnt sites, lists and options. The store is used directly; the worker sees what has changed.

import { domainOf } from "../core/domains.js";
import { compare } from "../core/evidence.js";
import { dayOf } from "../core/first_use.js";
import { addBrought, readList, writeBackup, writeLabels } from "../core/lists.js";
import { counted, element } from "../core/notice.js";
import { withStore } from "../core/store.js";

/**
 * @typedef {import("../core/store.js").Store} Store
 * @typedef {import("../core/first_use.js").Head} Head
 */

const SHOWN = 200;

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/** @param {string} id */
function form(id) {
  return /** @type {HTMLFormElement} */ (document.getElementById(id));
}

/**
 * @param {string} id
 * @param {string} name
 */
function field(id, name) {
  return /** @type {HTMLInputElement} */ (form(id).elements.namedItem(name));
}

/** Everything that is shown, anew. */
async function show() {
  await withStore(async (store) => {
    showSites(await store.heads());
    fill("joined", store.joined.map((owner) => element("li", { class: "row" },
      ...owner.map((domain) => element("span", {}, domain, " ", forgetting(domain))))), "None.");
    fill("never", store.never.map((domain) => element("li", {}, domain, " ",
      button(`Warn on ${domain} again`, () => change(`Warnings on ${domain} are back.`, (held) =>
        held.setNever(held.never.filter((one) => one !== domain)))))), "None.");
    const { wait, learn, minEvidence, learnPages } = store.settings;
    field("settings", "wait").checked = wait;
    field("settings", "shown").checked = learn === "shown";
    field("settings", "minEvidence").value = String(minEvidence);
    field("settings", "learnPages").value = learnPages.join("\n");
  });
}

/** @param {Head[]} heads */
function showSites(heads) {
  const wanted = /** @type {HTMLInputElement} */ (byId("filter")).value.trim().toLowerCase();
  const found = heads.filter((head) => head.domain.includes(wanted))
    .sort((a, b) => compare(a.domain, b.domain));
  const chunks = heads.reduce((sum, head) => sum + head.count, 0);
  byId("summary").textContent = heads.length
    ? `${counted(heads.length, "site")}, ${counted(chunks, "passage")}.`
    : "Nothing has been learnt yet.";
  byId("sites").replaceChildren(...found.slice(0, SHOWN).map(siteRow));
  byId("more").textContent = found.length > SHOWN
    ? `${counted(found.length - SHOWN, "more site")}: find them by name.` : "";
}

/** @param {Head} head */
function siteRow({ domain, days, seen, count }) {
  const pages = element("details", {}, element("summary", {}, "Show"));
  pages.addEventListener("toggle", () => showPages(pages, domain), { once: true });
  const date = new Date(seen * 86_400_000).toISOString().slice(0, 10);
  return element("tr", {}, element("th", { scope: "row" }, domain),
    element("td", { class: "number extra" }, String(count)),
    element("td", { class: "number extra" }, String(days)),
    element("td", { class: "date extra" }, date), element("td", { class: "pages" }, pages),
    element("td", {}, forgetting(domain)));
}

/** @param {string} domain that is taken out of those it was joined with, too */
function forgetting(domain) {
  return button(`Forget ${domain}`, () => change(`${domain} is forgotten.`,
    (store) => store.trust.forget(domain)), "Forget");
}

/**
 * The pages on which the passages of a site were seen first.
 * @param {HTMLElement} place
 * @param {string} domain
 */
async function showPages(place, domain) {
  const site = await withStore((store) => store.site(domain));
  /** @type {Map<string, number>} */
  const pages = new Map();
  for (const { page } of site?.chunks.values() ?? []) pages.set(page, (pages.get(page) ?? 0) + 1);
  place.append(element("ul", {}, ...[...pages].slice(0, SHOWN).map(([page, count]) =>
    element("li", {}, element("bdi", {}, page), ` (${count})`))));
}

/**
 * @param {string} id
 * @param {HTMLElement[]} items
 * @param {string} none
 */
function fill(id, items, none) {
  byId(id).replaceChildren(...(items.length ? items : [element("li", { class: "soft" }, none)]));
}

/**
 * @param {string} name what it does, for those who do not see where it is
 * @param {() => void} act
 * @param {string} [text]
 */
function button(name, act, text = name) {
  const made = element("button", { type: "button", "aria-label": name }, text);
  made.onclick = act;
  return made;
}

/**
 * Change the store, and say so; or say why it is not changed.
 * @param {string | ((result: any) => string)} said
 * @param {(store: Store) => Promise<unknown>} task
 */
async function change(said, task) {
  const place = byId("said");
  try {
    const result = await withStore(task);
    place.className = "";
    place.textContent = typeof said === "string" ? said : said(result);
  } catch (error) {
    place.className = "error";
    place.textContent = error instanceof Error ? error.message : String(error);
  }
  await show();
}

/**
 * @param {string} name
 * @param {BlobPart} content
 */
function save(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

form("join").onsubmit = (event) => {
  event.preventDefault();
  const domains = field("join", "domains").value.trim().toLowerCase().split(/[\s,]+/).map(domainOf);
  change(`${domains.join(" and ")} have one owner.`, (store) => store.trust.join(domains));
};

form("import").onsubmit = async (event) => {
  event.preventDefault();
  const file = field("import", "file").files?.[0];
  const bytes = new Uint8Array(await file?.arrayBuffer() ?? []);
  change(({ sites, chunks, left }) => `Imported ${counted(chunks, "passage")}, ` +
    `${counted(sites, "new site")}.` + (left ? ` Left out: ${counted(left, "passage")}, as there ` +
    "is room for 1,000 sites of 1,000 passages each." : ""),
  async (store) => addBrought(store, readList(
    bytes, field("import", "owner").value, dayOf(Date.now()))));
};

form("settings").onsubmit = (event) => {
  event.preventDefault();
  change("Saved.", (store) => store.setSettings({
    wait: field("settings", "wait").checked,
    learn: field("settings", "shown").checked ? "shown" : "used",
    minEvidence: Math.max(1, Number(field("settings", "minEvidence").value) || 1),
    learnPages: field("settings", "learnPages").value.split("\n").map((line) => line.trim())
      .filter(Boolean),
  }));
};

byId("filter").oninput = () => withStore(async (store) => showSites(await store.heads()));
byId("backup").onclick = () => change("The backup is saved.", async (store) =>
  save("beam-reuse-backup.json", await writeBackup(store)));
byId("labels").onclick = () => change("The list is saved.", async (store) =>
  save("beam-reuse.brl", /** @type {BlobPart} */ (await writeLabels(store))));
byId("all").onclick = () => {
  if (!confirm("Forget all sites?")) return;
  change("Everything is forgotten.", async (store) => store.commit(
    new Map((await store.heads()).map(({ domain }) => [domain, null])), []));
};
show();
