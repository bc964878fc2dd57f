"""Lists of URLs: Parquet with a column `url`, CSV or TSV with one, or text with one a line."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import open_files, reason_of

_LINES = 1 << 16
_PARQUET = b"PAR1"


def urls_in(path: str) -> Iterator[list[bytes]]:
    """The URLs of a list, some at a time. Refuses tables without a column `url`."""
    with open_files(path).open(path) as source:
        head = source.read(1 << 16)
        source.seek(0)
        if head.startswith(_PARQUET):
            table = pq.ParquetFile(source)
            _require(path, table.schema_arrow.names)
            batches = table.iter_batches(_LINES, columns=["url"])
            yield from (_values(batch.column(0)) for batch in batches)
        elif path.endswith((".csv", ".tsv")):
            delimiter = "\t" if path.endswith(".tsv") else ","
            columns = pc.ConvertOptions(column_types={"url": pa.string()})
            reader = pc.open_csv(source, parse_options=pc.ParseOptions(
                delimiter=delimiter, newlines_in_values=True), convert_options=columns)
            _require(path, reader.schema.names)
            yield from (_values(batch.column("url")) for batch in reader)
        else:
            yield from _lines(source)


def require_list(path: str) -> None:
    """Refuse a list that cannot be read; looks at its first URLs."""
    try:
        next(urls_in(path), None)
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"--drop-table {path} cannot be read: {reason_of(error)}.") from error


def _lines(source: Iterator[bytes]) -> Iterator[list[bytes]]:
    held: list[bytes] = []
    for line in source:
        if url := line.strip():
            held.append(url)
        if len(held) == _LINES:
            yield held
            held = []
    if held:
        yield held


def _values(column: pa.Array) -> list[bytes]:
    return [value.encode() for value in column.cast(pa.string()).to_pylist() if value]


def _require(path: str, names: list[str]) -> None:
    if "url" not in names:
        raise UserError(f"--drop-table {path}: it has no column url, but {', '.join(names)}.")
