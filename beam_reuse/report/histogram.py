"""A histogram of shares, with how many have at most so much."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import TableSchema
from beam_reuse.report.values import Axis, Plot, Series

BINS = 20
# A bin begins with the values at its left; a value counts as at most so much from its edge on.
# Rounded, as 0.35 * 20 must be 7.
_BINNED = """
    with placed as (
        select round(({value}) * $bins, 9) as place from source where ({value}) is not null)
    select least(floor(place), $bins - 1)::int as bin, ceil(place)::int as edge, count(*) as n
    from placed group by all order by all"""


def share_plot(
    there: Result, schema: TableSchema, columns: Sequence[str], value: str, title: str,
    caption: str, what: str, many: str, lines: Sequence[tuple[float, str]] = (),
) -> Iterator[Plot]:
    """How the shares of 1 that the SQL `value` gives of columns of a table are distributed; `what`
    they are shares of, and the rows of the table are called `many`. Nothing of an empty table."""
    rows = there.query(_BINNED.format(value=value), schema, columns, {"bins": BINS})
    total = sum(row["n"] for row in rows)
    if not total:
        return
    counts, at_most = Counter[int](), Counter[int]()
    for row in rows:
        counts[row["bin"]] += row["n"]
        at_most[row["edge"]] += row["n"]
    sums = accumulate(at_most[edge] for edge in range(BINS + 1))
    line = [(edge / BINS, n / total) for edge, n in enumerate(sums)]
    bars = [(number / BINS, n / total) for number, n in counts.items()]
    yield Plot(
        title, f"Bars: the share of {many} of which so much is {what}. Line: the share of {many} "
        f"with at most so much.{caption}", Axis(what, share=True),
        Axis(f"share of {many}", share=True),
        [Series(many, bars, "bars", 1 / BINS), Series("at most", line, "line")], lines)
