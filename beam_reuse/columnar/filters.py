"""Semi-join filters: drop rows that cannot matter before they are shuffled.

A filter never drops a row that matters; it may keep a few that do not.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.schema import gives, same
from beam_reuse.kernels.bloom import LINE_WORDS, has_bits, set_bits
from beam_reuse.kernels.compiled import frozen, kernel

_MAX_BITS = 1 << 34
_BITS_OF_KEY = 12
# A filter has memory for the hashes of so many times fewer keys than it is for.
_HASHES_OF_FILTER = -(-64 // _BITS_OF_KEY)
_REMIX = np.uint64(0x9FB21C651E98DF25)


class RowFilter(Protocol):
    """Says of each row whether it may matter."""

    def may_hold(self, block: Block) -> NDArray[np.bool_]: ...


@gives(same)
def keep_matching(block: Block, row_filter: RowFilter) -> Block:
    """The rows of `block` that the filter cannot rule out."""
    mask = row_filter.may_hold(block)
    return block if mask.all() else block.take(mask)


class KeyFilter:
    """A set of keys in a blocked Bloom filter: 7 bits of one 64-byte line per key.

    No false negatives. At 12 bits per key some 4 in 1,000 rows that are not in the set pass.
    `keys` names the columns it is asked with; they may have other names than when it was
    built (`renamed`), but the same types.
    """

    def __init__(self, keys: Sequence[str], words: NDArray[np.uint64]) -> None:
        self.keys, self.words = tuple(keys), words

    @staticmethod
    def sized(keys: Sequence[str], expected: int, bits_per_key: int = _BITS_OF_KEY) -> "KeyFilter":
        """An empty filter for `expected` distinct keys; more of them only pass more rows."""
        bits = min(max(expected, 1) * bits_per_key, _MAX_BITS)
        lines = -(-bits // (64 * LINE_WORDS))
        return KeyFilter(keys, np.zeros(lines * LINE_WORDS, np.uint64))

    def add(self, block: Block) -> None:
        self.add_hashes(block.hash_rows(self.keys))

    def add_hashes(self, hashes: NDArray[np.uint64]) -> None:
        """Add keys by what `hash_rows` gives of them."""
        _fill(self.words, frozen(hashes))

    def may_hold(self, block: Block) -> NDArray[np.bool_]:
        out: NDArray[np.bool_] = _test(
            frozen(self.words), frozen(block.hash_rows(self.keys))
        )
        return out


class KeysSeen:
    """Keys of which a filter is to be made. It is as large as they need: their hashes are held
    while these take less memory than a filter of `expected` keys, then it is that one.
    """

    def __init__(self, keys: Sequence[str], expected: int) -> None:
        self.keys, self.expected = tuple(keys), expected
        self._hashes: list[NDArray[np.uint64]] = []
        self._held = 0
        self._filter: KeyFilter | None = None

    def add(self, block: Block) -> None:
        self._add(block.hash_rows(self.keys))

    def merge(self, other: "KeysSeen") -> None:
        if other._filter is None:
            for hashes in other._hashes:
                self._add(hashes)
        elif self._filter is None:
            mine, self._hashes, self._filter = self._hashes, [], other._filter
            for each in mine:
                self._filter.add_hashes(each)
        else:
            self._filter.words |= other._filter.words

    def filter(self) -> KeyFilter:
        """The filter of all keys."""
        if self._filter is not None:
            return self._filter
        self._settle()
        made = KeyFilter.sized(self.keys, self._held)
        for hashes in self._hashes:
            made.add_hashes(hashes)
        return made

    def _add(self, hashes: NDArray[np.uint64]) -> None:
        if self._filter is not None:
            self._filter.add_hashes(hashes)
        elif len(hashes):
            self._hashes.append(hashes)
            self._held += len(hashes)
            if self._held > self.expected // _HASHES_OF_FILTER:
                self._settle()
                if self._held > self.expected // _HASHES_OF_FILTER // 2:
                    self._filter = KeyFilter.sized(self.keys, self.expected)
                    self._filter.add_hashes(self._hashes.pop())

    def _settle(self) -> None:
        """Hold each hash once."""
        if self._hashes:
            self._hashes = [np.unique(np.concatenate(self._hashes))]
            self._held = len(self._hashes[0])


@kernel
def _line(words, hashed):  # type: ignore[no-untyped-def]
    """Where the line of a hash begins."""
    lines = np.uint64(len(words) // LINE_WORDS)
    return np.int64(((hashed >> np.uint64(32)) * lines) >> np.uint64(32)) * LINE_WORDS


@kernel
def _fill(words, hashes):  # type: ignore[no-untyped-def]
    for h in hashes:
        set_bits(words, _line(words, h), h * _REMIX)


@kernel
def _test(words, hashes):  # type: ignore[no-untyped-def]
    out = np.empty(len(hashes), np.bool_)
    for i in range(len(hashes)):
        out[i] = has_bits(words, _line(words, hashes[i]), hashes[i] * _REMIX)
    return out
