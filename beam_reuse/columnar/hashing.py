"""64-bit hashes of byte strings and of fixed-width values, from one fixed seed.

Bytes are hashed by XXH64 and integers by a bijective finaliser, so that the top bits choose
buckets evenly and, over a 64-bit fingerprint that is already well mixed, nothing collides.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from beam_reuse.kernels.compiled import frozen, kernel
from beam_reuse.kernels.mixing import mix as mix_word

SEED = np.uint64(0x6265616D72657573)

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_U = np.uint64
_0, _1, _7, _11, _12, _18, _23, _27, _29, _31, _32, _33, _37, _64 = (
    np.uint64(n) for n in (0, 1, 7, 11, 12, 18, 23, 27, 29, 31, 32, 33, 37, 64)
)


@njit(inline="always")
def _rotl(x, r):  # type: ignore[no-untyped-def]
    return (x << r) | (x >> (_64 - r))


@njit(inline="always")
def _word(data, p):  # type: ignore[no-untyped-def]
    """Eight bytes at `p`, little-endian; LLVM turns this into one load."""
    return (
        _U(data[p])
        | (_U(data[p + 1]) << _U(8))
        | (_U(data[p + 2]) << _U(16))
        | (_U(data[p + 3]) << _U(24))
        | (_U(data[p + 4]) << _U(32))
        | (_U(data[p + 5]) << _U(40))
        | (_U(data[p + 6]) << _U(48))
        | (_U(data[p + 7]) << _U(56))
    )


@njit(inline="always")
def _half(data, p):  # type: ignore[no-untyped-def]
    return (
        _U(data[p])
        | (_U(data[p + 1]) << _U(8))
        | (_U(data[p + 2]) << _U(16))
        | (_U(data[p + 3]) << _U(24))
    )


@njit(inline="always")
def _round(acc, word):  # type: ignore[no-untyped-def]
    return _rotl(acc + word * _P2, _31) * _P1


@kernel
def _xxh64(data, start, end, seed):  # type: ignore[no-untyped-def]
    p = start
    if end - start >= 32:
        a = seed + _P1 + _P2
        b = seed + _P2
        c = seed
        d = seed - _P1
        while p + 32 <= end:
            a = _round(a, _word(data, p))
            b = _round(b, _word(data, p + 8))
            c = _round(c, _word(data, p + 16))
            d = _round(d, _word(data, p + 24))
            p += 32
        h = _rotl(a, _1) + _rotl(b, _7) + _rotl(c, _12) + _rotl(d, _18)
        h = (h ^ _round(_0, a)) * _P1 + _P4
        h = (h ^ _round(_0, b)) * _P1 + _P4
        h = (h ^ _round(_0, c)) * _P1 + _P4
        h = (h ^ _round(_0, d)) * _P1 + _P4
    else:
        h = seed + _P5
    h += _U(end - start)
    while p + 8 <= end:
        h = _rotl(h ^ _round(_0, _word(data, p)), _27) * _P1 + _P4
        p += 8
    if p + 4 <= end:
        h = _rotl(h ^ (_half(data, p) * _P1), _23) * _P2 + _P3
        p += 4
    while p < end:
        h = _rotl(h ^ (_U(data[p]) * _P5), _11) * _P1
        p += 1
    h = (h ^ (h >> _33)) * _P2
    h = (h ^ (h >> _29)) * _P3
    return h ^ (h >> _32)


@kernel
def hash_values(offsets, data, seed):  # type: ignore[no-untyped-def]
    """XXH64 of data[offsets[i]:offsets[i+1]] for each i."""
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        out[i] = _xxh64(data, offsets[i], offsets[i + 1], seed)
    return out


@kernel
def hash_fixed(data, width, seed):  # type: ignore[no-untyped-def]
    """XXH64 of each stretch of `width` bytes (`width` > 0)."""
    out = np.empty(len(data) // width, np.uint64)
    for i in range(len(out)):
        out[i] = _xxh64(data, i * width, (i + 1) * width, seed)
    return out


@kernel
def mix(words):  # type: ignore[no-untyped-def]
    """A bijective finaliser of 64-bit words (that of splitmix64), seeded."""
    out = np.empty(len(words), np.uint64)
    for i in range(len(words)):
        out[i] = mix_word(words[i] + SEED)
    return out


def combine(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hash of a row whose leading columns hash to `left` and the next to `right`."""
    with np.errstate(over="ignore"):
        out: NDArray[np.uint64] = mix(frozen(left * _P1 + right))
    return out
