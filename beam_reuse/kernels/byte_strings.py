"""Byte strings end to end, string i at `data[offsets[i]:offsets[i + 1]]`: words of them, their
order, and which are the same."""

import numpy as np

from beam_reuse.kernels.compiled import kernel


@kernel
def string_words(
    offsets: np.ndarray, data: np.ndarray, rows: np.ndarray, depth: int
) -> np.ndarray:
    """Bytes 8*depth.. of each string as a big-endian word, zeros beyond its end."""
    out = np.empty(len(rows), np.uint64)
    for i in range(len(rows)):
        start = offsets[rows[i]] + 8 * depth
        end = offsets[rows[i] + 1]
        word = np.uint64(0)
        for at in range(start, start + 8):
            word <<= np.uint64(8)
            if at < end:
                word |= np.uint64(data[at])
        out[i] = word
    return out


@kernel
def compare_strings(offsets: np.ndarray, data: np.ndarray, a: int, b: int, skip: int) -> int:
    """-1, 0 or 1 as string a is below, equal to or above b; both are the same up to byte `skip`
    but for zeros at the end."""
    i, j = offsets[a] + skip, offsets[b] + skip
    end_i, end_j = offsets[a + 1], offsets[b + 1]
    while i < end_i and j < end_j:
        if data[i] != data[j]:
            return -1 if data[i] < data[j] else 1
        i += 1
        j += 1
    longer = (end_i - i) - (end_j - j)
    return (longer > 0) - (longer < 0)


@kernel
def number_strings(
    offsets: np.ndarray, data: np.ndarray, hashes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each string its number, counted in order of first appearance, and for each number the
    string where it appears first (both int32), as `hash_tables.number_distinct` does for rows.
    `hashes` are of the strings."""
    rows = len(hashes)
    size = 1024
    while size < 2 * rows:
        size *= 2
    table = np.full(size, -1, np.int32)
    numbers = np.empty(rows, np.int32)
    firsts = np.empty(rows, np.int32)
    count = 0
    for i in range(rows):
        slot = hashes[i] & np.uint64(size - 1)
        while table[slot] >= 0:
            first = firsts[table[slot]]
            if hashes[first] == hashes[i] and compare_strings(offsets, data, first, i, 0) == 0:
                break
            slot = (slot + np.uint64(1)) & np.uint64(size - 1)
        if table[slot] < 0:
            table[slot] = count
            firsts[count] = i
            count += 1
        numbers[i] = table[slot]
    return numbers, firsts[:count].copy()
