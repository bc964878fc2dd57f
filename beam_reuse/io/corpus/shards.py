"""A shard of a corpus: one file of records of one form.

The bytes of a shard follow from its records, however they come: those of JSON Lines are compressed
in gzip members of about MEMBER_BYTES, rows of Parquet are in groups of about GROUP_BYTES.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.io.corpus.forms import records_of
from beam_reuse.io.corpus.records import CorpusPage
from beam_reuse.io.crawl.members import gzip_member
from beam_reuse.io.crawl.parquet_rows import PARQUET, schema_of
from beam_reuse.io.crawl.rows import JSONL
from beam_reuse.io.files import open_files, written_whole
from beam_reuse.io.results.table_writer import HashedFile

MEMBER_BYTES = 1 << 20
GROUP_BYTES = 8 << 20
GROUP_ROWS = 1 << 15
_TOGETHER = 256


def write_shard(path: str, form: str, pages: Iterable[CorpusPage]) -> tuple[int, str]:
    """Write pages as one file, which appears whole; gives their number and its SHA-256."""
    records, count = _records(pages, form), 0
    with written_whole(open_files(path), path) as sink:
        hashed = HashedFile(sink)
        if form.startswith(PARQUET):
            count = _write_parquet(hashed, records, schema_of(form))
        else:
            for rows, piece in (_members(records) if form == JSONL else _one_by_one(records)):
                hashed.write(piece)
                count += rows
    return count, hashed.digest.hexdigest()


def _records(pages: Iterable[CorpusPage], form: str) -> Iterator[bytes]:
    left = iter(pages)
    while some := list(islice(left, _TOGETHER)):
        yield from records_of(some, form)


def _one_by_one(records: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((1, record) for record in records)


def _members(records: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Gzip members of so many records each."""
    for held in _grouped(records, MEMBER_BYTES):
        yield len(held), gzip_member(b"".join(held))


def _grouped(records: Iterator[bytes], most: int) -> Iterator[list[bytes]]:
    """Records, so many together as have `most` bytes or just more, but not more than GROUP_ROWS."""
    held: list[bytes] = []
    size = 0
    for record in records:
        held.append(record)
        size += len(record)
        if size >= most or len(held) == GROUP_ROWS:
            yield held
            held, size = [], 0
    if held:
        yield held


def _write_parquet(sink: HashedFile, records: Iterator[bytes], schema: pa.Schema) -> int:
    """Write rows, which are batches without their schema; gives their number."""
    count = 0
    with pq.ParquetWriter(sink, schema, version="2.6", compression="zstd") as writer:
        for held in _grouped(records, GROUP_BYTES):
            batches = [pa.ipc.read_record_batch(pa.py_buffer(each), schema) for each in held]
            table = pa.Table.from_batches(batches, schema).combine_chunks()
            writer.write_table(table, row_group_size=len(held))
            count += len(held)
    return count
