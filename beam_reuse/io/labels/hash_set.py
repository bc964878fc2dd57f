"""A set of hashes as a file that workers map into memory: nothing is loaded, all is shared.

The file is a compact list of labels (see `compact`) of any kind and without sources.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.labels import LabelKind
from beam_reuse.io.labels.batches import label_batch
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.compact_writer import write_compact
from beam_reuse.io.labels.hash_order import HeldHashes


def write_hash_set(path: str, hashes: Iterable[NDArray]) -> int:
    """Write the set of all `hashes` ('V20', in any order, repeated or not) to `path`.

    Returns how many distinct ones there are. The same set gives the same bytes; the file
    appears whole. Memory and time: as `write_compact`.
    """
    batches = (label_batch(some, np.full(len(some), LabelKind.ANY, np.uint8)) for some in hashes)
    return write_compact(path, batches, None)


def open_hash_set(path: str) -> HeldHashes:
    """The set that `write_hash_set` wrote to `path`; mapped once per process.

    A path that is not local is copied to a temporary local file first, which goes with
    the process. UserError if the file is not whole.
    """
    return CompactList.open(path).hashes()
