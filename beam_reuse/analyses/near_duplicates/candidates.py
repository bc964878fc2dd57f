"""From signatures to candidates: keys that pages share.

A key row is a row of signatures with a `key`, its `number`, and `small`: bit n is set if the page's
key of that number, of the same algorithm, is surely shared by at most `max_group` pages.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.definition import (
    as_words,
    b_keys,
    c_keys,
    key_masks,
    wide_masks,
)
from beam_reuse.analyses.near_duplicates.equal_pages import has_shingles
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import Counters, HeavyKeys
from beam_reuse.columnar.repeats import Repeats
from beam_reuse.columnar.schema import FINGERPRINT, SMALL, UNSIGNED, columns, gives

_NUMBERED = 64
# Keys that a counter of crowds may have, of the size of the largest group.
_PART_OF_GROUP = 32


@dataclass(frozen=True)
class Shared:
    """The keys that may occur twice or more, and those that may occur too often."""

    keys: HeavyKeys
    crowds: HeavyKeys


class _SharedCounters(NamedTuple):
    """What is counted for `Shared`: which keys occur once and twice, and by far fewer counters
    which occur too often."""

    repeats: Repeats
    counters: Counters


@dataclass(frozen=True)
class FindShared:
    """`Shared` of all rows with a `key`. 2**`bits` of them are told apart; groups of `most` are
    not too large."""

    keys: ClassVar[tuple[str, ...]] = ("key",)
    bits: int
    most: int

    def start(self) -> _SharedCounters:
        fewer = max(self.most // _PART_OF_GROUP, 1).bit_length() - 1
        return _SharedCounters(Repeats.sized(self.keys, self.bits), Counters.sized(
            self.keys, max(self.bits - fewer, 3), self.most + 1))

    def add(self, held: _SharedCounters, block: Block) -> _SharedCounters:
        for each in held:
            each.add(block)
        return held

    def merge(self, held: _SharedCounters, other: _SharedCounters) -> _SharedCounters:
        held.repeats.merge(other.repeats)
        held.counters.merge(other.counters)
        return held

    def finish(self, held: _SharedCounters | None) -> Shared:
        repeats, counters = held or replace(self, bits=3).start()
        return Shared(repeats.heavy(), counters.heavy())


def _with_key(signed: pa.Schema, *_: Any) -> pa.Schema:
    return columns(signed, key=FINGERPRINT, number=SMALL, small=UNSIGNED)


@gives(columns(key=FINGERPRINT))
def counted_keys(rows: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """Every key by which pages are brought together: of B, and of C or of its wide pieces."""
    yield Block({"key": _keys_b(rows, settings)[1].ravel()})
    masks = key_masks(settings)
    masks = wide_masks(settings) if masks is None else masks
    yield Block({"key": c_keys(as_words(rows.array("c")), masks).ravel()})


def may_share(
    rows: Block, settings: NearDuplicateSettings, among: HeavyKeys,
) -> NDArray[np.bool_]:
    """Which rows may have a key of `counted_keys` that is `among` these."""
    masks = key_masks(settings)
    assert masks is not None, "pages that are similar without a key in common"
    at, of_b = _keys_b(rows, settings)
    shared = np.zeros(len(rows), np.bool_)
    shared[at] = _any_held(of_b, among)
    return shared | _any_held(c_keys(as_words(rows.array("c")), masks), among)


def _any_held(keys: NDArray[np.uint64], among: HeavyKeys) -> NDArray[np.bool_]:
    held = among.may_hold(Block({"key": keys.ravel()}))
    return np.asarray(held.reshape(keys.shape).any(axis=1))


def _keys_b(
    rows: Block, settings: NearDuplicateSettings
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    shingled = np.flatnonzero(has_shingles(rows))
    return shingled, b_keys(as_words(rows.array("b"))[shingled], settings)


@gives(_with_key)
def key_rows(rows: Block, settings: NearDuplicateSettings, shared: Shared) -> Iterator[Block]:
    """Rows once for each key that others may share; keys of C only where they find all pairs."""
    yield from _rows_by_key(rows, *_keys_b(rows, settings), shared)
    masks = key_masks(settings)
    if masks is not None:
        keys = c_keys(as_words(rows.array("c")), masks)
        yield from _rows_by_key(rows, np.arange(len(rows)), keys, shared)


def _rows_by_key(
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


@gives(_with_key)
def wide_rows(rows: Block, settings: NearDuplicateSettings, shared: Shared) -> Iterator[Block]:
    """Rows with keys of their wide pieces that may be crowded."""
    keys = c_keys(as_words(rows.array("c")), wide_masks(settings))
    for number in range(keys.shape[1]):
        key = keys[:, number]
        at = np.flatnonzero(shared.crowds.may_hold(Block({"key": key})))
        yield rows.take(at).with_columns(
            key=key[at], number=np.full(len(at), number, np.uint16),
            small=np.zeros(len(at), np.uint64))
