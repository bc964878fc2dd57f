"""Lines of a blocked Bloom filter: seven bits of 64 bytes, one line of the processor's cache."""

import numpy as np

from beam_reuse.kernels.compiled import kernel

LINE_WORDS = 8
_PROBES = 7
_LINE_MASK = np.uint64(64 * LINE_WORDS - 1)


@kernel
def set_bits(words: np.ndarray, start: np.int64, bits: np.uint64) -> None:
    """Set the bits that nine bits of `bits` at a time name, in the line that begins at
    `words[start]`."""
    for _ in range(_PROBES):
        bit = bits & _LINE_MASK
        words[start + np.int64(bit >> np.uint64(6))] |= np.uint64(1) << (bit & np.uint64(63))
        bits >>= np.uint64(9)


@kernel
def has_bits(words: np.ndarray, start: np.int64, bits: np.uint64) -> bool:
    """Whether all these bits are set."""
    for _ in range(_PROBES):
        bit = bits & _LINE_MASK
        word = words[start + np.int64(bit >> np.uint64(6))]
        if not (word >> (bit & np.uint64(63))) & np.uint64(1):
            return False
        bits >>= np.uint64(9)
    return True
