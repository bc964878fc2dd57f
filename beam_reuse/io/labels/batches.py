"""A batch of labels: Arrow columns of fixed types, whatever the list was stored as."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1
from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import evidence

HEX_DIGITS = 2 * SHA1.itemsize
DIGEST = np.dtype("V32")
SCHEMA = pa.schema([
    pa.field("sha1", pa.binary(SHA1.itemsize), nullable=False),
    pa.field("kind", pa.uint8(), nullable=False),
    pa.field("source_url", pa.string()),
    pa.field("domains", pa.int64()),
    pa.field("bytes", pa.int64()),
    pa.field("text", pa.string()),
    pa.field("nilsimsa", pa.string()),
])


def label_batch(hashes: NDArray, kinds: NDArray[np.uint8], **columns: pa.Array) -> pa.RecordBatch:
    """Labels from hashes ('V20') and kinds; columns that are not given are null."""
    count = len(hashes)
    rest = [columns.get(field.name, pa.nulls(count, field.type)) for field in list(SCHEMA)[2:]]
    return pa.RecordBatch.from_arrays(
        [_sha1_array(hashes), pa.array(kinds, pa.uint8()), *rest], schema=SCHEMA)


def hashes_of(batch: pa.RecordBatch) -> NDArray:
    """The hashes of a batch as a 'V20' column, without a copy."""
    column = batch.column("sha1")
    whole = np.frombuffer(column.buffers()[1], SHA1, column.offset + len(column))
    return whole[column.offset:]


def kinds_of(batch: pa.RecordBatch) -> NDArray[np.uint8]:
    """The kinds of a batch (`LabelKind` numbers), without a copy."""
    out: NDArray[np.uint8] = batch.column("kind").to_numpy()
    return out


def digests_of(batch: pa.RecordBatch, name: str) -> NDArray:
    """The Nilsimsa digests of a batch ('V32'), zeros where there is none; errors name `name`."""
    digests = np.zeros(batch.num_rows, DIGEST)
    column = batch.column("nilsimsa")
    if column.null_count == len(column):
        return digests
    for row, text in enumerate(column.to_pylist()):
        if text is not None:
            try:
                digests[row] = np.frombuffer(bytes.fromhex(text), DIGEST)[0]
            except (ValueError, IndexError):
                raise UserError(f"{name}: nilsimsa is {text[:80]!r}; it must be 64 hexadecimal "
                                "digits or null.") from None
    return digests


def evidence_of(batch: pa.RecordBatch) -> NDArray[np.uint32]:
    """How weak the sources of a batch are (`core.labels.evidence`)."""
    domains = batch.column("domains")
    return evidence(domains.fill_null(0).to_numpy(), _valid(domains),
                    _valid(batch.column("source_url")))


def hashes_of_hex(digits: bytes) -> NDArray:
    """The hashes ('V20') with these hexadecimal digits, between which there may be blanks; none if
    there is anything else, or half a hash."""
    try:
        return np.frombuffer(bytes.fromhex(digits.decode("ascii")), SHA1)
    except ValueError:
        return np.zeros(0, SHA1)


def _valid(column: pa.Array) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = column.is_valid().to_numpy(zero_copy_only=False)
    return out


def _sha1_array(hashes: NDArray) -> pa.Array:
    dense = np.ascontiguousarray(hashes)
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(SHA1.itemsize), len(dense), [None, pa.py_buffer(dense)])
