"""Compact lists read from end to end, as batches of labels."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from beam_reuse.io.labels.batches import label_batch
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.layout import NO_SOURCE, damaged, unpack_labels

BATCH_ROWS = 1 << 16


def compact_batches(path: str) -> Iterator[pa.RecordBatch]:
    """All labels of the compact list at `path`, in its order; bytes and text are null."""
    labels = CompactList.open(path)
    names = _names(labels)
    for low in range(0, len(labels), BATCH_ROWS):
        rows = labels.rows[low:low + BATCH_ROWS]
        sources, kinds = unpack_labels(rows["label"])
        places = pa.array(sources.astype(np.int64), mask=sources == NO_SOURCE)
        yield label_batch(rows["sha1"], kinds, source_url=names.take(places).cast(pa.string()))


def _names(labels: CompactList) -> pa.Array:
    names = pa.LargeStringArray.from_buffers(
        labels.layout.names, pa.py_buffer(labels.name_offsets), pa.py_buffer(labels.names))
    try:
        names.validate(full=True)
    except pa.ArrowInvalid:
        raise damaged(labels.path, "a name that is not UTF-8") from None
    return names
