"""Pairs of pages, or of hosts, that overlap, and what is known of both. No Beam.

A pair is turned round when what is known of `unit` is added, so that after both turns it is as it
was.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.containment import LISTS, PAIRS, contained
from beam_reuse.analyses.overlap.definition import containment
from beam_reuse.analyses.overlap.iceberg import Thresholds, of_pairs
from beam_reuse.analyses.overlap.reading import size_names
from beam_reuse.analyses.overlap.schemas import PAGE_OVERLAP
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FINGERPRINT, KIND, NUMBER, columns, gives, less
from beam_reuse.kernels.overlap import IN_CROWD
from beam_reuse.rows import Count, Rows, Tagged

CERTAIN, CROWDS = "certain", "crowds"
OVERLAPPING = columns(tag=KIND, unit=FINGERPRINT, other=FINGERPRINT, shared=NUMBER)


def overlapping(parts: Rows, crowded: Rows, thresholds: Thresholds) -> Rows:
    """Pairs in parts that are summed here, and the rows of crowds -> pairs that share enough of all
    their fingerprints (OVERLAPPING). What is no crowd has been counted; how many crowds both units
    of a pair are in is counted here, for those that can then reach their threshold."""
    lists = crowded.group(("tag", "unit"), crowd_lists)
    found = parts.join(lists.tagged(CROWDS), ("tag", "unit"), candidates, thresholds, order="other",
                       reducing={"shared": "sum"}, counted="measured/overlap-pairs-shuffled")
    return found.tagged(CERTAIN) + contained(found, lists).map(returned, thresholds)


def with_both(pairs: Rows, facts: Rows) -> Rows:
    """Pairs with all columns of `facts`, of which one row has the `unit`, with suffixes."""
    return pairs.join(facts, "unit", with_facts, "a").join(facts, "unit", with_facts, "b")


@gives(LISTS, {CROWDS: columns(tag=KIND, unit=FINGERPRINT, crowds=NUMBER)})
def crowd_lists(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64],
) -> Iterator[Block | Tagged]:
    """The crowds that each unit is in; CROWDS: how many these are."""
    units = rows.select(("tag", "unit")).take(starts)
    yield Block({"kind": units["tag"], "page": units["unit"], "own": sizes,
                 "keys": Lists.from_lengths(sizes, rows.array("key"))})
    yield Tagged(CROWDS, units.with_columns(crowds=sizes))


@gives(columns(PAIRS, shared=NUMBER), {CERTAIN: OVERLAPPING})
def candidates(
    pairs: Block | None, crowds: Block | None, thresholds: Thresholds,
) -> Iterator[Block | Tagged | Count]:
    """Pairs that share enough fingerprints that are no crowds, or that a crowd compares, and that
    may share enough of all, with what they share beside crowds. CERTAIN: those in no crowd."""
    if pairs is None:
        return
    shared, most = pairs.array("shared"), of_pairs(pairs, thresholds)
    counted = (shared % IN_CROWD).astype(np.int64)
    number = np.zeros(len(pairs), np.int64)
    if crowds is not None:
        at = lookup(pairs, crowds, ("tag", "unit"))
        number[at >= 0] = crowds.array("crowds")[at[at >= 0]]
    chosen = ((counted >= most) | (shared >= IN_CROWD)) & (counted + number >= most)
    pairs = pairs.with_columns(shared=counted)
    certain = pairs.take(chosen & (number == 0))
    yield Count("overlap-pairs-kept", len(certain))
    yield Tagged(CERTAIN, certain)
    rest = pairs.take(chosen & (number > 0))
    yield Block({"kind": rest["tag"], "page": rest["unit"], "other": rest["other"],
                 "shared": rest["shared"]})


@gives(OVERLAPPING)
def returned(pairs: Block, thresholds: Thresholds) -> Iterator[Block | Count]:
    """Of pairs with the number of their common crowds those that share enough."""
    every = Block({"tag": pairs["kind"], "unit": pairs["page"], "other": pairs["other"],
                   "shared": pairs.array("shared") + pairs.array("found")})
    enough = every.take(every.array("shared") >= of_pairs(every, thresholds))
    yield Count("overlap-pairs-kept", len(enough))
    yield enough


def _with_facts(pairs: pa.Schema, facts: pa.Schema, turn: str) -> pa.Schema:
    return columns(pairs, **{f"{field.name}_{turn}": field for field in less(facts, "unit")})


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


def share_of(pairs: Block, turn: str, settings: OverlapSettings) -> NDArray[np.float64]:
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
        **{f"containment_{turn}": share_of(pairs, turn, settings) for turn in "ab"},
    })
