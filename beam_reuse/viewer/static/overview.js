// The first screen: accounting at once, then cards and figures as in the report.
import {ask} from "./api.js";
import {counted, el, link, number} from "./dom.js";

export async function screen(parameters, manifest) {
  const sums = manifest.accounting;
  const total = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
  const cards = el("section", {class: "cards", "aria-label": "What was found"}, el("p", {class: "small"}, "Looking at the tables…"));
  const figures = el("section", {"aria-label": "Figures"});
  if (manifest.kind === "result") ask("findings").then((found) => fill(cards, figures, found, manifest), (error) => cards.replaceChildren(el("p", {class: "error"}, error.message)));
  else cards.replaceChildren();
  return [
    el("h1", {}, manifest.title),
    el("p", {class: "accounting"}, el("strong", {}, counted(sums.records, "record"), " = ", counted(sums.pages, "page"), " + ", link("records", {}, number(total(sums.skipped)), " skipped"), " + ", link("records", {}, number(total(sums.rejected)), " rejected"))),
    reasons("Skipped", sums.skipped), reasons("Rejected", sums.rejected), el("p", {class: "small path"}, manifest.folder), cards, figures,
    el("details", {}, el("summary", {}, counted(Object.keys(manifest.settings).length, "setting"), " that values depend on"),
      el("dl", {class: "facts"}, Object.entries(manifest.settings).map(([name, value]) => [el("dt", {}, "--" + name), el("dd", {}, Array.isArray(value) ? value.join(", ") : String(value ?? ""))]),
        Object.entries(manifest.thresholds).map(([name, value]) => [el("dt", {}, "threshold: " + name), el("dd", {}, String(value))]))),
  ];
}

function reasons(what, counts) {
  const listed = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  return listed.length ? el("p", {class: "small"}, what, ": ", listed.map(([reason, many]) => reason + " " + number(many)).join(", "), ".") : null;
}

const MORE = [[/passages/, "passages"], [/quilt|stitched/, "quilts"], [/hosts live|live on copies/, "sites"], [/near|keep/, "pairs"], [/mirror|fetch/, "table", {name: "skippable"}], [/famil|reject/, "records"], [/boiler|template|menu/, "table", {name: "boilerplate"}]];

function fill(cards, figures, found, manifest) {
  cards.replaceChildren(...found.cards.map((card) => {
    const more = MORE.find(([words]) => words.test(card.title.toLowerCase()));
    const there = more && (more[1] !== "table" || more[2].name in manifest.tables);
    return el("article", {class: "card"}, el("h2", {}, card.title), el("p", {class: "number"}, el("b", {}, card.number), " ", card.unit), el("p", {}, card.answer),
      el("ul", {}, card.examples.map((example) => el("li", {}, el("q", {class: "what"}, example.what), el("span", {class: "said"}, example.said)))),
      there ? el("p", {class: "more"}, link(more[1], more[2] ?? {}, "Look at all of them →")) : null);
  }));
  if (!found.figures.length) return;
  figures.replaceChildren(el("h2", {}, "Figures"), el("div", {class: "figures"}, found.figures.map((figure, at) => el("figure", {}, el("h3", {}, figure.title),
    el("img", {src: "/figure/" + at + ".svg", alt: figure.title + "; its numbers are in the table below", loading: "lazy"}), el("figcaption", {}, figure.caption),
    el("details", {}, el("summary", {}, "The numbers"), el("div", {class: "scroll", tabindex: 0}, el("table", {}, el("thead", {}, el("tr", {}, figure.numbers.head.map((name) => el("th", {scope: "col"}, name)))),
      el("tbody", {}, figure.numbers.rows.map((row) => el("tr", {}, row.map((value) => el("td", {}, value))))))),
    figure.numbers.left_out ? el("p", {class: "small"}, number(figure.numbers.left_out), " more are not shown.") : null)))));
}
