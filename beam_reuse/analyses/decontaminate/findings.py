"""What the summary of a run says of evaluation items in a corpus."""

from collections.abc import Iterator

from beam_reuse.analyses.decontaminate.schemas import (
    CONTAMINATED_ITEMS,
    CONTAMINATED_PAGES,
    CONTAMINATION,
    EVALUATIONS,
)
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.result import Result

SHOWN = 5
LETTERS = 60
BANDS = (1.0, 0.8, 0.5, 0.2, 0.0)


def findings(there: Result) -> Iterator[str]:
    """Items by the share of them that is on one page, by evaluation file; the worst items."""
    least = there.settings["min-share"]
    yield (f"decontaminate: {counted(there.rows(CONTAMINATED_ITEMS), 'item')} with a share of "
           f"{least:g} or more on a page, on {counted(there.rows(CONTAMINATED_PAGES), 'page')}; "
           f"{counted(there.rows(CONTAMINATION), 'pair')} of items and pages with a gram in common")
    bands = bands_of(there)
    for batch in there.batches(EVALUATIONS, EVALUATIONS.names):
        for row in batch.to_pylist():
            yield from _evaluation(row, bands.get(row["eval"], []))
    worst = there.query(
        "select * from source order by share desc, grams desc, eval, id, field limit $n",
        CONTAMINATED_ITEMS, CONTAMINATED_ITEMS.names, {"n": SHOWN})
    for row in worst:
        text = " ".join(row["text"].split())
        yield (f"  {percent(row['share'])} of {row['eval']} {row['id']} {row['field']} on "
               f"{counted(row['pages'], 'page')}, as {row['url']}: {text[:LETTERS]}")
    yield ""


def bands_of(there: Result) -> dict[str, list[tuple[float, int]]]:
    """By evaluation file how many items have which share or more, but less than the one before."""
    band = " ".join(f"when share >= {low} then {low}" for low in BANDS)
    rows = there.query(
        f"select eval, case {band} end as band, count(*) as items from source group by all "
        "order by band desc", CONTAMINATED_ITEMS, ("eval", "share"))
    found: dict[str, list[tuple[float, int]]] = {}
    for row in rows:
        found.setdefault(row["eval"], []).append((float(row["band"]), row["items"]))
    return found


def _evaluation(row: dict, bands: list[tuple[float, int]]) -> Iterator[str]:
    share = row["contaminated"] / row["compared"] if row["compared"] else 0.0
    by_share = ", ".join(
        f"{number:,} {'whole' if low == 1 else f'{percent(low)} and more'}"
        for low, number in bands)
    yield (f"  {row['eval']}: {row['contaminated']:,} of {counted(row['compared'], 'item')} "
           f"({percent(share)})" + (f": {by_share}" if by_share else ""))
    left = [f"{row[name]:,} {what}" for name, what in (
        ("too_short", "too short"), ("prompts", "prompts, with no gram of their own"),
        ("rejected", "rows not read (eval_rejects)")) if row[name]]
    if left:
        yield f"    not compared: {', '.join(left)}"
