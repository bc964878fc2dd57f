"""What decontamination shows in the report."""

from collections.abc import Iterator

from beam_reuse.analyses.decontaminate.schemas import (
    CONTAMINATED_ITEMS,
    CONTAMINATED_PAGES,
    EVALUATIONS,
)
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result
from beam_reuse.report.histogram import share_plot
from beam_reuse.report.parts import Shown, parts
from beam_reuse.report.values import Bars, Card, Example, Figure

_MOST = 20
_WORST = """
    select eval, id, field, share, url from source
    order by share desc, grams desc, eval, id, field limit 3"""
_BY_EVAL = """
    select eval, contaminated, compared from source where compared > 0
    order by contaminated / compared desc, eval"""
_QUERY = "select * from contaminated_items order by share desc, grams desc, eval, id"


def report(there: Result) -> Iterator[Shown]:
    """Items that pages hold, by evaluation file and by share."""
    return parts(there, (_found, (CONTAMINATED_ITEMS, CONTAMINATED_PAGES)),
                 (_by_file, (EVALUATIONS,)), (_shares, (CONTAMINATED_ITEMS,)))


def _found(there: Result) -> Iterator[Card]:
    items, pages = there.rows(CONTAMINATED_ITEMS), there.rows(CONTAMINATED_PAGES)
    least = percent(there.settings["min-share"])
    answer = (f"No page holds {least} of an item or more." if not items else
              f"{counted(pages, 'page')} hold {least} or more of one.")
    yield Card(1, "Which evaluation items does the corpus hold?", f"{items:,}",
               "item" if items == 1 else "items", answer, [
                   Example(row["url"], f"{percent(row['share'])} of {row['eval']} {row['id']} "
                           f"({row['field']})") for row in there.query(
                       _WORST, CONTAMINATED_ITEMS, ("eval", "id", "field", "share", "grams", "url"))
               ], _QUERY)


def _by_file(there: Result) -> Iterator[Figure]:
    rows = there.query(_BY_EVAL, EVALUATIONS, ("eval", "contaminated", "compared"))
    if rows:
        yield Bars("Contaminated items by evaluation file",
                   "Of the items that were compared, how many a page holds.", "evaluation file",
                   "contaminated", "items", [(row["eval"], row["contaminated"], row["compared"])
                                             for row in rows[:_MOST]], max(len(rows) - _MOST, 0))


def _shares(there: Result) -> Iterator[Figure]:
    yield from share_plot(
        there, CONTAMINATED_ITEMS, ("share",), "share", "How much of an item one page holds",
        " Items on the right are there whole.", "of its grams on a page", "contaminated items")
