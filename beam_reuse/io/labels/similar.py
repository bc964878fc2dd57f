"""Which label a chunk is most like, by Nilsimsa digests, in one process."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.core.errors import UserError
from beam_reuse.core.nilsimsa_index import NilsimsaIndex
from beam_reuse.io.labels.batches import DIGEST, digests_of, hashes_of
from beam_reuse.io.labels.lists import read_list

KEY = ("sha1", "nilsimsa")


class SimilarLabels:
    """The labels of all lists that have a digest, to find the most similar one of each.

    Refuses a list without digests. Memory: see `NilsimsaIndex`, and 52 bytes per label.
    """

    def __init__(self, paths: Sequence[str], threshold: int) -> None:
        labels = Block.concat([_labels_of(path) for path in paths]).sort(KEY)
        labels = labels.take(labels.starts(KEY))  # one row for all sources
        self._sha1 = labels.array("sha1")
        self._index = NilsimsaIndex(_bits(labels.array("nilsimsa")), threshold)

    def best(self, digests: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray, list[int]]:
        """Which of the digests (rows of 32 bytes) have a similar label, by place; the hash ('V20')
        of the best one, of equally good ones the smallest; and its score."""
        row, score = self._index.best(digests)
        at = np.flatnonzero(row >= 0)
        return at, self._sha1[row[at]], score[at].tolist()


def _labels_of(path: str) -> Block:
    """Hash and digest of the labels of a list that have one."""
    found = []
    for batch in read_list(path):
        digests = digests_of(batch, path)
        has = _bits(digests).any(axis=1)
        found.append(Block({"sha1": hashes_of(batch)[has], "nilsimsa": digests[has]}))
    if not any(map(len, found)):
        raise no_digests(path)
    return Block.concat(found)


def no_digests(path: str) -> UserError:
    """The refusal of a list that the matcher nilsimsa finds nothing in."""
    return UserError(
        f"--matcher nilsimsa: the labels of {path} have no Nilsimsa digests. Make them "
        "from the originals: beam-reuse labels ORIGINALS -o FILE.parquet --matcher nilsimsa")


def _bits(digests: NDArray) -> NDArray[np.uint8]:
    return np.ascontiguousarray(digests).view(np.uint8).reshape(-1, DIGEST.itemsize)
