"""A histogram of shares, with how many have at most so much."""

from collections.abc import Iterator, Sequence

from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import TableSchema
from beam_reuse.report.values import Axis, Plot, Series

BINS = 20
_BINNED = """
    select least(floor(({value}) * $bins), $bins - 1)::int as bin, count(*) as n
    from source where ({value}) is not null group by bin order by bin"""


def share_plot(
    there: Result, schema: TableSchema, columns: Sequence[str], value: str, title: str,
    caption: str, what: str, many: str, lines: Sequence[tuple[float, str]] = (),
) -> Iterator[Plot]:
    """How the shares of 1 that the SQL `value` gives of columns of a table are distributed; `what`
    they are shares of, and the rows of the table are called `many`. Nothing of an empty table."""
    rows = there.query(_BINNED.format(value=value), schema, columns, {"bins": BINS})
    counts = {row["bin"]: row["n"] for row in rows}
    total = sum(counts.values())
    if not total:
        return
    below, line = 0, [(0.0, 0.0)]
    for number in range(BINS):
        below += counts.get(number, 0)
        line.append(((number + 1) / BINS, below / total))
    bars = [(number / BINS, n / total) for number, n in counts.items()]
    yield Plot(
        title, f"Bars: the share of {many} of which so much is {what}. Line: the share of {many} "
        f"with at most so much.{caption}", Axis(what, share=True),
        Axis(f"share of {many}", share=True),
        [Series(many, bars, "bars", 1 / BINS), Series("at most", line, "line")], lines)
