"""Random ±1 projections of token sequences: which of them have a positive sum.

Page i has tokens `tokens[offsets[i]:offsets[i + 1]]`, which are 64-bit fingerprints. Bit j of
word w of a token is its sign in projection 64 w + j, so a sum is positive if and only if more
than half of the tokens have that bit set. Ones are counted for 64 projections at a time, in
*planes*: plane k holds bit k of 64 counters.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.mixing import mix

_PLANES = 40
_ZERO = np.uint64(0)


@kernel
def _signs(tokens: np.ndarray, turn: np.uint64, out: np.ndarray) -> None:
    """One word of each token; LLVM makes vectors of it."""
    for i in range(len(tokens)):
        out[i] = mix(tokens[i] ^ turn)


@kernel
def _majority(signs: np.ndarray, planes: np.ndarray) -> np.uint64:
    """The bits that are set in more than half of the words.

    Eight words at a time go through seven adders, whose carry of weight 8 is rippled up.
    """
    for k in range(_PLANES):
        planes[k] = _ZERO
    ones, twos, fours = _ZERO, _ZERO, _ZERO
    eights = len(signs) // 8
    for i in range(eights):
        eight = signs[8 * i : 8 * i + 8]
        ones, twos_a = _add(ones, eight[0], eight[1])
        ones, twos_b = _add(ones, eight[2], eight[3])
        twos, fours_a = _add(twos, twos_a, twos_b)
        ones, twos_a = _add(ones, eight[4], eight[5])
        ones, twos_b = _add(ones, eight[6], eight[7])
        twos, fours_b = _add(twos, twos_a, twos_b)
        fours, carry = _add(fours, fours_a, fours_b)
        _ripple(planes, 3, carry)
    planes[0], planes[1], planes[2] = ones, twos, fours
    for i in range(8 * eights, len(signs)):
        _ripple(planes, 0, signs[i])
    return _above(planes, len(signs) // 2)


@kernel
def _add(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    """64 full adders: sums and carries."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@kernel
def _ripple(planes: np.ndarray, lowest: int, carry: np.uint64) -> None:
    """Add 2**lowest to the counters whose bit is set in `carry`."""
    k = lowest
    while carry != _ZERO:
        up = planes[k] & carry
        planes[k] ^= carry
        carry = up
        k += 1


@kernel
def _above(planes: np.ndarray, limit: int) -> np.uint64:
    """The counters that are greater than `limit`."""
    greater, equal = _ZERO, ~_ZERO
    for k in range(_PLANES - 1, -1, -1):
        if (limit >> k) & 1:
            equal &= planes[k]
        else:
            greater |= equal & planes[k]
            equal &= ~planes[k]
    return greater


@kernel
def projections(
    tokens: np.ndarray, offsets: np.ndarray, turns: np.ndarray, last: np.uint64
) -> np.ndarray:
    """For each page one word per turn: the signs of 64 projections; the last word is cut to the
    bits of `last`. Exact for pages of any length."""
    pages = len(offsets) - 1
    longest = 0
    for page in range(pages):
        longest = max(longest, offsets[page + 1] - offsets[page])
    signs, planes = np.empty(longest, np.uint64), np.empty(_PLANES, np.uint64)
    out = np.empty((pages, len(turns)), np.uint64)
    for page in range(pages):
        here = tokens[offsets[page] : offsets[page + 1]]
        for word in range(len(turns)):
            _signs(here, turns[word], signs)
            out[page, word] = _majority(signs[: len(here)], planes)
        out[page, len(turns) - 1] &= last
    return out
