"""Tables of element names, for kernels to look up what is known of an element.

A name is known by its key: its first 8 bytes, lower-case, as a little-endian number.
"""

from collections.abc import Mapping

import numpy as np

from beam_reuse.kernels.compiled import kernel

SLOTS = 1024

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(54)  # leaves the ten bits that tell 1024 slots apart


def key_of(name: str) -> int:
    """Key of a name of up to 8 bytes; of a longer one the key of its first 8."""
    return int.from_bytes(name.encode()[:8], "little")


def name_table(
    names: Mapping[int, str], other_keys: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Keys and flags of an open-addressed table, by slot.

    `names` has for each flag the names it holds for, between blanks; a name may have several
    flags. A name in `other_keys` has that key instead. Slots without a name are 0 in both.
    In plain Python: it runs at import, where nothing should be compiled.
    """
    keys = np.zeros(SLOTS, np.uint64)
    flags = np.zeros(SLOTS, np.int64)
    for flag, listed in names.items():
        for name in listed.split():
            key = other_keys.get(name, key_of(name))
            slot = (key * int(_MIX) & (1 << 64) - 1) >> int(_SHIFT)
            while keys[slot] not in (0, key):
                slot = (slot + 1) % SLOTS
            keys[slot] = key
            flags[slot] |= flag
    return keys, flags


@kernel
def slot_of(keys: np.ndarray, key: np.uint64) -> int:
    """Where a name is in a table, or the free slot in which it would be: one without flags."""
    slot = np.int64((key * _MIX) >> _SHIFT)
    while keys[slot] and keys[slot] != key:
        slot = (slot + 1) % SLOTS
    return int(slot)
