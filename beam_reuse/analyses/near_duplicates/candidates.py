"""From signatures to candidates: classes of equal signatures, and keys that pages share; no Beam.

A key row is a row of signatures with a `key`, its `number`, and `small`: bit n is set if the page's
key of that number, of the same algorithm, is surely shared by at most `max_group` pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.comparisons import SKIPPED, verified
from beam_reuse.analyses.near_duplicates.signatures import Decided, as_words, decided_classes
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import Counters, HeavyKeys
from beam_reuse.core.near_duplicates import MOST_EQUAL, b_keys, c_keys, key_masks
from beam_reuse.core.settings import NearDuplicateSettings

CLASSES, EQUAL, MEMBERS, LEADERS = "classes", "equal", "members", "leaders"
NOT_LISTED = 2  # numbers from here on are of pairs of equal pages, before it of crowds
_NUMBERED = 64


@dataclass(frozen=True)
class Shared:
    """The keys that may stand twice or more, and those that may stand too often."""

    keys: HeavyKeys
    crowds: HeavyKeys


class Sameness(IntEnum):
    """In which signatures the pages of a class are equal."""

    B = 0
    C = 1
    BOTH = 2


def _has_b(b: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.asarray(b.any(axis=1))


def class_keys(rows: Block) -> Iterator[tuple[Sameness, NDArray[np.int64], NDArray[np.uint64]]]:
    """For each kind of class the rows that may belong to one and the hashes of what is equal."""
    shingled = np.flatnonzero(_has_b(as_words(rows.array("b"))))
    every = np.arange(len(rows))
    for same, at, columns in ((Sameness.B, shingled, ("b",)), (Sameness.C, every, ("c",)),
                              (Sameness.BOTH, shingled, ("b", "c"))):
        tagged = Block({"same": np.full(len(at), same, np.uint8),
                        **{name: rows[name].take(at) for name in columns}})
        yield same, at, tagged.hash_rows(("same", *columns))


def counted_keys(rows: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """Every hash and key by which pages are brought together."""
    for _, _, hashes in class_keys(rows):
        yield Block({"key": hashes})
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
    """Key rows of pages whose signature is the only one of its kind; rows with `same` and
    `equal` of the others, to be brought into classes first (CLASSES)."""
    shared = Shared(keys, crowds)
    for same, at, hashes in class_keys(rows):
        heavy = keys.may_hold(Block({"key": hashes}))
        yield TaggedOutput(CLASSES, rows.take(at[heavy]).with_columns(
            same=np.full(int(heavy.sum()), same, np.uint8), equal=hashes[heavy]))
        if same is not Sameness.BOTH:
            yield from leader_rows(rows.take(at[~heavy]), same, settings, shared)


def leader_rows(
    rows: Block, same: Sameness, settings: NearDuplicateSettings, shared: Shared,
) -> Iterator[Block | TaggedOutput]:
    """Key rows of pages that are compared, with keys that others may share. Where C has no
    keys, the pages themselves (LEADERS)."""
    if same is Sameness.B:
        yield from _key_rows(rows, *_keys_b(rows, settings), shared)
        return
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
    """Rows sorted by `same`, what is equal, and page -> key rows of the pages that are compared:
    all of a class of up to MOST_EQUAL pages, the first of a larger one.

    Also EQUAL: all pairs of a small class, those of the first page and each other of a large
    one; SKIPPED: how many pairs of large ones these leave out; and MEMBERS: `same`, `page` and
    its `leader`, of pages of large ones that are not the first.
    """
    shared = Shared(keys, crowds)
    for found in decided_classes(slabs, ("same", "equal"), MOST_EQUAL):
        left, right = _equal_pairs(found)
        yield TaggedOutput(EQUAL, verified(
            found.rows.take(left), found.rows.take(right), settings))
        rows, leaders = found.rows.take(found.new), found.rows.array("page")[found.first]
        follows = found.large & (found.place > 0)
        yield TaggedOutput(MEMBERS, Block({
            "same": rows["same"], "page": rows["page"], "leader": leaders}).take(follows))
        kinds = rows.array("same")
        rows = rows.without("same", "equal")
        for same in (Sameness.B, Sameness.C):
            of_kind = kinds == same
            yield TaggedOutput(SKIPPED, Block({
                "by": np.full(1, NOT_LISTED + same, np.uint8),
                "pairs": np.array([(found.place[follows & of_kind] - 1).sum()])}))
            yield from leader_rows(rows.take(of_kind & ~follows), same, settings, shared)


def _equal_pairs(found: Decided) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows with those of the same class before them, in large classes with the first only."""
    count = np.where(found.large, np.minimum(found.place, 1), found.place)
    each = np.repeat(np.arange(len(count)), count)
    step = np.arange(len(each)) - np.repeat(np.cumsum(count) - count, count)
    return found.first[each] + step, found.new[each]
