"""From pages and lists to the rows of a list of labels; no Beam.

Of *label rows* `kind` is a LabelKind; from `source_url` on, columns are null where unknown.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.schema import KIND, NUMBER, SHA1, TEXT, columns, gives, maybe, raw, same
from beam_reuse.core import chunking, nilsimsa
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.labels.batches import (
    DIGEST,
    digests_of,
    hashes_of,
    kinds_of,
    label_batch,
)
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.lists import read_list
from beam_reuse.io.part_columns import maybe_column, string_column
from beam_reuse.io.results.tables import LABELS
from beam_reuse.pages.objects import CountedChunks, Objects
from beam_reuse.pages.rows import NumberedRows
from beam_reuse.pages.texts import ChunkTexts, text_columns

LABEL_ROWS = columns(sha1=SHA1, kind=KIND, source_url=maybe(TEXT), domains=maybe(NUMBER),
                     bytes=maybe(NUMBER), text=maybe(TEXT), nilsimsa=maybe(raw(32)))
RAW = ChunkSettings(normalise="none")
_WORDS = (b"file", b"chunk")


@gives(LABEL_ROWS)
def labels_of_pages(parts: Block, objects: Objects, digest: bool) -> Iterator[Block]:
    """The files and the distinct chunks of every page that count, with the page as source;
    the chunks with their digests, if asked for."""
    columns = ("sha1", "bytes", "url", *text_columns(objects.chunks))
    for counted in objects.chunks_of(parts, columns):
        yield _file_labels(counted.rows.pages, objects)
        yield _chunk_labels(counted, objects, digest)


def _file_labels(pages: NumberedRows, objects: Objects) -> Block:
    page = np.flatnonzero(objects.file_counts(pages))
    return _rows(LabelKind.FILE, pages.rows.numbers("sha1")[page], pages.urls().take(page),
                 pages.rows.numbers("bytes")[page].astype(np.int64), Maybe.nulls(len(page)))


def _chunk_labels(counted: CountedChunks, objects: Objects, digest: bool) -> Block:
    chunks, pages = counted.rows, counted.rows.pages
    page = chunks.per_chunk(np.arange(len(pages)))
    order = Block({"page": page, "sha1": chunks.sha1}).sort_order(("page", "sha1"))
    sorted_rows = Block({"page": page[order], "sha1": chunks.sha1[order]})
    first = order[sorted_rows.starts(("page", "sha1"))]
    of_pages = ChunkTexts.of(pages.rows, objects.chunks)
    texts, digests = [], np.zeros(len(first), DIGEST)
    for i, k in enumerate(first.tolist()):
        chunk = of_pages.hashed(int(page[k]), int(chunks.start[k]), int(chunks.end[k]))
        texts.append(of_pages.shown(int(page[k]), chunk))
        if digest:
            digests[i] = digest_of(chunk)
    rows = _rows(LabelKind.CHUNK, chunks.sha1[first], pages.urls().take(page[first]),
                 chunks.length[first].astype(np.int64),
                 Maybe.unless_empty(VarBytes.from_list(texts)))
    return rows.with_columns(nilsimsa=digest_column(digests))


def digest_column(digests: NDArray) -> Maybe:
    """Digests, null where all bits are 0: nothing is similar to that."""
    bits = digests.view(np.uint8).reshape(-1, DIGEST.itemsize)
    return Maybe(digests, np.asarray(bits.any(axis=1)))


def digest_of(chunk: bytes) -> bytes:
    """The digest of what was hashed of a chunk."""
    whole = np.zeros(1, np.int64), np.full(1, len(chunk), np.int64)
    return nilsimsa.digests(chunk, *whole, RAW)[0].tobytes()


def _rows(kind: LabelKind, sha1: NDArray, urls: VarBytes, lengths: NDArray[np.int64],
          texts: Maybe) -> Block:
    return Block({
        "sha1": sha1, "kind": np.full(len(sha1), kind, np.uint8),
        "source_url": Maybe.unless_empty(urls), "domains": Maybe.nulls(len(sha1), np.int64),
        "bytes": Maybe(lengths, np.ones(len(lengths), np.bool_)), "text": texts,
        "nilsimsa": Maybe.nulls(len(sha1), DIGEST),
    })


@gives(LABEL_ROWS)
def labels_of_lists(lists: Block, details: bool) -> Iterator[Block]:
    """The rows of the lists at each `path`."""
    for path in lists.strings("path").to_list():
        yield from labels_of_list(path.decode(), details)


def labels_of_list(path: str, details: bool) -> Iterator[Block]:
    """The rows of a list; a bare hash is one of each kind."""
    for batch in read_list(path, details):
        yield from labels_of_batch(batch, path)


def labels_of_batch(batch: pa.RecordBatch, name: str = "labels") -> Iterator[Block]:
    """Rows of the table `labels`, or of a list, as label rows; `name` is for messages."""
    if pa.types.is_string(batch.schema.field("sha1").type):
        batch = _of_table(batch)
    labels = Block({
        "sha1": hashes_of(batch), "kind": kinds_of(batch),
        "source_url": Maybe.unless_empty(string_column(batch.column("source_url"))),
        "domains": maybe_column(batch.column("domains")),
        "bytes": maybe_column(batch.column("bytes")),
        "text": Maybe.unless_empty(string_column(batch.column("text"))),
        "nilsimsa": digest_column(digests_of(batch, name)),
    })
    bare = labels.array("kind") == LabelKind.ANY
    yield labels.take(~bare)
    for kind in (LabelKind.FILE, LabelKind.CHUNK):
        yield labels.take(bare).with_columns(kind=np.full(int(bare.sum()), kind, np.uint8))


def _of_table(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows of the table as rows of a list: hashes are bytes there, and kinds numbers."""
    hashes = np.frombuffer(bytes.fromhex("".join(batch.column("sha1").to_pylist())), chunking.SHA1)
    kinds = [_WORDS.index(word.encode()) for word in batch.column("kind").to_pylist()]
    rest = {name: batch.column(name)
            for name in ("source_url", "domains", "bytes", "text", "nilsimsa")}
    return label_batch(hashes, np.array(kinds, np.uint8), **rest)


@gives(same)
def without(labels: Block, files: str, chunks: str) -> Block:
    """Labels whose hashes are not in the hash set of their kind ('' for none)."""
    kept = np.ones(len(labels), np.bool_)
    for kind, path in ((LabelKind.FILE, files), (LabelKind.CHUNK, chunks)):
        if path:
            kept &= ~((labels.array("kind") == kind)
                      & CompactList.open(path).hashes.contain(labels.array("sha1")))
    return labels.take(kept)


@gives(LABELS.rows)
def label_table(labels: Block) -> Block:
    """Rows of the table `labels`."""
    return labels.with_columns(kind=kind_words(labels))


def kind_words(rows: Block) -> VarBytes:
    """The kinds of rows in words."""
    return VarBytes.from_list(_WORDS).take(rows.array("kind").astype(np.int64))
