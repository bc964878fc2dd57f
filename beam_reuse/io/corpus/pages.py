"""Pages of a corpus, read from parts."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.core.pages import Kind
from beam_reuse.io.corpus.changes import read_changes
from beam_reuse.io.corpus.records import CorpusPage
from beam_reuse.io.parts import has_columns, read_part

_READ = ("fetched_url", "timestamp", "status", "content_type", "charset", "kind", "payload",
         "record_id", "bytes")
_STORED = ("stored", "form")


def read_pages(path: str, rows: NDArray[np.int64], changes: str = "") -> Iterator[CorpusPage]:
    """The pages of a part that are in these rows, which are in order, as a file of `changes` (or
    none) says. Memory: READ_BYTES, or a row group, of each."""
    stored = has_columns(path, _STORED)
    changed = read_changes(changes, rows) if changes else iter(())
    upcoming = next(changed, None)
    for some in read_part(path, (*_READ, *_STORED) if stored else _READ, rows):
        low, high = np.searchsorted(rows, (some.first, some.first + len(some)))
        batch = some.batch.take(pa.array(rows[low:high] - some.first))
        for row, value in zip(rows[low:high].tolist(), batch.to_pylist(), strict=True):
            change = None
            if upcoming is not None and upcoming[0] == row:
                change, upcoming = upcoming[1], next(changed, None)
            yield CorpusPage(value["fetched_url"], value["timestamp"], value["status"],
                       value["content_type"] or "", value["charset"] or "", Kind(value["kind"]),
                       value["payload"], value["bytes"], value["record_id"] or "",
                       value.get("stored", b""), value.get("form", ""), change)
