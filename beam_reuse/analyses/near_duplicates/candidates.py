"""From signatures to candidates: classes of equal pages, and keys that pages share; no Beam.

A key row is a row of signatures with a `key`, its `number`, and `small`: bit n is set if the page's
key of that number, of the same algorithm, is surely shared by at most `max_group` pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.comparisons import SKIPPED, star_pairs
from beam_reuse.analyses.near_duplicates.signatures import decided_classes
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import Counters, HeavyKeys
from beam_reuse.core.near_duplicates import MOST_EQUAL, as_words, b_keys, c_keys, key_masks
from beam_reuse.core.settings import NearDuplicateSettings

CLASSES, STARS, LEADERS = "classes", "stars", "leaders"
NOT_LISTED = 2  # what SKIPPED counts of classes; 0 and 1 are pairs of crowds by B and by C
_NUMBERED = 64


@dataclass(frozen=True)
class Shared:
    """The keys that may stand twice or more, and those that may stand too often."""

    keys: HeavyKeys
    crowds: HeavyKeys


def _has_b(b: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.asarray(b.any(axis=1))


def class_keys(rows: Block) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
    """Which rows may be of a class of equal pages, those with shingles, and for every row a hash of
    what is equal: site and both signatures."""
    return _has_b(as_words(rows.array("b"))), rows.hash_rows(("site", "b", "c"))


def counted_keys(rows: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """Every hash and key by which pages are brought together."""
    shingled, hashes = class_keys(rows)
    yield Block({"key": hashes[shingled]})
    yield Block({"key": _keys_b(rows, settings)[1].ravel()})
    masks = key_masks(settings)
    if masks is not None:
        yield Block({"key": c_keys(as_words(rows.array("c")), masks).ravel()})


def _keys_b(
    rows: Block, settings: NearDuplicateSettings
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    b = as_words(rows.array("b"))
    shingled = np.flatnonzero(_has_b(b))
    return shingled, b_keys(b[shingled], settings)


def repeated(counters: Counters) -> HeavyKeys:
    """The keys that may stand twice or more."""
    return counters.heavy(2)


def crowded(counters: Counters) -> HeavyKeys:
    """The keys that may stand as often as the counters count."""
    return counters.heavy(counters.cap)


def candidate_rows(
    rows: Block, settings: NearDuplicateSettings, keys: HeavyKeys, crowds: HeavyKeys,
) -> Iterator[Block | TaggedOutput]:
    """Key rows of pages that equal no other; rows with a hash of what is `equal` of those that may,
    to be brought into classes first (CLASSES)."""
    shingled, hashes = class_keys(rows)
    heavy = shingled & keys.may_hold(Block({"key": hashes}))
    yield TaggedOutput(CLASSES, rows.with_columns(equal=hashes).take(heavy))
    yield from leader_rows(rows.take(~heavy), settings, Shared(keys, crowds))


def leader_rows(
    rows: Block, settings: NearDuplicateSettings, shared: Shared,
) -> Iterator[Block | TaggedOutput]:
    """Key rows of pages that are compared, with keys that others may share. Where C has no
    keys, the pages themselves (LEADERS)."""
    yield from _key_rows(rows, *_keys_b(rows, settings), shared)
    masks = key_masks(settings)
    if masks is None:
        yield TaggedOutput(LEADERS, rows)
        return
    yield from _key_rows(
        rows, np.arange(len(rows)), c_keys(as_words(rows.array("c")), masks), shared)


def _key_rows(
    rows: Block, at: NDArray[np.int64], keys: NDArray[np.uint64], shared: Shared,
) -> Iterator[Block]:
    small = np.zeros(len(keys), np.uint64)
    for number in range(keys.shape[1]):
        key = Block({"key": keys[:, number]})
        heavy = np.flatnonzero(shared.keys.may_hold(key))
        yield rows.take(at[heavy]).with_columns(
            key=key.array("key")[heavy], small=small[heavy],
            number=np.full(len(heavy), number, np.uint16))
        if number < _NUMBERED:
            few = ~shared.crowds.may_hold(key)
            small |= few.astype(np.uint64) << np.uint64(number)


def equal_classes(
    bucket: int, slabs: Iterator[Block], settings: NearDuplicateSettings, keys: HeavyKeys,
    crowds: HeavyKeys,
) -> Iterator[Block | TaggedOutput]:
    """Rows sorted by what is equal and page -> key rows of the pages that are compared: all of a
    class of up to MOST_EQUAL pages, the first of a larger one.

    Also STARS: pairs of the first page and each other of a large class; and SKIPPED: how many
    pairs of its pages these leave out.
    """
    shared = Shared(keys, crowds)
    for found in decided_classes(slabs, ("equal",), MOST_EQUAL):
        follows = found.large & (found.place > 0)
        yield TaggedOutput(STARS, star_pairs(
            found.rows.take(found.first[follows]), found.rows.take(found.new[follows]), settings))
        yield TaggedOutput(SKIPPED, Block({
            "by": np.full(1, NOT_LISTED, np.uint8),
            "pairs": np.array([(found.place[follows] - 1).sum()])}))
        leaders = found.rows.take(found.new[~follows]).without("equal")
        yield from leader_rows(leaders, settings, shared)
