"""Sorted rows with what finds them: a Bloom filter and an index by prefix, as arrays.

A row is the bytes of a hash and eight more (see `layout`), and sorts as bytes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1
from beam_reuse.kernels.bloom import LINE_WORDS
from beam_reuse.kernels.byte_rows import byte_rows
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.sorted_hashes import (
    count_prefixes,
    fill_filter,
    find_in_ranges,
    find_ranges,
    first_disorder,
)

BITS_PER_ROW = 12
ROWS_PER_PREFIX = 16
MAX_PREFIX_BITS = 28


@dataclass(frozen=True)
class HeldHashes:
    """A set of hashes: sorted `rows` of bytes that begin with one, and what finds them without
    looking at most. `filter_words` and `starts` are as `kernels.sorted_hashes.find_ranges` takes
    them; all are read-only and may be memory-mapped."""

    filter_words: NDArray[np.uint64]
    starts: NDArray[np.uint64]
    rows: NDArray[np.uint8]

    @staticmethod
    def of_rows(rows: NDArray[np.uint8]) -> "HeldHashes":
        """The hashes of sorted rows of bytes."""
        words = np.zeros(filter_lines(len(rows)) * LINE_WORDS, np.uint64)
        fill_filter(words, rows)
        starts = np.zeros((1 << prefix_bits(len(rows))) + 1, np.uint64)
        count_prefixes(starts, rows, prefix_bits(len(rows)))
        return HeldHashes(frozen(words), frozen(np.cumsum(starts, dtype=np.uint64)), rows)

    @staticmethod
    def of(hashes: NDArray) -> "HeldHashes":
        """A set of a few hashes ('V20'), in memory."""
        rows = np.zeros(len(hashes), [("sha1", SHA1), ("rest", "V8")])
        rows["sha1"] = hashes
        return HeldHashes.of_rows(byte_rows(sorted_distinct(rows)))

    def ranges(
        self, hashes: NDArray
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Which of `hashes` ('V20') may be there, and the range of rows to look for each in."""
        at, low, high = find_ranges(self.filter_words, self.starts, byte_rows(hashes))
        return at, low, high

    def contain(self, hashes: NDArray) -> NDArray[np.bool_]:
        """Which of `hashes` ('V20') are in the set; all 20 bytes are compared."""
        at, low, high = self.ranges(hashes)
        first, end = find_in_ranges(self.rows, low, high, byte_rows(hashes), at)
        out = np.zeros(len(hashes), np.bool_)
        out[at[first < end]] = True
        return out


def filter_lines(count: int) -> int:
    """Lines of 64 bytes in the filter of `count` rows: 12 bits a row, so that some 4 in 1,000
    hashes that are not there are looked for among the rows."""
    return max(1, -(-count * BITS_PER_ROW // (64 * LINE_WORDS)))


def prefix_bits(count: int) -> int:
    """Bits of the prefix by which `count` rows are indexed: some 16 rows to a prefix."""
    return min(max(1, (count // ROWS_PER_PREFIX).bit_length()), MAX_PREFIX_BITS)


def sorted_distinct(rows: NDArray) -> NDArray:
    """Rows of 28 bytes sorted as bytes, each once.

    Hashes that differ, as a rule, differ in their first 8 bytes, so that sorting by the last
    and then by the first word is enough; if not, all are sorted by.
    """
    words = np.ascontiguousarray(rows).view(
        [("a", ">u8"), ("b", ">u8"), ("c", ">u4"), ("d", ">u8")])
    out = rows[np.argsort(words["d"].astype(np.uint64), kind="stable")]
    first = np.ascontiguousarray(out).view(words.dtype)["a"].astype(np.uint64)
    out = out[np.argsort(first, kind="stable")]
    if first_disorder(byte_rows(out)) >= 0:
        out = rows[np.lexsort([words[name] for name in "dcba"])]
    whole = byte_rows(out)
    new = np.ones(len(out), np.bool_)
    np.any(whole[1:] != whole[:-1], axis=1, out=new[1:])
    return out if new.all() else out[new]
