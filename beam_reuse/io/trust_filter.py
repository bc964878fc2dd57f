"""Which chunks a store of trust on first use may have, in memory: of most pages it has none."""

from collections.abc import Iterable, Sequence

import numpy as np

from beam_reuse.core.chunking import SHA1
from beam_reuse.io.labels.hash_order import filter_lines
from beam_reuse.kernels.bloom import LINE_WORDS
from beam_reuse.kernels.byte_rows import byte_rows
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.sorted_hashes import fill_filter, find_ranges

_ROOM = 1 << 12
# No rows are looked for behind the filter.
_NO_ROWS = frozen(np.zeros(3, np.uint64))


class TrustFilter:
    """A Bloom filter with room for twice the hashes that it is made of: it passes all that were
    added, and some 4 in 1,000 of others at most until it is `full`. Memory: 3 bytes for each."""

    def __init__(self, hashes: Sequence[bytes]) -> None:
        self._left = len(hashes) + _ROOM
        self._words = np.zeros(filter_lines(len(hashes) + self._left) * LINE_WORDS, np.uint64)
        self._asked = frozen(self._words.view())
        fill_filter(self._words, _rows(hashes))

    @property
    def full(self) -> bool:
        """Whether more was added than there is room for."""
        return self._left < 0

    def add(self, hashes: Sequence[bytes]) -> None:
        """Let further hashes pass."""
        self._left -= len(hashes)
        fill_filter(self._words, _rows(hashes))

    def passed(self, hashes: Sequence[bytes]) -> list[bytes]:
        """Those that may be among what was added, in their order."""
        at, _, _ = find_ranges(self._asked, _NO_ROWS, _rows(hashes))
        return [hashes[place] for place in at.tolist()]


def _rows(hashes: Iterable[bytes]) -> np.ndarray:
    return byte_rows(np.frombuffer(b"".join(hashes), SHA1))
