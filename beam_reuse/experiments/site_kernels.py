"""What experiments read of the pages of a part; no Beam."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.detect_kernels import may_match
from beam_reuse.analyses.reuse.label_kernels import no_digests, repeated
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.core.labels import LabelKind
from beam_reuse.experiments.names import ALL_CHUNKS, ALL_FILES
from beam_reuse.pages.objects import Objects


def site_pages(parts: Block, objects: Objects) -> Iterator[Block]:
    """One row per page: its file's hash, whether the file `counts`, and how many `chunks` the
    page is cut into, whether they count or not."""
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        numbers, chunks = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for counted in objects.chunks_of(part, places=False):
            numbers.append(counted.rows.pages.number)
            chunks.append(np.diff(counted.rows.offsets) + counted.stopped)
        number = np.concatenate(numbers)
        order = np.argsort(number)
        for files in objects.files_of(part):
            at = order[np.searchsorted(number, files.pages.number, sorter=order)]
            yield Block({
                "page": files.pages.number, "sha1": files.sha1, "counts": files.counts,
                "chunks": np.concatenate(chunks)[at],
            })


def site_chunks(parts: Block, objects: Objects) -> Iterator[Block]:
    """One row per chunk that counts: its page and its place in it."""
    for counted in objects.chunks_of(parts, places=False):
        rows = counted.rows
        yield Block({"page": rows.per_chunk(rows.pages.number), "position": counted.position,
                     "sha1": rows.sha1})


def hashes(parts: Block, objects: Objects) -> Iterator[Block]:
    """Kind and hash of every file and chunk that counts."""
    for counted in objects.chunks_of(parts, places=False):
        yield _hash_rows(LabelKind.CHUNK, counted.rows.sha1)
    for files in objects.files_of(parts):
        yield _hash_rows(LabelKind.FILE, files.sha1[files.counts])


def hashes_in(parts: Block, objects: Objects, wanted: Any) -> Iterator[Block]:
    """Those of `hashes` that `wanted` may hold."""
    for counted in objects.chunks_of(parts, places=False):
        yield may_match(LabelKind.CHUNK, counted.rows.sha1, wanted)
    for files in objects.files_of(parts):
        yield may_match(LabelKind.FILE, files.sha1[files.counts], wanted)


def totals(parts: Block, objects: Objects) -> Block:
    """How many files and chunks count."""
    chunks = sum(len(counted.rows.sha1) for counted in objects.chunks_of(parts, places=False))
    files = sum(int(found.counts.sum()) for found in objects.files_of(parts))
    return Block.concat([number_row(files, ALL_FILES), number_row(chunks, ALL_CHUNKS)])


def chunk_counts(counts: Block, times: int) -> Block:
    """Of counted hashes the chunks, `times` over."""
    chunks = counts.take(counts.array("kind") == LabelKind.CHUNK)
    return Block({"sha1": chunks["sha1"], "count": chunks.array("count") * np.uint64(times)})


def chunk_labels(rows: Block) -> Block:
    """Hashes of chunks as label rows; nobody knows where they come from."""
    return Block({
        "kind": np.full(len(rows), LabelKind.CHUNK, np.uint8), "sha1": rows["sha1"],
        "source_url": repeated("", len(rows)), "nilsimsa": no_digests(len(rows)),
    })


def count_table(counts: Block) -> Block:
    """Rows of the table `counts`."""
    return counts.with_columns(kind=counts.array("kind").astype(np.int64),
                               count=counts.array("count").astype(np.int64))


def judged(neighbourhoods: Block, name: str) -> Block:
    """How many neighbourhoods there are, and how many are flagged."""
    flagged = int(neighbourhoods.array("flagged").sum())
    return Block.concat([number_row(len(neighbourhoods), f"neighbourhoods {name}"),
                         number_row(flagged, f"flagged {name}")])


def number_of_labels(rows: Block, name: str) -> Block:
    """How many labels there are."""
    return number_row(len(rows), f"labels {name}")


def number_row(value: int, name: str) -> Block:
    """A row of the table `numbers`."""
    return Block({"what": VarBytes.from_list([name.encode()]),
                  "value": np.array([value], np.int64)})


def _hash_rows(kind: LabelKind, sha1: NDArray) -> Block:
    return Block({"kind": np.full(len(sha1), kind, np.uint8), "sha1": sha1})
