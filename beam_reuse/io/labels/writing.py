"""Writing lists of labels: the ending of the name says in which form."""

import os
from collections.abc import Iterable

import pyarrow as pa

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelSettings
from beam_reuse.io.labels.compact_writer import write_compact
from beam_reuse.io.labels.parquet_writer import write_parquet_list

COMPACT, PARQUET = ".brl", ".parquet"
_WRITERS = {COMPACT: write_compact, PARQUET: write_parquet_list}


def require_list_name(path: str) -> None:
    """Refuse a name that ends as no list does."""
    if os.path.splitext(path)[1] not in _WRITERS:
        raise UserError(f"{path}: a list of labels ends in {PARQUET} (a table) or {COMPACT} "
                        "(compact, for `check`). Give it one of these names.")


def write_labels(
    path: str, batches: Iterable[pa.RecordBatch], settings: LabelSettings | None
) -> int:
    """Write labels (batches of `lists.read_list`) to `path`; returns how many there are. The
    file appears whole."""
    require_list_name(path)
    return _WRITERS[os.path.splitext(path)[1]](path, batches, settings)
