"""Gram labels: items of evaluation sets with the fingerprints of their tokens, as Parquet.

A row is an item (`eval`, `id`, `field`), `tokens` are those of its text. The file says how large
grams are that are made of them, and how many items may have one that counts.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import open_files, reason_of, written_whole

FORMAT = 1
METADATA_KEY = b"beam_reuse.grams"
_TOKENS = pa.list_(pa.field("element", pa.uint64(), nullable=False))
SCHEMA = pa.schema([pa.field(name, kind, nullable=False) for name, kind in (
    ("eval", pa.string()), ("id", pa.string()), ("field", pa.string()), ("tokens", _TOKENS))])
_BATCH_ROWS = 1 << 14
LabelledItem = tuple[str, str, str, NDArray[np.uint64]]
"""Evaluation file, id and field of an item, and its tokens."""


@dataclass(frozen=True)
class GramSettings:
    """How grams are made of the items of a list."""

    gram_size: int
    max_items_per_gram: int


def item_batch(items: Sequence[LabelledItem]) -> pa.RecordBatch:
    """Items, of which there is at least one, as rows of a list."""
    return pa.RecordBatch.from_arrays([
        pa.array(column, kind) for column, kind in zip(
            zip(*items, strict=True), SCHEMA.types, strict=True)], schema=SCHEMA)


def write_gram_list(
    path: str, batches: Iterable[pa.RecordBatch], settings: GramSettings,
) -> int:
    """Write items to a list, which appears whole; returns how many there are."""
    told = {"format": FORMAT, "gram-size": settings.gram_size,
            "max-items-per-gram": settings.max_items_per_gram}
    schema, count = SCHEMA.with_metadata({METADATA_KEY: json.dumps(told).encode()}), 0
    with (written_whole(open_files(path), path) as target,
          pq.ParquetWriter(target, schema, compression="zstd", write_page_checksum=True) as writer):
        for batch in batches:
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            count += batch.num_rows
    return count


def is_gram_list(path: str) -> bool:
    """Whether there is a list of gram labels at a path. Cost: the head and the foot of the file."""
    try:
        with open_files(path).open(path) as source:
            if source.read(4) != b"PAR1":
                return False
            return METADATA_KEY in (pq.ParquetFile(source).metadata.metadata or {})
    except (OSError, pa.ArrowException):
        return False


def read_gram_list(path: str) -> tuple[GramSettings, Iterator[pa.RecordBatch]]:
    """The settings and the items of a list."""
    with open_files(path).open(path) as source:
        told = json.loads((pq.ParquetFile(source).metadata.metadata or {})[METADATA_KEY])
    if told.get("format") != FORMAT:
        raise UserError(f"{path}: its gram labels have format {told.get('format')!r}; this version "
                        f"reads format {FORMAT}. Use the release that made it.")
    return GramSettings(told["gram-size"], told["max-items-per-gram"]), _batches(path)


def _batches(path: str) -> Iterator[pa.RecordBatch]:
    try:
        with open_files(path).open(path) as source:
            table = pq.ParquetFile(source, page_checksum_verification=True)
            yield from table.iter_batches(_BATCH_ROWS, columns=SCHEMA.names)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path} cannot be read: {reason_of(error)}. Make it anew.") from error
