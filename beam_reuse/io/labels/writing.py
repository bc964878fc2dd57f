"""Writing lists of labels: the ending of the name says in which form."""

import os
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelSettings
from beam_reuse.io.files import open_files, written_whole
from beam_reuse.io.labels.batches import HEX_DIGITS, hashes_of
from beam_reuse.io.labels.compact_writer import write_compact
from beam_reuse.io.labels.label_settings import METADATA_KEY, settings_to_json
from beam_reuse.io.labels.parquet_lists import KIND_NAMES
from beam_reuse.io.results.tables import LABELS

COMPACT, PARQUET = ".brl", ".parquet"


def require_list_name(path: str) -> None:
    """Refuse a name that ends as no list does."""
    if os.path.splitext(path)[1] not in (COMPACT, PARQUET):
        raise UserError(f"{path}: a list of labels ends in {PARQUET} (a table) or {COMPACT} "
                        "(compact, for `check`). Give it one of these names.")


def write_labels(
    path: str, batches: Iterable[pa.RecordBatch], settings: LabelSettings | None
) -> int:
    """Write labels (batches of `lists.read_list`) to `path`; returns how many there are. The
    file appears whole."""
    require_list_name(path)
    write = write_compact if path.endswith(COMPACT) else _write_parquet
    return write(path, batches, settings)


def _write_parquet(
    path: str, batches: Iterable[pa.RecordBatch], settings: LabelSettings | None
) -> int:
    """Write labels (batches of `lists.read_list`) to a Parquet list at `path`, as they come.

    Returns how many there are. The file appears whole. Memory: one batch.
    """
    schema = LABELS.arrow()
    if settings is not None:
        schema = schema.with_metadata({METADATA_KEY: settings_to_json(settings).encode()})
    count = 0
    with (written_whole(open_files(path), path) as target,
          pq.ParquetWriter(target, schema, compression="zstd",
                           write_page_checksum=True) as writer):
        for batch in batches:
            writer.write_batch(_table_batch(batch, schema))
            count += batch.num_rows
    return count


def _table_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch of labels as rows of the table `labels`."""
    words = pa.array(sorted(KIND_NAMES, key=lambda word: KIND_NAMES[word]))
    columns = [_hex(batch), words.take(batch.column("kind"))]
    columns += [batch.column(name) for name in schema.names[2:]]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _hex(batch: pa.RecordBatch) -> pa.Array:
    digits = hashes_of(batch).tobytes().hex().encode()
    offsets = np.arange(batch.num_rows + 1, dtype=np.int32) * HEX_DIGITS
    return pa.StringArray.from_buffers(
        batch.num_rows, pa.py_buffer(offsets), pa.py_buffer(digits))
