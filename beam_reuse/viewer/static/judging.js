// One row of a sheet at a time: its own screen, and keys that say what it is. What is said is on
// the server's disk before the next row is asked for.
import {ask, change} from "./api.js";
import {counted, el, facts, link, number, to} from "./dom.js";
import {kindOf} from "./kinds.js";
import {progress} from "./precision.js";

export const KEYS = [["j", "correct (or copied), and the next row"],
  ["f", "incorrect (or benign, original), and the next row"], ["d", "undecided, and the next row"],
  [". ,", "next and previous row, without judging"], ["u", "undo the last judgement"],
  ["e", "write a note; Esc ends it"],
  ["1 … 9", "take the note that was given most often, second most ..."],
  ["x", "take back what is said of this row"]];
export const QUESTIONS = {
  near_duplicates: "Are these two pages near-duplicates?",
  page_overlap: "Does one of these pages have what is on the other?",
  quilts: "Is this page stitched from others?", quilt_sources: "Is this page made of that source?",
  frequent_chunks: "Is this passage what you are looking for, or benign?",
  frequent_files: "Is this file what you are looking for, or benign?",
  matched_chunks: "Is this passage what you are looking for, or benign?",
  matched_files: "Is this file what you are looking for, or benign?",
  labels: "Is this what you are looking for, or benign?",
  page_reuse: "What is this page: copied, or an original? (What it is, not whether its flag is "
    + "right.)",
  neighbourhoods: "What is this directory: copied, or an original? (What it is, not whether its "
    + "flag is right.)",
  keep: "Was it right to keep this page, or to drop it for the other?",
  skippable: "Can a crawler do without this page, as the other one has it?",
  families: "Are these pages made of the same thing?",
  exact_copies: "Is one of these pages a copy of the other?",
  server_overlap: "Do these hosts share content, as the row says?",
  boilerplate: "Is this line part of the host's template?", origins: "Is this the original?",
  identity_sets: "Do these pages have the same words?",
};

export async function one(parameters, manifest, screens) {
  const {sheet, state = ""} = parameters;
  const address = location.hash;
  const found = await ask("item",
    {sheet, state, row: parameters.row, after: parameters.after, before: parameters.before});
  const head = [el("h1", {class: "judging"}, "Judging ", sheet), states(found),
    el("p", {class: "question"}, QUESTIONS[found.table] ?? "Is what this row says right?")];
  if (!found.row) return [head[0], head[1], nothingLeft(found)];
  if (location.hash === address) history.replaceState(null, "",
    to("judging", {sheet, state, row: found.row}));
  const holder = el("div", {class: "item"});
  await show(holder, found, manifest, screens);
  return [...head, holder, bar(found)];
}

function states(found) {
  const {rows, left, labels} = found.counts;
  const all = [["", "all", rows], ["unjudged", "unjudged", left], ["judged", "judged", rows - left],
    ...Object.entries(labels).map(([label, many]) => [label, label, many])];
  return el("nav", {class: "tabs states", "aria-label": "Which rows"},
    all.map(([state, name, many]) => {
    const made = link("judging", {sheet: found.sheet, state}, name, " (", number(many), ")");
    if (state === found.state) made.setAttribute("aria-current", "page");
    return made;
  }), link("judged", {sheet: found.sheet}, "figures →"));
}

function nothingLeft(found) {
  const done = found.state === "unjudged" && found.counts.rows > 0;
  return el("div", {class: "done"},
    el("p", {class: "notice", role: "status"},
      done
        ? "All " + counted(found.counts.rows, "row") + " are judged."
        : "No row is in this state."),
    el("p", {}, link("judged", {sheet: found.sheet}, "What they say: precision and tables →")),
    tools(found, null));
}

// The screen of the row's kind, inside this one; then the row itself.
async function show(holder, found, manifest, screens) {
  const kind = kindOf(found.table, found.values);
  let content = [];
  if (kind) {
    try {
      content = [await screens[kind.screen](kind.parameters, manifest, screens)]
        .flat(Infinity).filter(Boolean);
    } catch (error) { content = [el("p", {class: "notice"}, error.message)]; }
    holder.addEventListener("click", async (event) => {
      const chosen = event.target.closest(`a[data-key][href^="#/${kind.screen}?"]`);
      if (!chosen) return;
      event.preventDefault();
      const asked = Object.fromEntries(new URLSearchParams(chosen.getAttribute("href").split(
        /\?(.*)/s)[1]));
      holder.querySelector(".shown").replaceChildren(...lower([await screens[kind.screen](asked,
        manifest, screens)].flat(Infinity).filter(Boolean)));
    });
  }
  holder.replaceChildren(el("section", {class: "shown"}, lower(content)),
    el("details", {open: !kind || kind.screen === "sites"},
      el("summary", {}, "Row ", String(found.row), " of the sheet"),
      facts(Object.entries(found.values))));
}

// Headings of a screen inside another are one level lower.
function lower(content) {
  return content.map((node) => {
    if (!(node instanceof Element) || node.tagName !== "H1") return node;
    const made = el("h2", {class: node.className});
    made.append(...node.childNodes);
    return made;
  });
}

