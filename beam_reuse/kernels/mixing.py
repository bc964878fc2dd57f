"""Mixing of 64-bit words, for fingerprints that are computed from fingerprints."""

import numpy as np

from beam_reuse.kernels.compiled import kernel

_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_ODD = np.uint64(0x9E3779B97F4A7C15)


@kernel
def mix(word: np.uint64) -> np.uint64:
    """A bijection of 64-bit words in which every bit depends on every bit (splitmix64's)."""
    word = (word ^ (word >> np.uint64(30))) * _M1
    word = (word ^ (word >> np.uint64(27))) * _M2
    return word ^ (word >> np.uint64(31))


@kernel
def chain(state: np.uint64, word: np.uint64) -> np.uint64:
    """The state of a fingerprint after one more word: a bijection of either, given the other,
    in which order counts. The end of a chain is to be mixed."""
    turned = (state << np.uint64(23)) | (state >> np.uint64(41))
    return (turned ^ word) * _ODD
