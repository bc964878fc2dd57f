"""A part written again: with chunks by other settings, or without what does not stand."""

import os
import uuid

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from beam_reuse.columnar.store import full_disk_told
from beam_reuse.core.chunking import chunk_page
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.files import is_local, open_files
from beam_reuse.io.part_columns import chunk_columns
from beam_reuse.io.parts import part_writer


def rewrite_part(source: str, target: str, first_offset: int, chunks: ChunkSettings | None) -> None:
    """Copy a part: its pages at `first_offset` or later, cut by `chunks` unless it is None.

    The target appears whole; it may be the source itself. Memory: one row group.
    """
    files = open_files(source)
    temporary = f"{target}.{uuid.uuid4().hex}.tmp"
    with (full_disk_told(os.path.dirname(target)), files.open(source) as opened,
          open_files(target).create(temporary) as sink):
        part = pq.ParquetFile(opened)
        with part_writer(sink, part.schema_arrow) as writer:
            for group in range(part.num_row_groups):
                rows = part.read_row_group(group)
                rows = rows.filter(pc.greater_equal(rows["offset"], first_offset))
                if chunks is not None:
                    rows = _cut_anew(rows, chunks)
                if rows.num_rows:
                    writer.write_table(rows, row_group_size=1 << 40)
    if is_local(target):
        os.replace(temporary, target)
    else:
        open_files(target).move(temporary, target)


def _cut_anew(rows: pa.Table, settings: ChunkSettings) -> pa.Table:
    cut = [
        chunk_page(payload.as_py(), Kind(kind.as_py()), settings)
        for payload, kind in zip(rows["payload"], rows["kind"], strict=True)
    ]
    counts = pa.array([len(chunks) for chunks in cut], pa.int64())
    for name, column in {**chunk_columns(cut), "chunk_count": counts}.items():
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), column)
    return rows