function bar(found) {
  const [label] = found.judged;
  const note = el("textarea",
    {id: "note", rows: 1, maxlength: 10000, placeholder: "note (e)",
      "aria-label": "Note, the reason", spellcheck: "false"});
  note.value = found.judged[1];
  const said = el("p", {class: "stored small", role: "status"}, refusal(found) ?? judgedBy(found));
  const judge = judging(found, note, said);
  note.addEventListener("change", () => judge(found.judged[0], false));
  note.addEventListener("keydown",
    (event) => { if (event.key === "Escape"
      || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
        event.preventDefault();
        note.blur();
      } });
  const button = (key, word, kind) => el("button",
    {type: "button", "data-key": key, class: "label " + kind,
      "aria-pressed": String(label.toLowerCase() === word), on: {click: () => judge(word, true)}},
    el("kbd", {}, key), " ", word);
  const {words} = found;
  return el("section", {class: "judge-bar", "aria-label": "Judgement"}, progress(found),
    el("div", {class: "labels"}, button("f", words.negative, "negative"),
      button("d", words.undecided, "undecided"), button("j", words.positive, "positive")),
    el("div", {class: "noting"}, note,
      el("button",
        {type: "button", "data-key": "e", class: "hidden", tabindex: -1, "aria-hidden": "true",
          on: {click: () => write(note)}}, "note"),
      found.notes.map((text, at) => el("button",
        {type: "button", class: "small", title: text, "data-key": String(at + 1),
          on: {click: () => judge(found.judged[0], false, text)}},
        el("kbd", {}, String(at + 1)), " ", text.slice(0, 24), text.length > 24 ? "…" : ""))),
    tools(found, judge), said);
}

const judgedBy = (found) => {
  const [label, , who, when] = found.judged;
  return label
    ? label + (who ? " by " + who : "")
      + (when ? " at " + when.replace("T", " ").replace("+00:00", " UTC") : "")
    : "not judged yet";
};

function tools(found, judge) {
  const go = (where) => () => {
    if (begin()) location.hash = to("judging", {sheet: found.sheet, state: found.state, ...where});
  };
  return el("div", {class: "judge-tools"},
    found.row
      ? [el("button",
        {type: "button", "data-key": ",", "aria-label": "Previous row",
          on: {click: go({before: found.row})}}, el("kbd", {}, ","), " ←"),
        el("button",
          {type: "button", "data-key": ".", "aria-label": "Next row",
            on: {click: go({after: found.row})}}, el("kbd", {}, "."), " →")]
      : null,
    el("button",
      {type: "button", "data-key": "u", disabled: !made(found.sheet).length,
        on: {click: (event) => takeBack(found, event.currentTarget)}}, el("kbd", {}, "u"), " undo"),
    judge && found.judged.some(Boolean)
      ? el("button", {type: "button", "data-key": "x", on: {click: () => judge("", false, "")}},
        el("kbd", {}, "x"), " clear")
      : null);
}

// One thing at a time: while something is stored, or another row is on its way, the row on the
// screen is not the one that is meant, so keys and buttons do nothing. Gives whether one may begin.
const screen = document.getElementById("screen");
const busy = () => screen.hasAttribute("aria-busy");
const end = () => screen.removeAttribute("aria-busy");
function begin() {
  if (busy()) return false;
  screen.setAttribute("aria-busy", "true");
  return true;
}

// Who begins a note while another row is on its way means that row.
function write(note) {
  if (!busy()) note.focus();
  else screen.addEventListener("shown", () => document.getElementById("note")?.focus(),
    {once: true});
}

// Say what a row is. Where somebody else was faster, the row is shown as it is now.
function judging(found, note, said) {
  return async (label, next, reason = note.value) => {
    if (!begin()) return;
    said.replaceChildren("storing…");
    const where = {sheet: found.sheet, state: found.state};
    try {
      const told = await change("judge",
        {sheet: found.sheet, row: found.row, key: found.key, label, reason, seen: found.judged});
      remember(found, told.judged);
      if (next) location.hash = to("judging", {...where, after: found.row});
      else again({...where, row: found.row});
    } catch (error) {
      if (error.meanwhile) {
        refused = {row: found.row, why: error.message + (reason === found.judged[1]
          ? "" : " Your note was: " + reason)};
        again({...where, row: found.row});
        return;
      }
      said.replaceChildren(alarm(error.message));
      end();
    }
  };
}

// What was not stored, said beside the row as it is now.
let refused = null;
function refusal(found) {
  const why = refused?.row === found.row ? refused.why : null;
  refused = null;
  return why && alarm(why);
}
const alarm = (message) => el("span", {class: "error", role: "alert"}, message);

function again(where) {
  history.replaceState(null, "", to("judging", where));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

// What this window has judged, the last at the end: undone from there, also after it was reloaded.
const made = (sheet) => { try {
  return JSON.parse(sessionStorage.getItem("judged " + sheet)) ?? [];
} catch { return []; } };
const store = (sheet, list) => sessionStorage.setItem("judged " + sheet,
  JSON.stringify(list.slice(-200)));
const remember = (found, after) => store(found.sheet,
  [...made(found.sheet), {row: found.row, key: found.key, before: found.judged, after}]);

async function takeBack(found, button) {
  const list = made(found.sheet);
  const last = list.pop();
  if (!last || !begin()) return;
  store(found.sheet, list);
  try {
    await change("undo",
      {sheet: found.sheet, row: last.row, key: last.key, seen: last.after, back: last.before});
  } catch (error) {
    if (!error.meanwhile) store(found.sheet, [...list, last]);
    button.after(el("span", {class: "error", role: "alert"}, " ", error.message));
    button.disabled = !made(found.sheet).length;
    end();
    return;
  }
  again({sheet: found.sheet, state: found.state, row: last.row});
}
