"""Lists that are Parquet: the table `labels`, or any table with a column of hashes."""

from collections.abc import Iterator
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1
from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelKind, LabelSettings
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.stop_chunks import text_hashes
from beam_reuse.io.labels.batches import HEX_DIGITS, SCHEMA, hashes_of_hex, label_batch
from beam_reuse.io.labels.label_settings import METADATA_KEY, settings_from_json

BATCH_ROWS = 1 << 16
KIND_NAMES = {"file": LabelKind.FILE, "chunk": LabelKind.CHUNK, "any": LabelKind.ANY}
_DETAILS = ("bytes", "text", "nilsimsa")


class ParquetList:
    """A Parquet file of labels or of texts, read in batches. Errors name file and row."""

    def __init__(self, source: IO[bytes], name: str) -> None:
        self._name = name
        try:
            self._file = pq.ParquetFile(source, page_checksum_verification=True)
            self._schema = self._file.schema_arrow
        except (pa.ArrowException, OSError, ValueError) as error:
            raise UserError(f"{name}: no sound Parquet file ({_gist(error)}).") from error

    @property
    def has_hashes(self) -> bool:
        return "sha1" in self._schema.names

    @property
    def is_judged(self) -> bool:
        """Whether it is a sheet of hashes that people judge."""
        return {"sha1", "label"} <= set(self._schema.names)

    def settings(self) -> LabelSettings | None:
        """What the file says of how its labels were made; None if it says nothing."""
        text = (self._file.metadata.metadata or {}).get(METADATA_KEY)
        return None if text is None else settings_from_json(text, self._name)

    def labels(self, details: bool) -> Iterator[pa.RecordBatch]:
        """The rows as labels; without `details`, what comes after source_url is not read."""
        if not self.has_hashes:
            raise UserError(f"{self._name}: no column sha1, so this is no list of hashes; it has "
                            f"{', '.join(self._schema.names) or 'no columns'}.")
        wanted = [name for name in SCHEMA.names
                  if name in self._schema.names and (details or name not in _DETAILS)]
        self._check_types(wanted)
        for first, batch in self._batches(wanted):
            yield self._label_batch(batch, first)

    def text_hashes(self, chunks: ChunkSettings) -> Iterator[NDArray]:
        """Hashes ('V20') of the column `text`, each as a chunk under `chunks`; no nulls."""
        if "text" not in self._schema.names:
            raise UserError(f"{self._name}: neither a column sha1 nor a column text; it has "
                            f"{', '.join(self._schema.names) or 'no columns'}.")
        self._check_types(["text"])
        for _, batch in self._batches(["text"]):
            texts = batch.column("text").drop_null().cast(pa.binary())
            yield text_hashes(texts.to_pylist(), chunks)

    def _batches(self, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches with the number of their first row."""
        first = 0
        try:
            for batch in self._file.iter_batches(BATCH_ROWS, columns=columns):
                yield first, batch
                first += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise UserError(f"{self._name}: damaged after row {first} ({_gist(error)}).") from error
        if first != self._file.metadata.num_rows:
            raise UserError(f"{self._name}: damaged: {first:,} of "
                            f"{self._file.metadata.num_rows:,} rows can be read.")

    def _check_types(self, columns: list[str]) -> None:
        for name in columns:
            kind = self._schema.field(name).type
            plain = kind.value_type if pa.types.is_dictionary(kind) else kind
            unknown = pa.types.is_null(plain) and name != "sha1"
            if not (unknown or _TYPE_TESTS[name](plain)):
                raise UserError(f"{self._name}: column {name} has type {kind}; it must be "
                                f"{_TYPE_WORDS[name]}.")

    def _label_batch(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        hashes = self._hashes(columns["sha1"], first)
        kinds = self._kinds(columns.get("kind"), batch.num_rows, first)
        rest = {name: columns[name].cast(SCHEMA.field(name).type)
                for name in ("source_url", "domains", *_DETAILS) if name in columns}
        if "source_url" in rest:
            urls = rest["source_url"]
            rest["source_url"] = pc.if_else(pc.equal(urls, ""), pa.scalar(None, urls.type), urls)
        return label_batch(hashes, kinds, **rest)

    def _hashes(self, column: pa.Array, first: int) -> NDArray:
        """Raw hashes from hexadecimal text or from 20 raw bytes."""
        values = column.cast(pa.binary())
        lengths = pc.fill_null(pc.binary_length(values), 0).to_numpy(zero_copy_only=False)
        raw = not _is_text(column.type) and bool((lengths == SHA1.itemsize).all())
        width = SHA1.itemsize if raw else HEX_DIGITS
        self._require(lengths == width, column, "sha1", first)
        start = values.buffers()[1]
        begin = np.frombuffer(start, np.int32)[values.offset] if len(values) else 0
        data = np.frombuffer(values.buffers()[2] or b"", np.uint8)
        data = data[begin:begin + width * len(values)]
        if raw:
            return data.view(SHA1)
        hashes = hashes_of_hex(data.tobytes())
        if len(hashes) != len(values):
            good = pc.match_substring_regex(values, "^[0-9a-fA-F]*$")
            self._require(good.to_numpy(zero_copy_only=False), column, "sha1", first)
        return hashes

    def _kinds(self, column: pa.Array | None, count: int, first: int) -> NDArray[np.uint8]:
        if column is None:
            return np.full(count, LabelKind.ANY, np.uint8)
        names = column.cast(pa.string()).fill_null("any")
        places = pc.index_in(names, pa.array(list(KIND_NAMES))).fill_null(-1)
        found = places.to_numpy(zero_copy_only=False)
        self._require(found >= 0, column, "kind", first)
        return np.array(list(KIND_NAMES.values()), np.uint8)[found]

    def _require(self, good: NDArray[np.bool_], column: pa.Array, name: str, first: int) -> None:
        if not good.all():
            row = int(np.argmin(good))
            raise UserError(f"{self._name}, row {first + row}: {name} is {_shown(column[row])}; "
                            f"it must be {_TYPE_WORDS[name]}.")


def _is_text(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(plain) or pa.types.is_large_string(plain)


def _is_bytes(kind: pa.DataType) -> bool:
    return (_is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
            or pa.types.is_fixed_size_binary(kind))


def _shown(value: pa.Scalar) -> str:
    text = repr(value.as_py())
    return text if len(text) <= 80 else text[:80] + "..."


def _gist(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


_TYPE_TESTS = {"sha1": _is_bytes, "kind": _is_text, "source_url": _is_text,
               "domains": pa.types.is_integer, "bytes": pa.types.is_integer,
               "text": _is_text, "nilsimsa": _is_text}
_TYPE_WORDS = {
    "sha1": "40 hexadecimal digits, or 20 raw bytes",
    "kind": "file, chunk or any (null is any)",
    "source_url": "text",
    "domains": "a whole number",
    "bytes": "a whole number",
    "text": "text",
    "nilsimsa": "64 hexadecimal digits",
}
