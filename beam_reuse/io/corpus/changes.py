"""Pages of a part that are not written as they are: a file of changes beside it.

A row for each such page, in the order of the part: `row`, its number there; what stays of it
(`payload`, null if nothing was taken out, with `kind` and `charset`), what was `stripped`, and the
`flag` that it is marked with.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beam_reuse.columnar.store import full_disk_told
from beam_reuse.core.pages import Kind
from beam_reuse.io.files import open_files, written_whole
from beam_reuse.io.parts import read_part

STRIPPED = pa.list_(pa.struct([("reason", pa.string()), ("text", pa.string())]))
FLAG = pa.struct([
    ("reason", pa.string()), ("because_of", pa.string()), ("containment", pa.float64())])
_SCHEMA = pa.schema([
    pa.field("row", pa.int64(), False), pa.field("payload", pa.binary()),
    pa.field("kind", pa.uint8(), False), pa.field("charset", pa.string(), False),
    pa.field("stripped", STRIPPED), pa.field("flag", FLAG),
])
_TOGETHER = 8 << 20


class Change(NamedTuple):
    """How a page is written. `payload` is None where nothing was taken out of it; `stripped` and
    `flag` are as rows show them, None where there is nothing to show."""

    payload: bytes | None
    kind: Kind
    charset: str
    stripped: list[dict[str, str]] | None
    flag: Mapping[str, Any] | None


def write_changes(path: str, changes: Iterator[tuple[int, Change]]) -> int:
    """Write changes of pages, which come in order of their rows; gives their number. The file
    appears whole; without changes there is none. Memory: some MB."""
    first = next(changes, None)
    if first is None:
        return 0
    count = size = 0
    held: list[dict[str, Any]] = []
    with (full_disk_told(os.path.dirname(path)), written_whole(open_files(path), path) as sink,
          pq.ParquetWriter(sink, _SCHEMA, compression="zstd", compression_level=1) as writer):
        for row, change in _after(first, changes):
            held.append({"row": row, **change._asdict()})
            size += len(change.payload or b"")
            count += 1
            if size > _TOGETHER or len(held) > _TOGETHER >> 10:
                writer.write_batch(pa.RecordBatch.from_pylist(held, _SCHEMA))
                held, size = [], 0
        if held:
            writer.write_batch(pa.RecordBatch.from_pylist(held, _SCHEMA))
    return count


def _after(first: tuple[int, Change], rest: Iterator[tuple[int, Change]]) -> Iterator[
        tuple[int, Change]]:
    yield first
    yield from rest


def read_changes(path: str, rows: NDArray[np.int64]) -> Iterator[tuple[int, Change]]:
    """The changes of pages in these rows of their part, in order. Memory: as `read_part`."""
    with open_files(path).open(path) as source:
        there = pq.ParquetFile(source).read(["row"]).column("row").to_numpy()
    wanted = np.flatnonzero(np.isin(there, rows))
    for some in read_part(path, _SCHEMA.names, wanted):
        low, high = np.searchsorted(wanted, (some.first, some.first + len(some)))
        for value in some.batch.take(pa.array(wanted[low:high] - some.first)).to_pylist():
            row = value.pop("row")
            yield row, Change(**{**value, "kind": Kind(value["kind"])})
