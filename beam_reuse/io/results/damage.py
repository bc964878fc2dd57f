"""Parts of tables that are missing, or are not what a run has written."""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.io.files import checksum_of, join, open_files, reason_of
from beam_reuse.io.results.manifest import MANIFEST, NoResultError, Part


class DamagedTableError(NoResultError):
    """A table that cannot be read: the message says which part, and what to do. `in_folder` is the
    same sentence wherever the result is."""

    def __init__(self, folder: str, part: Part, what: str) -> None:
        super().__init__(_sentence(part.table, join(folder, part.path), what))
        self.table, self.in_folder = part.table, _sentence(part.table, part.path, what)


def _sentence(table: str, path: str, what: str) -> str:
    return f"{table}: part {path} {what}; run again, or restore it"


def why_unread(error: Exception) -> str:
    """What keeps a part from being read."""
    return "is missing" if isinstance(error, FileNotFoundError) else (
        f"cannot be read ({reason_of(error).strip().splitlines()[0]})")


def require_columns(folder: str, part: Part, found: pa.Schema, wanted: pa.Schema) -> None:
    """Refuse a part without a column that is wanted, or with another type of it."""
    for field in wanted:
        if field.name not in found.names:
            raise DamagedTableError(folder, part, f"has no column {field.name}")
        if found.field(field.name).type != field.type:
            raise DamagedTableError(
                folder, part, f"has {field.name} as {found.field(field.name).type}, and it is "
                f"{field.type} in a result")


def require_parts(folder: str, parts: Iterable[Part], wanted: pa.Schema | None) -> None:
    """Refuse a part that is missing, whose footer cannot be read, or has another number of rows
    than the manifest says, or other columns than are `wanted`. Cost: a footer of each."""
    files = open_files(folder)
    for part in parts:
        try:
            with files.open(join(folder, part.path)) as source:
                opened = pq.ParquetFile(source)
                found, rows = opened.schema_arrow, opened.metadata.num_rows
        except (OSError, pa.ArrowException) as error:
            raise DamagedTableError(folder, part, why_unread(error)) from error
        if rows != part.rows:
            raise DamagedTableError(folder, part, f"has {rows} rows, {MANIFEST} says {part.rows}")
        if wanted is not None:
            require_columns(folder, part, found, wanted)


def require_bytes(folder: str, parts: Iterable[Part]) -> None:
    """Refuse a part that has not the bytes that a run has written. Cost: all are read."""
    for part in parts:
        kind = part.checksum.partition(":")[0]
        try:
            same = checksum_of(join(folder, part.path), kind) == part.checksum
        except OSError as error:
            raise DamagedTableError(folder, part, why_unread(error)) from error
        if not same:
            raise DamagedTableError(folder, part, f"is damaged: {MANIFEST} has another checksum")
