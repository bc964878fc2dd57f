"""Pairs of pages, or of hosts, that overlap, and what is known of both. No Beam.

A pair is turned round when what is known of `unit` is added, so that after both turns it is as it
was.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.copies import SHARED_PAGE
from beam_reuse.analyses.overlap.definition import containment
from beam_reuse.analyses.overlap.iceberg import Thresholds, of_pairs
from beam_reuse.analyses.overlap.reading import size_names
from beam_reuse.analyses.overlap.schemas import PAGE_OVERLAP
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import NUMBER, columns, gives, less
from beam_reuse.rows import Count, Rows


def overlapping(parts: Rows, facts: Rows, thresholds: Thresholds) -> tuple[Rows, Rows]:
    """Pairs in parts that are summed here -> those that share enough, turned round once; and the
    same with all columns of `facts`, of which one row has the `unit`, with suffixes _a and _b."""
    once = parts.join(facts, "unit", with_first, thresholds, order=("tag", "other"),
                      reducing={"shared": "sum"}, counted="measured/overlap-pairs-shuffled")
    return once, once.join(facts, "unit", with_facts, "b")


def _with_facts(pairs: pa.Schema, facts: pa.Schema, turn: str) -> pa.Schema:
    known = {f"{field.name}_{turn}": field for field in less(facts, "unit")}
    return columns(pairs, shared=NUMBER, **known)


@gives(lambda pairs, facts, _: _with_facts(pairs, facts, "a"))
def with_first(
    pairs: Block | None, facts: Block | None, thresholds: Thresholds,
) -> Iterator[Block | Count]:
    """Pairs that share as much as their threshold asks for, or that only share a page, with what
    is known of the first unit."""
    if pairs is None:
        return
    pairs = pairs.with_columns(shared=pairs.array("shared").astype(np.int64))
    by_page = pairs.array("tag") == SHARED_PAGE
    enough = by_page.copy()
    some = pairs.take(~by_page)
    enough[~by_page] = some.array("shared") >= of_pairs(some, thresholds)
    yield Count("overlap-pairs-kept", int((enough & ~by_page).sum()))
    yield from filter(None, [with_facts(pairs.take(enough), facts, "a")])


@gives(_with_facts)
def with_facts(pairs: Block | None, facts: Block | None, turn: str) -> Block | None:
    """Pairs turned round, with what is known of `unit` in columns with the suffix `turn`."""
    if pairs is None or not len(pairs):
        return None
    if facts is None or (found := lookup(pairs, facts, ("unit",))).min() < 0:
        raise AssertionError("a page or a host of which nothing is known")
    known = facts.without("unit").take(found)
    return pairs.with_columns(unit=pairs["other"], other=pairs["unit"], **{
        f"{name}_{turn}": known[name] for name in known})


def contained(pairs: Block, turn: str, settings: OverlapSettings) -> NDArray[np.float64]:
    """Which share of each unit's fingerprints is shared; of pairs with both facts."""
    sizes = np.stack([
        pairs.array(f"{name}_{turn}") for name in size_names(len(settings.chunkings))])
    return containment(pairs.array("shared"), sizes[chunking_of(pairs), np.arange(len(pairs))])


def chunking_of(pairs: Block) -> NDArray[np.int64]:
    """The numbers of the chunkings by which pairs overlap."""
    return (pairs.array("tag") // 2).astype(np.int64)


def chunking_names(numbers: NDArray, settings: OverlapSettings) -> VarBytes:
    return VarBytes.from_list([name.encode() for name in settings.chunkings]).take(numbers)


@gives(PAGE_OVERLAP.rows)
def page_overlap(pairs: Block, settings: OverlapSettings) -> Block:
    """Rows of that table."""
    return Block({
        "chunking": chunking_names(chunking_of(pairs), settings), "url_a": pairs["unit"],
        "url_b": pairs["other"], "shared": pairs["shared"],
        **{f"containment_{turn}": contained(pairs, turn, settings) for turn in "ab"},
    })
