"""Chunks that are similar to labels by their Nilsimsa digests; no Beam."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.candidates import CANDIDATES
from beam_reuse.analyses.reuse.schemas import NILSIMSA_SWEEP
from beam_reuse.columnar.block import Block, Maybe
from beam_reuse.columnar.schema import SHA1, columns, gives, raw
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.nilsimsa import digests
from beam_reuse.core.nilsimsa_index import NilsimsaIndex
from beam_reuse.io.labels.batches import DIGEST
from beam_reuse.pages.objects import CountedChunks, Objects
from beam_reuse.pages.texts import ChunkTexts, text_columns

SWEEP_SUMS = {"matching": "sum", "exact": "sum", "pages": "sum"}
SWEPT = NILSIMSA_SWEEP.rows


@gives(columns(sha1=SHA1, nilsimsa=raw(DIGEST.itemsize)))
def label_digests(labels: Block) -> Block:
    """Hash and digest of the labels that have one."""
    digest = labels.maybe("nilsimsa")
    return Block({"sha1": labels["sha1"], "nilsimsa": digest.values}).take(digest.valid)


@gives(CANDIDATES)
def similar_chunks(
    parts: Block, objects: Objects, threshold: int, labels: Block,
) -> Iterator[Block]:
    """The distinct chunks of each part whose best score with a label is `threshold` or more:
    `own` is the chunk's hash, `sha1` the label's (of equally good ones the smallest)."""
    if not len(labels):
        return
    index = _index(labels.array("nilsimsa").tobytes(), threshold)
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        found = [_similar(counted, objects, index, labels)
                 for counted in objects.chunks_of(part, text_columns(objects.chunks))]
        if found:
            rows = Block.concat(found).sort(("own",))
            rows = rows.take(rows.starts(("own",)))  # row groups may share chunks
            yield rows.with_columns(
                kind=np.full(len(rows), LabelKind.CHUNK, np.uint8),
                range=np.repeat(part.array("range"), len(rows)))


def _similar(
    counted: CountedChunks, objects: Objects, index: NilsimsaIndex, labels: Block,
) -> Block:
    own, digest = _distinct_digests(counted, objects)
    row, score = index.best(digest)
    hits = np.flatnonzero(row >= 0)
    return Block({"sha1": labels.array("sha1")[row[hits]], "own": own[hits],
                  "score": Maybe(score[hits].astype(np.int64), np.ones(len(hits), np.bool_))})


def _distinct_digests(counted: CountedChunks, objects: Objects) -> tuple[NDArray, NDArray]:
    """The distinct hashes of some pages, and the digest of each from its first place."""
    chunks = counted.rows
    order = Block({"sha1": chunks.sha1}).sort_order(("sha1",))
    first = np.sort(order[Block({"sha1": chunks.sha1[order]}).starts(("sha1",))])
    page = np.searchsorted(chunks.offsets, first, side="right") - 1
    of_pages = ChunkTexts.of(chunks.pages.rows, objects.chunks)
    found = np.zeros((len(first), DIGEST.itemsize), np.uint8)
    bounds = np.append(np.flatnonzero(np.diff(page, prepend=-1)), len(first))
    for low, high in pairwise(bounds.tolist()):
        rows = first[low:high]
        source = bytes(of_pages.source(int(page[low])))
        found[low:high] = digests(source, chunks.start[rows], chunks.end[rows], objects.chunks)
    return chunks.sha1[first], found


def _index(content: bytes, threshold: int) -> NilsimsaIndex:
    """The index of these digests, made once per process."""
    return _cached_index(_Content(content), threshold)


class _Content:
    """Bytes that compare by their hash, so that a cache need not keep or compare them."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.sha256 = hashlib.sha256(content).digest()

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and other.sha256 == self.sha256


@lru_cache(maxsize=2)
def _cached_index(content: _Content, threshold: int) -> NilsimsaIndex:
    rows = np.frombuffer(content.content, np.uint8).reshape(-1, DIGEST.itemsize)
    return NilsimsaIndex(rows, threshold)


def sweep_rows(
    score: Maybe, page: NDArray[np.int64], thresholds: tuple[int, ...],
) -> Block:
    """For each threshold: chunk occurrences that match, those of them with a label's own hash,
    and pages with a match."""
    exact = ~score.valid
    matching = [exact | (score.values >= threshold) for threshold in thresholds]
    return Block({
        "threshold": np.array(thresholds, np.int64),
        "matching": np.array([match.sum() for match in matching], np.int64),
        "exact": np.full(len(thresholds), exact.sum(), np.int64),
        "pages": np.array([len(np.unique(page[match])) for match in matching], np.int64),
    })
