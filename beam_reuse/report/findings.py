"""What a report shows of the result of a run: what each analysis gives, and what is missing."""

from collections.abc import Iterable, Iterator, Mapping

from beam_reuse.declaring.about import About, loaded
from beam_reuse.declaring.registry import known
from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import DEPTH_HISTOGRAM
from beam_reuse.report.parts import Shown, parts
from beam_reuse.report.values import Axis, Card, Figure, Findings, Missing, Plot, Series

TITLE = "Content reuse in this crawl"
_ALWAYS = (
    "Examples are the first few of many: each query gets all of them.",
    "Addresses are not links: pages that live on copies may be hostile. Open them with care.",
    "Flags are measurements, not verdicts: judge a sample (beam-reuse sample, evaluate) before "
    "acting on many.",
    "What was captured first need not be the original: crawl order proves little.",
)


def findings_of(there: Result) -> Findings:
    """The cards and figures of a result, in order, and what they do not show."""
    tables = there.manifest.tables()
    ran = [about for about in known().values()
           if any(schema.name in tables for schema in about.schemas())]
    shown = [each for about in ran if about.report for each in loaded(about.report)(there)]
    return found_in([*shown, *parts(there, (_depths, (DEPTH_HISTOGRAM,)))], TITLE,
                    [*_not_asked_for(ran), *_ALWAYS])


def found_in(shown: Iterable[Shown], title: str, not_shown: Iterable[str] = ()) -> Findings:
    """What is shown, cards in their order, and what is not: tables that are missing, and more."""
    every = list(shown)
    cards = sorted((each for each in every if isinstance(each, Card)), key=lambda card: card.order)
    missing = {each.table: each.said for each in every if isinstance(each, Missing)}
    return Findings(title, cards, [each for each in every if not isinstance(each, Card | Missing)],
                    [*_missing(missing), *not_shown])


def _depths(there: Result) -> Iterator[Figure]:
    """How deep pages are."""
    rows = there.query("select depth, records from source order by depth", DEPTH_HISTOGRAM,
                       ("depth", "records"))
    if rows:
        points = [(row["depth"], row["records"]) for row in rows]
        yield Plot("Depth of URLs", "How many records have a URL of so many directories, before "
                   "URLs of crawler traps are skipped. A long tail is a trap.",
                   Axis("directories, the host counts as one"), Axis("records", log=True),
                   [Series("records", points, "bars", before=0.5)])


def _not_asked_for(ran: Iterable[About]) -> Iterator[str]:
    """Questions that this run did not ask, and how to."""
    names = {about.name for about in ran}
    for name, about in known().items():
        if name not in names and about.question and about.command == "run" and (
                names.isdisjoint(about.follows)):
            yield (f"{about.question[:1].upper()}{about.question[1:]}: not looked at in this run. "
                   f"Add {' or '.join(about.follows) or about.name} to --analyses.")


def _missing(tables: Mapping[str, str]) -> Iterator[str]:
    for name, said in tables.items():
        yield f"{said}." if said else (
            f"What is in {name}: this result has no such table. Run again to see it.")
