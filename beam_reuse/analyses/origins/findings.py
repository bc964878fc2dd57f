"""What origins say in the summary of a run."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.analyses.origins.schemas import ORIGINS
from beam_reuse.core.wording import counted
from beam_reuse.io.results.result import Result

_WHAT = {"copies": "set of pages with the same lines",
         "identity": "set of pages with the same words", "hosts": "pair of hosts"}
_DECLARED = {"canonical": "canonical URLs", "link": "links", "date": "dates"}
SHOWN = 3


def origins(there: Result) -> Iterator[str]:
    """How many sets have an original by what pages declare, by which evidence, of how many nothing
    but the first capture is known; and the sets in which most pages agree."""
    counts: Counter[tuple[str, str]] = Counter()
    best: list[dict[str, Any]] = []
    for batch in there.batches(ORIGINS, ORIGINS.names):
        for row in batch.group_by(["kind", "evidence"]).aggregate([([], "count_all")]).to_pylist():
            counts[row["kind"], row["evidence"]] += row["count_all"]
        best = _best(best, batch)
    for kind, what in _WHAT.items():
        of_kind = {evidence: n for (of, evidence), n in counts.items() if of == kind}
        if of_kind:
            yield f"origins of {_plural(sum(of_kind.values()), what)}: {_told(of_kind)}"
    for row in best:
        against = f", {row['against']:,} against" if row["against"] else ""
        yield (f"  {row['origin']}: by {_DECLARED[row['evidence']]} of "
               f"{counted(row['agree'], 'page')}{against}")
    yield ""


def _told(of_kind: dict[str, int]) -> str:
    declared = sum(of_kind.get(each, 0) for each in _DECLARED)
    by = ", ".join(f"{of_kind[each]:,} by {name}" for each, name in _DECLARED.items()
                   if each in of_kind)
    known = f"{declared:,} by what pages declare" + (f" ({by})" if by else "")
    first, none = of_kind.get("first-capture", 0), of_kind.get("none", 0)
    return known + (f", {first:,} by nothing but the first capture" if first else "") + (
        f", {none:,} unknown" if none else "")


def _plural(number: int, what: str) -> str:
    first, _, rest = what.partition(" ")
    return f"{counted(number, first)} {rest}"


def _best(held: list[dict[str, Any]], batch: pa.Table) -> list[dict[str, Any]]:
    """The sets in which most pages agree on an original that is declared, each original once."""
    declared = batch.filter(pc.and_(
        pc.is_in(batch["evidence"], pa.array([*_DECLARED])), pc.not_equal(batch["kind"], "hosts")))
    order = [("agree", "descending"), ("origin", "ascending")]
    found = [*held, *declared.sort_by(order).slice(0, 2 * SHOWN).to_pylist()]
    found.sort(key=lambda row: (-row["agree"], row["origin"], row["against"]))
    return list({row["origin"]: row for row in reversed(found)}.values())[::-1][:SHOWN]
