"""report.html: one file that opens anywhere, with what a run found.

No script of a crawl can run in it: everything is text, and the page's own policy allows its one
style sheet and its one script by their hashes, and nothing else. The same result gives the same
bytes.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources

from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.damage import DamagedTableError
from beam_reuse.io.results.manifest import Accounting, Manifest
from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import REJECTS
from beam_reuse.report.figures import numbers_of
from beam_reuse.report.findings import findings_of
from beam_reuse.report.markup import element, escaped, table
from beam_reuse.report.svg import drawn
from beam_reuse.report.values import Card, Example, Figure, Findings

REPORT = "report.html"
EXAMPLE_LETTERS = 150


def report_of(manifest: Manifest, folder: str) -> bytes:
    """The report of the result of a run, whose tables are in `folder`.

    Cost: one pass over the columns that are shown. Memory: a batch of rows, and what is shown.
    """
    there = Result(manifest, folder)
    return page_of(there, findings_of(there))


def page_of(there: Result, found: Findings) -> bytes:
    """The page that shows what was found, beside the accounting, tables and settings."""
    manifest = there.manifest
    body = "\n".join((
        element("header", element("h1", escaped(found.title)),
                _accounting(manifest.accounting, there)),
        element("main", element("section", *map(_card, found.cards), class_="cards",
                                aria_label="What was found") if found.cards else "",
                _figures(found.figures), _not_shown(found.not_shown), _tables(manifest),
                _settings(manifest)),
    ))
    return _page(found.title, body).encode()


def _page(title: str, body: str) -> str:
    files = resources.files("beam_reuse.report")
    style, script = (files.joinpath(name).read_text() for name in ("report.css", "report.js"))
    policy = (f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
              "base-uri 'none'; form-action 'none'")
    return "\n".join((
        "<!doctype html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escaped(title)}</title>", f"<style>{style}</style>", "</head>", "<body>", body,
        f"<script>{script}</script>", "</body>", "</html>", ""))


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _accounting(accounting: Accounting, there: Result) -> str:
    """records = pages + skipped + rejected, and why."""
    sums = (f"{counted(accounting.records, 'record')} = {counted(accounting.pages, 'page')} + "
            f"{accounting.skipped_total:,} skipped + {accounting.rejected_total:,} rejected")
    return element("p", element("strong", escaped(sums)), class_="accounting") + "".join(
        _reasons(what, counts) for what, counts in (
            ("Skipped", accounting.skipped), ("Rejected", accounting.rejected)) if counts
    ) + _rejects(there)


def _reasons(what: str, counts: Mapping[str, int]) -> str:
    listed = ", ".join(f"{reason} {n:,}" for reason, n in sorted(
        counts.items(), key=lambda item: (-item[1], item[0])))
    return element("p", escaped(f"{what}: {listed}."), class_="small")


def _rejects(there: Result) -> str:
    if not there.has(REJECTS) or not there.rows(REJECTS):
        return ""
    try:
        rows = there.query('select file, "offset", reason from source order by 1, 2 limit 3',
                           REJECTS, ("file", "offset", "reason"))
    except DamagedTableError as error:
        return element("p", escaped(f"{error.in_folder}."), class_="small")
    said = "; ".join(f"{row['file']} at byte {row['offset']:,} ({row['reason']})" for row in rows)
    return element("p", escaped(f"The first rejected: {said}. "), _command("select * from rejects"),
                   class_="small")


def _card(card: Card) -> str:
    examples = element("ul", *(_example(each) for each in card.examples)) if card.examples else ""
    return element(
        "article", element("h2", escaped(card.title)),
        element("p", element("b", escaped(card.number)), " ", escaped(card.unit), class_="number"),
        element("p", escaped(card.answer)), examples,
        _command(card.query) if card.query else "", class_="card")


def _example(example: Example) -> str:
    return element("li", element("q", escaped(cut(example.what)), class_="what"),
                   element("span", escaped(example.said), class_="said"))


def cut(text: str) -> str:
    """Text of a length that can be shown."""
    return text if len(text) <= EXAMPLE_LETTERS else text[: EXAMPLE_LETTERS - 1] + "…"


def _command(query: str) -> str:
    """A command that can be copied; `.` becomes the folder of the report where it is known."""
    return element("span", element("code", escaped(f'beam-reuse sql . "{query}"')),
                   element("button", "Copy", type="button", class_="copy"), class_="command")


def _figures(figures: Sequence[Figure]) -> str:
    if not figures:
        return ""
    return element("section", element("h2", "Figures"), element(
        "div", *map(_figure, figures), class_="figures"), aria_label="Figures")


def _figure(figure: Figure) -> str:
    head, rows, left_out = numbers_of(figure)
    more = element("p", escaped(f"{left_out:,} more are not shown."), class_="small") if (
        left_out) else ""
    return element(
        "figure", element("h3", escaped(figure.title)), drawn(figure),
        element("figcaption", escaped(figure.caption)),
        element("details", element("summary", "The numbers"), table(head, rows), more))


def _not_shown(said: Sequence[str]) -> str:
    return element("section", element("h2", "What this report does not show"), element(
        "ul", *(element("li", escaped(each)) for each in said)))


def _tables(manifest: Manifest) -> str:
    rows = [[name, f"{sum(part.rows for part in parts):,}"]
            for name, parts in manifest.tables().items()]
    return element("section", element("details", element(
        "summary", escaped(counted(len(rows), "table"))), table(("table", "rows"), rows)))


def _settings(manifest: Manifest) -> str:
    rows = [[f"--{name}", _setting(value)] for name, value in sorted(manifest.settings.items())]
    rows += [[f"threshold: {name}", percent(value, 2)]
             for name, value in sorted(manifest.thresholds.items())]
    return element("section", element("details", element(
        "summary", escaped(f"{counted(len(rows), 'setting')} that values depend on")),
        table(("setting", "value"), rows)))


def _setting(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)

