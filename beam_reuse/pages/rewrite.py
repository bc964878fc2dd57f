"""A part written again: with chunks by other settings, or without what is no true record."""

import os
import shutil
import uuid
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import gives, same
from beam_reuse.columnar.store import full_disk_told, make_shared
from beam_reuse.core.chunking import Chunks, chunk_page, cuts_text
from beam_reuse.core.features import EVERYTHING, PAYLOAD, UNSTORED, FeatureSettings
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.files import is_local, open_files
from beam_reuse.io.part_columns import PAGE_TEXT, chunk_columns, page_texts, parser_of, part_schema
from beam_reuse.io.parts import part_path, part_writer


@gives(same)
def cut_parts(parts: Block, folder: str, features: FeatureSettings) -> Block:
    """The same parts, all cut into chunks by these settings: those of an index that was cut by
    others are written again below `folder`, with payloads only if they are kept. So a page is cut,
    and parsed for it, once in a run."""
    make_shared(os.path.dirname(folder))
    kept = EVERYTHING - {PAYLOAD} | features.kept & EVERYTHING
    if UNSTORED in features.kept:
        kept |= {PAYLOAD}
    wanted = replace(features, text=True, kept=kept, signers=())
    paths = parts.strings("path").to_list()
    for i in np.flatnonzero(parts.array("chunked") == 0).tolist():
        target = part_path(folder, int(parts.array("range")[i]))
        rewrite_part(paths[i].decode(), target, 0, wanted)
        paths[i] = target.encode()
    return parts.with_columns(path=VarBytes.from_list(paths))


def rewrite_part(
    source: str, target: str, first_offset: int, features: FeatureSettings | None
) -> None:
    """Copy a part: its pages at `first_offset` or later, as they are, or cut into chunks by these
    settings and with the columns that these keep.

    The target appears whole; it may be the source itself. Memory: one row group.
    """
    files = open_files(source)
    temporary = f"{target}.{uuid.uuid4().hex}.tmp"
    if features is None and not first_offset:
        with (full_disk_told(os.path.dirname(target)), files.open(source) as opened,
              open_files(target).create(temporary) as sink):
            shutil.copyfileobj(opened, sink, 1 << 20)
    else:
        _rewrite(source, temporary, first_offset, features)
    if is_local(target):
        os.replace(temporary, target)
    else:
        open_files(target).move(temporary, target)


def _rewrite(
    source: str, target: str, first_offset: int, features: FeatureSettings | None,
) -> None:
    with (full_disk_told(os.path.dirname(target)), open_files(source).open(source) as opened,
          open_files(target).create(target) as sink):
        part = pq.ParquetFile(opened)
        schema = part.schema_arrow
        parser = parser_of(schema)
        if features is not None:
            schema = part_schema(features, parser)
        with part_writer(sink, schema) as writer:
            for group in range(part.num_row_groups):
                rows = part.read_row_group(group)
                rows = rows.filter(pc.greater_equal(rows["offset"], first_offset))
                if features is not None:
                    rows = _cut_anew(rows, schema, features.chunks, parser)
                if rows.num_rows:
                    writer.write_table(rows, row_group_size=1 << 40)


def _cut_anew(
    rows: pa.Table, schema: pa.Schema, settings: ChunkSettings, parser: str,
) -> pa.Table:
    cut = [
        _chunks(payload.as_py(), Kind(kind.as_py()), charset.as_py(), settings, parser)
        for payload, kind, charset in zip(
            rows["payload"], rows["kind"], rows["charset"], strict=True)
    ]
    counts = pa.array([len(chunks) for chunks in cut], pa.int64())
    columns = {
        **dict(zip(rows.column_names, rows.columns, strict=True)), **chunk_columns(cut),
        "chunk_count": counts, PAGE_TEXT: page_texts(cut)}
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _chunks(
    payload: bytes, kind: Kind, charset: str, settings: ChunkSettings, parser: str,
) -> Chunks:
    text = decode_text(payload, charset) if cuts_text(kind, settings) else None
    return chunk_page(payload, kind, settings, text, parser)
