// The first screen: accounting at once, then cards and figures as in the report.
import {ask} from "./api.js";
import {breakable, command, counted, el, link, number} from "./dom.js";

export async function screen(parameters, manifest) {
  const sums = manifest.accounting;
  const total = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const cards = el("section", {class: "cards", "aria-label": "What was found"},
    el("p", {class: "small"}, "Reading the tables…"));
  const figures = el("section", {"aria-label": "Figures"});
  if (manifest.kind === "result") ask("findings").then((found) => fill(cards, figures, found,
    manifest.folder), (error) => cards.replaceChildren(el("p", {class: "error"}, error.message)));
  else cards.replaceChildren();
  return [
    el("h1", {}, manifest.title),
    el("p", {class: "accounting"},
      el("strong", {}, counted(sums.records, "record"), " = ", counted(sums.pages, "page"), " + ",
        link("records", {of: "skipped"}, number(total(sums.skipped)), " skipped"), " + ",
        link("records", {of: "rejects"}, number(total(sums.rejected)), " rejected"))),
    reasons("Skipped", sums.skipped), reasons("Rejected", sums.rejected),
    manifest.damaged.map((said) => el("p", {class: "error"}, said, ".")),
    el("p", {class: "small path"}, manifest.folder), cards, figures,
    el("details", {},
      el("summary", {}, counted(Object.keys(manifest.settings).length, "setting"),
        " that values depend on"),
      el("dl", {class: "facts"},
        Object.entries(manifest.settings).map(([name, value]) => [el("dt", {}, "--" + name),
          el("dd", {}, Array.isArray(value) ? value.join(", ") : String(value ?? ""))]),
        Object.entries(manifest.thresholds).map(([name, value]) => [el("dt", {},
          "threshold: " + name), el("dd", {}, String(value))]))),
  ];
}

function reasons(what, counts) {
  const listed = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  return listed.length
    ? el("p", {class: "small"}, what, ": ",
      listed.map(([reason, many]) => reason + " " + number(many)).join(", "), ".")
    : null;
}

const quoted = (path) => /^[\w.\/-]+$/.test(path)
  ? path
  : "'" + path.replaceAll("'", "'\\''") + "'";

function fill(cards, figures, found, folder) {
  cards.replaceChildren(...found.cards.map((card) => el("article", {class: "card"},
    el("h2", {}, card.title), el("p", {class: "number"}, el("b", {}, card.number), " ", card.unit),
    el("p", {}, card.answer),
    el("ul", {},
      card.examples.map((example) => el("li", {},
        el("q", {class: "what"},
          example.screen
            ? link(example.screen, example.parameters, breakable(example.what))
            : example.what), el("span", {class: "said"}, example.said)))),
    card.screen && (card.number !== "0" || card.examples.length)
      ? el("p", {class: "more"}, el("a", {href: "#/" + card.screen}, "See all →"))
      : null,
    card.query
      ? el("details", {}, el("summary", {class: "small"}, "As a query"),
        command(`beam-reuse sql ${quoted(folder)} "${card.query}"`))
      : null)));
  if (!found.figures.length) return;
  figures.replaceChildren(el("h2", {}, "Figures"),
    el("div", {class: "figures"},
      found.figures.map((figure, at) => el("figure", {}, el("h3", {}, figure.title),
    el("img",
      {src: "/figure/" + at + ".svg", alt: figure.title + "; its numbers are in the table below",
        loading: "lazy"}), el("figcaption", {}, figure.caption),
    el("details", {}, el("summary", {}, "The numbers"),
      el("div", {class: "scroll", tabindex: 0},
        el("table", {},
          el("thead", {},
            el("tr", {}, figure.numbers.head.map((name) => el("th", {scope: "col"}, name)))),
      el("tbody", {},
        figure.numbers.rows.map((row) => el("tr", {}, row.map((value) => el("td", {}, value))))))),
    figure.numbers.left_out
      ? el("p", {class: "small"}, number(figure.numbers.left_out), " more are not shown.")
      : null)))));
}
