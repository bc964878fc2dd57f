"""What origins say in the summary of a run."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc

from beam_reuse.analyses.origins.schemas import ORIGINS
from beam_reuse.core.wording import counted
from beam_reuse.io.results.result import Result

_WHAT = {"copies": "sets of pages with the same lines", "identity": "sets with the same words",
         "hosts": "pairs of hosts"}
_SAYS = {"canonical": "canonical URLs", "link": "links", "date": "dates",
         "first-capture": "nothing but the first capture", "none": "nothing"}
_DECLARED = ("canonical", "link", "date")
SHOWN = 3


def origins(there: Result) -> Iterator[str]:
    """How many sets have an original that pages declare, by which evidence, and those of most
    pages."""
    counts: Counter[tuple[str, str]] = Counter()
    best: list[tuple[int, str, dict[str, Any]]] = []
    for batch in there.batches(ORIGINS, ORIGINS.names):
        for row in batch.group_by(["kind", "evidence"]).aggregate([([], "count_all")]).to_pylist():
            counts[row["kind"], row["evidence"]] += row["count_all"]
        declared = batch.filter(pc.is_in(batch["evidence"], pc.cast(list(_DECLARED), "string")))
        top = declared.sort_by([("agree", "descending"), ("set", "ascending")]).slice(0, SHOWN)
        best = sorted([*best, *((-row["agree"], row["set"], row) for row in top.to_pylist())],
                      key=lambda each: each[:2])[:SHOWN]
    for kind, what in _WHAT.items():
        total = sum(count for (of, _), count in counts.items() if of == kind)
        if total:
            told = sum(counts[kind, each] for each in _DECLARED)
            by = ", ".join(f"{counts[kind, each]:,} by {_SAYS[each]}"
                           for each in _SAYS if counts[kind, each])
            yield f"origins of {counted(total, what).removesuffix('s')}: {told:,} declared ({by})"
    for _, _, row in best:
        yield (f"  {row['origin']} by {_SAYS[row['evidence']]} of {row['agree']:,} of "
               f"{row['members']:,}{_against(row)}")
    yield ""


def _against(row: dict[str, Any]) -> str:
    return f", {row['against']:,} against" if row["against"] else ""
