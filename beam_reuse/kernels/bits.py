"""Bits of words."""

import numpy as np

from beam_reuse.kernels.compiled import kernel

_PAIRS, _QUADS, _BYTES, _SUM = (
    np.uint64(int(byte * 8, 16)) for byte in ("55", "33", "0F", "01"))


@kernel
def ones(word: np.uint64) -> np.uint64:
    """Bits that are set. LLVM makes one instruction of this."""
    word -= (word >> np.uint64(1)) & _PAIRS
    word = (word & _QUADS) + ((word >> np.uint64(2)) & _QUADS)
    word = (word + (word >> np.uint64(4))) & _BYTES
    return (word * _SUM) >> np.uint64(56)
