"""What near-duplicates say in the summary of a run."""

from collections.abc import Iterator

import pyarrow.compute as pc

from beam_reuse.analyses.near_duplicates.schemas import IDENTITY_SETS, KEEP, NEAR_DUPLICATES
from beam_reuse.core.wording import counted
from beam_reuse.io.results.result import Result


def near_duplicates(there: Result) -> Iterator[str]:
    """How many pairs there are, by each algorithm, and what is dropped."""
    pairs = there.rows(NEAR_DUPLICATES)
    by = ", ".join(f"{there.count(NEAR_DUPLICATES, name):,} by {name}"
                   for name in ("b", "c", "combined", "hybrid"))
    pages = there.rows(KEEP)
    dropped = pages - there.count(KEEP, "keep")
    yield f"near-duplicates: {counted(pairs, 'pair')}" + (f" ({by})" if pairs else "")
    sets = sum(
        pc.sum(pc.equal(batch["url"], batch["representative"])).as_py() or 0
        for batch in there.batches(IDENTITY_SETS, IDENTITY_SETS.names))
    superfluous = there.rows(IDENTITY_SETS) - sets
    yield (f"{counted(sets, 'set')} of pages with the same words, "
           f"{counted(superfluous, 'page')} superfluous; "
           f"{dropped:,} of {counted(pages, 'page')} dropped by "
           f"{there.settings.get('keep-by', 'hybrid')} (keep)")
    yield ""
