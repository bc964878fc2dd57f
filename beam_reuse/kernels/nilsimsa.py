"""Nilsimsa digests of the chunks of one page."""

import numpy as np

from beam_reuse.kernels.chunks import squeeze_white
from beam_reuse.kernels.compiled import kernel

DIGEST_BYTES = 32

_BUCKETS = 256
_PATTERNS = 8
# For each pattern how far back its three bytes lie: 0 is the byte just read.
_FIRST = (0, 0, 0, 0, 0, 0, 4, 4)
_SECOND = (1, 1, 2, 1, 2, 3, 1, 3)
_THIRD = (2, 3, 3, 4, 4, 4, 0, 0)
# How many patterns fit where 0, 1, 2 or 3 bytes lie before: the first ones of the eight.
_PATTERNS_AFTER = (0, 0, 1, 3)
_BYTE = np.uint64(0xFF)
_LOW, _HIGH = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)


def _permutation() -> list[int]:
    """The values TRAN of Nilsimsa's description; on a clash the next free value is taken."""
    values: list[int] = []
    free = set(range(_BUCKETS))
    value = 0
    for _ in range(_BUCKETS):
        doubled = 2 * ((53 * value + 1) % _BUCKETS)
        value = doubled if doubled < _BUCKETS else doubled - (_BUCKETS - 1)
        while value not in free:
            value = (value + 1) % _BUCKETS
        free.remove(value)
        values.append(value)
    return values


def _lanes() -> tuple[np.ndarray, np.ndarray]:
    """What a byte that lies 0 to 4 back adds to the buckets of the eight patterns.

    Pattern n puts (a, b, c) into bucket (TRAN[a + n] ^ TRAN[b] * (2n + 1)) + TRAN[c ^ TRAN[n]],
    modulo 256. Two tables of 5 x 256 numbers, a byte of each for each pattern: what is
    combined by exclusive or, and what is added to it.
    """
    tran = _permutation()
    mixed = np.zeros((5, _BUCKETS), np.uint64)
    added = np.zeros((5, _BUCKETS), np.uint64)
    for n in range(_PATTERNS):
        for byte in range(_BUCKETS):
            lane = 8 * n
            mixed[_FIRST[n], byte] |= np.uint64(tran[(byte + n) % 256] << lane)
            mixed[_SECOND[n], byte] |= np.uint64(tran[byte] * (2 * n + 1) % 256 << lane)
            added[_THIRD[n], byte] |= np.uint64(tran[byte ^ tran[n]] << lane)
    return mixed, added


_MIXED, _ADDED = _lanes()


@kernel
def _buckets(
    b0: np.uint8, b1: np.uint8, b2: np.uint8, b3: np.uint8, b4: np.uint8
) -> np.uint64:
    """Buckets of the eight patterns over five bytes, the last one first: a byte for each.

    The bytes of a word are added without a carry from one to the next.
    """
    mixed = _MIXED[0, b0] ^ _MIXED[1, b1] ^ _MIXED[2, b2] ^ _MIXED[3, b3] ^ _MIXED[4, b4]
    added = _ADDED[0, b0] | _ADDED[2, b2] | _ADDED[3, b3] | _ADDED[4, b4]
    return ((mixed & _LOW) + (added & _LOW)) ^ ((mixed ^ added) & _HIGH)


@kernel
def _count(data: np.ndarray, start: int, end: int, counts: np.ndarray) -> int:
    """Count the trigrams of `data[start:end]` by bucket; their number."""
    counts[:] = 0
    total = 0
    b1 = b2 = b3 = b4 = np.uint8(0)
    for at in range(start, min(start + 4, end)):
        buckets = _buckets(data[at], b1, b2, b3, b4)
        b4, b3, b2, b1 = b3, b2, b1, data[at]
        for _ in range(_PATTERNS_AFTER[at - start]):
            counts[buckets & _BYTE] += 1
            buckets >>= np.uint64(8)
            total += 1
    for at in range(start + 4, end):
        buckets = _buckets(data[at], b1, b2, b3, b4)
        b4, b3, b2, b1 = b3, b2, b1, data[at]
        for _ in range(_PATTERNS):
            counts[buckets & _BYTE] += 1
            buckets >>= np.uint64(8)
        total += _PATTERNS
    return total


@kernel
def digest_chunks(
    data: np.ndarray, starts: np.ndarray, ends: np.ndarray, squeeze: bool
) -> np.ndarray:
    """Digests (rows of 32 bytes) of `data[starts[i]:ends[i]]`, after its white space is
    squeezed if asked; zeros where fewer than 3 bytes are left. Memory: one copy of the
    longest chunk."""
    digests = np.zeros((len(starts), DIGEST_BYTES), np.uint8)
    longest = 0
    for i in range(len(starts)):
        longest = max(longest, ends[i] - starts[i])
    clean = np.empty(longest + 1, np.uint8)
    counts = np.empty(_BUCKETS, np.int64)
    for i in range(len(starts)):
        if squeeze:
            total = _count(clean, 0, squeeze_white(data, starts[i], ends[i], clean), counts)
        else:
            total = _count(data, starts[i], ends[i], counts)
        mean = total >> 8
        for byte in range(DIGEST_BYTES):
            value = 0
            for bit in range(8):
                value |= (counts[8 * byte + bit] > mean) << bit
            digests[i, DIGEST_BYTES - 1 - byte] = value
    return digests
