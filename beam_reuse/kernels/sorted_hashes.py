"""Looking up 20-byte hashes among sorted rows: a Bloom filter, an index by prefix, the rows.

A row is a hash and what is known of it, compared as bytes. The hashes are SHA-1 and so well
mixed by themselves: their bytes serve as the filter's hash. Where they are not (a made-up
list) answers stay right and only take longer.
"""

import numpy as np

from beam_reuse.kernels.bloom import LINE_WORDS, has_bits, set_bits
from beam_reuse.kernels.byte_rows import compare_rows, word_at
from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.sha1 import DIGEST_BYTES

_LOW = np.uint64(0xFFFFFFFF)


@kernel
def _line(word: np.uint64, lines: int) -> np.int64:
    """floor(word * lines / 2**64), for fewer than 2**32 lines."""
    count = np.uint64(lines)
    low = ((word & _LOW) * count) >> np.uint64(32)
    return np.int64(((word >> np.uint64(32)) * count + low) >> np.uint64(32))


@kernel
def fill_filter(words: np.ndarray, rows: np.ndarray) -> None:
    """Set the bits of every row's hash in a filter of `len(words) // 8` lines.

    The first eight bytes choose the line, so that sorted rows fill it from front to back;
    the next eight choose seven bits of it.
    """
    lines = len(words) // LINE_WORDS
    for row in range(len(rows)):
        start = _line(word_at(rows, row, 0), lines) * LINE_WORDS
        set_bits(words, start, word_at(rows, row, 8))


@kernel
def _may_hold(words: np.ndarray, asked: np.ndarray, row: int) -> bool:
    start = _line(word_at(asked, row, 0), len(words) // LINE_WORDS) * LINE_WORDS
    return has_bits(words, start, word_at(asked, row, 8))


@kernel
def count_prefixes(counts: np.ndarray, rows: np.ndarray, bits: int) -> None:
    """Add the number of rows with prefix p (their first `bits` bits) to `counts[p + 1]`."""
    shift = np.uint64(64 - bits)
    for row in range(len(rows)):
        counts[np.int64(word_at(rows, row, 0) >> shift) + 1] += np.uint64(1)


@kernel
def find_ranges(
    words: np.ndarray, starts: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which of `asked` (20 bytes each) pass the filter `words`, and for each of these the rows
    low to high - 1 among which it is if it is there.

    `starts[p]` is the first row with prefix p or a larger one, for 2**bits prefixes, and the
    number of rows at the end. Cost: one line of memory for most of those that are not there.
    """
    bits = 0
    while (len(starts) - 1) >> (bits + 1):
        bits += 1
    shift = np.uint64(64 - bits)
    at = np.empty(len(asked), np.int64)
    low = np.empty(len(asked), np.int64)
    high = np.empty(len(asked), np.int64)
    count = 0
    for i in range(len(asked)):
        if _may_hold(words, asked, i):
            prefix = np.int64(word_at(asked, i, 0) >> shift)
            at[count], low[count], high[count] = i, starts[prefix], starts[prefix + 1]
            count += 1
    return at[:count].copy(), low[:count].copy(), high[:count].copy()


@kernel
def find_in_ranges(
    rows: np.ndarray, low: np.ndarray, high: np.ndarray, asked: np.ndarray, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each i the rows first to end - 1 from the sorted rows low[i] to high[i] - 1 that
    have the hash asked[at[i]]; first == end if there are none. Compares all 20 bytes."""
    first, end = np.empty(len(at), np.int64), np.empty(len(at), np.int64)
    for i in range(len(at)):
        a, b = low[i], high[i]
        while a < b:
            middle = (a + b) // 2
            if compare_rows(rows, middle, asked, at[i], DIGEST_BYTES) < 0:
                a = middle + 1
            else:
                b = middle
        first[i] = a
        while a < high[i] and compare_rows(rows, a, asked, at[i], DIGEST_BYTES) == 0:
            a += 1
        end[i] = a
    return first, end


@kernel
def first_disorder(rows: np.ndarray) -> int:
    """The first row whose bytes are below those of the row before it, or -1."""
    before = np.uint64(0)
    for row in range(len(rows)):
        word = word_at(rows, row, 0)
        if word < before or (row and word == before and compare_rows(
                rows, row - 1, rows, row, rows.shape[1]) > 0):
            return row
        before = word
    return -1
