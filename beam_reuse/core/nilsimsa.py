"""Nilsimsa: digests of chunks that differ in few bits where the chunks differ in few bytes.

A chunk without a trigram (fewer than 3 bytes) has the digest zero. That says nothing about
the chunk, so a digest of zeros never matches anything, itself included.

The score of two digests is 128 minus the number of differing bits: 128 for equal ones, about 0
for digests that have nothing to do with each other, -128 for opposite ones.
"""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.settings import ChunkSettings
from beam_reuse.kernels.nilsimsa import DIGEST_BYTES, digest_chunks

HIGHEST = 128
LOWEST = -128


def digests(
    payload: bytes, start: NDArray[np.integer], end: NDArray[np.integer], settings: ChunkSettings
) -> NDArray[np.uint8]:
    """Digests (n rows of 32 bytes) of the chunks `payload[start[i]:end[i]]` of one page.

    The bytes digested are those that SHA-1 hashes: white space is squeezed where `settings`
    normalise. `start` and `end` are columns of `Chunks`, or any rows of them. Cost: about
    twice SHA-1; the interpreter lock is free. Memory: one copy of the longest chunk.
    """
    return np.asarray(digest_chunks(
        np.frombuffer(payload, np.uint8), start.astype(np.int64), end.astype(np.int64),
        settings.squeezes))


def comparable(found: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which digests may match at all: those with a bit set."""
    return np.asarray(words(found).any(axis=1))


def words(found: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A copy of digests as rows of four words, as the kernels take them."""
    return np.array(found, np.uint8, order="C").reshape(-1, DIGEST_BYTES).view(np.uint64)
