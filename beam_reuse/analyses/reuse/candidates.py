"""Files and chunks by kind and hash, and which of them may be labels.

*Candidates* have `sha1` and `kind` of a label that may exist. It occurs in the part `range` as the
hash `own`, with the Nilsimsa `score` of a chunk that is only similar to the label, and null where
the hash is the label's.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Maybe
from beam_reuse.columnar.distinct import number_distinct
from beam_reuse.columnar.schema import KIND, NUMBER, PART, SHA1, columns, gives, maybe
from beam_reuse.core.labels import LabelKind
from beam_reuse.pages.objects import Objects

KEY = ("sha1", "kind")
HASHES = columns(sha1=SHA1, kind=KIND)
CANDIDATES = columns(HASHES, range=PART, own=SHA1, score=maybe(NUMBER))


def hash_rows(kind: LabelKind, sha1: NDArray) -> Block:
    """Rows of these hashes, which are all of one kind."""
    return Block({"sha1": sha1, "kind": np.full(len(sha1), kind, np.uint8)})


def may_match(kind: LabelKind, sha1: NDArray, keys: Any) -> Block:
    """Rows of those hashes that `keys`, a filter of KEY, may hold."""
    rows = hash_rows(kind, sha1)
    return rows.take(keys.may_hold(rows))


@gives(CANDIDATES)
def find_candidates(parts: Block, objects: Objects, labelled: Any) -> Iterator[Block]:
    """The files and chunks of each part that `labelled`, a filter of labels, may hold."""
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        found = []
        for counted in objects.chunks_of(part, ("sha1",), places=False):
            chunks, pages = counted.rows.sha1, counted.rows.pages
            found.append(may_match(LabelKind.CHUNK, chunks[number_distinct(chunks)[1]], labelled))
            found.append(may_match(LabelKind.FILE, objects.counted_files(pages), labelled))
        if found:
            yield candidates_in(part, found)


def candidates_in(part: Block, found: Sequence[Block]) -> Block:
    """Kind and hash of what occurs in a part, each once, as candidates."""
    rows = Block.concat(found).sort(KEY)
    rows = rows.take(rows.starts(KEY))
    return rows.with_columns(
        range=np.repeat(part.array("range"), len(rows)), own=rows["sha1"],
        score=Maybe.nulls(len(rows), np.int64))
