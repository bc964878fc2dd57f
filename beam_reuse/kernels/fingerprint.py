"""64-bit fingerprints of byte strings: XXH64 with one fixed seed."""

import numpy as np

from beam_reuse.kernels.compiled import kernel

SEED = 0x6265616D5F726575  # "beam_reu": any constant does, but never another one

_SEED = np.uint64(SEED)
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


@kernel
def _rotate(value: np.uint64, bits: int) -> np.uint64:
    return (value << np.uint64(bits)) | (value >> np.uint64(64 - bits))


@kernel
def _word(data: np.ndarray, at: int, count: int) -> np.uint64:
    """`count` bytes from `at`, little-endian."""
    value = np.uint64(0)
    for i in range(count):
        value |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return value


@kernel
def _round(lane: np.uint64, word: np.uint64) -> np.uint64:
    return _rotate(lane + word * _P2, 31) * _P1


@kernel
def _merge(value: np.uint64, lane: np.uint64) -> np.uint64:
    return (value ^ _round(np.uint64(0), lane)) * _P1 + _P4


@kernel
def fingerprint(data: np.ndarray, start: int, end: int) -> np.uint64:
    """XXH64 of `data[start:end]`."""
    at = start
    if end - start >= 32:
        a, b, c, d = _SEED + _P1 + _P2, _SEED + _P2, _SEED, _SEED - _P1
        while at + 32 <= end:
            a = _round(a, _word(data, at, 8))
            b = _round(b, _word(data, at + 8, 8))
            c = _round(c, _word(data, at + 16, 8))
            d = _round(d, _word(data, at + 24, 8))
            at += 32
        value = _rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)
        value = _merge(_merge(_merge(_merge(value, a), b), c), d)
    else:
        value = _SEED + _P5
    value += np.uint64(end - start)
    while at + 8 <= end:
        value = _rotate(value ^ _round(np.uint64(0), _word(data, at, 8)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= end:
        value = _rotate(value ^ (_word(data, at, 4) * _P1), 23) * _P2 + _P3
        at += 4
    while at < end:
        value = _rotate(value ^ (np.uint64(data[at]) * _P5), 11) * _P1
        at += 1
    value = (value ^ (value >> np.uint64(33))) * _P2
    value = (value ^ (value >> np.uint64(29))) * _P3
    return value ^ (value >> np.uint64(32))


@kernel
def fingerprint_each(data: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Fingerprints of the pieces `data[bounds[i]:bounds[i+1]]`."""
    values = np.empty(len(bounds) - 1, np.uint64)
    for i in range(len(values)):
        values[i] = fingerprint(data, bounds[i], bounds[i + 1])
    return values
