"""What near-duplicates are: signatures of pages, keys that near pages share, and the rules.

Two signatures of a page come from its tokens, text and images, which are 64-bit fingerprints.
B are supershingles; a page with fewer tokens than a shingle has none, which is written as zeros
and similar to nothing. C are the signs of random projections. All constants come from fixed seeds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.settings import ALGORITHMS, NearDuplicateSettings
from beam_reuse.kernels import minhash, near_pairs
from beam_reuse.kernels import projections as projection_kernels
from beam_reuse.kernels.compiled import frozen

MOST_EQUAL = 10  # pages with one signature that are still compared each for itself
LEAST_KEY_BITS = 24
MOST_KEYS = 500
WIDE_BITS = 29
_WORD = 64
_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_TURNS, _FACTORS, _PROJECTIONS = 0x452821E638D01377, 0xBE5466CF34E90C6C, 0xC0AC29B7C97C50DD


def seeds(start: int) -> Iterator[int]:
    """The 64-bit numbers of splitmix64 from `start`."""
    state = start
    while True:
        state = (state + _GOLDEN) & _MASK
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        yield z ^ (z >> 31)


def _words(start: int, count: int) -> NDArray[np.uint64]:
    return np.fromiter(seeds(start), np.uint64, count)


@lru_cache(maxsize=8)
def hash_functions(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`turns` and `factors` of `count` hash functions x -> (x ^ turn) * factor, factors odd."""
    factors = _words(_FACTORS, count) | np.uint64(1)
    return frozen(_words(_TURNS, count).view(np.int64)), frozen(factors.view(np.int64))


@lru_cache(maxsize=8)
def projection_turns(bits: int) -> tuple[NDArray[np.uint64], np.uint64]:
    """What tells the words of signs apart, and the bits that count in the last of them."""
    words = -(-bits // _WORD)
    return frozen(_words(_PROJECTIONS, words)), np.uint64(_MASK >> (words * _WORD - bits))


@dataclass(frozen=True)
class Signatures:
    """Of pages, a row each: `identity` (two words), the same of their `text` alone (zeros if it is
    shorter than a shingle), `b` and `c`."""

    identity: NDArray[np.uint64]
    text: NDArray[np.uint64]
    b: NDArray[np.uint64]
    c: NDArray[np.uint64]


def signatures(
    tokens: NDArray[np.uint64], offsets: NDArray[np.int64], texts: NDArray[np.int64],
    settings: NearDuplicateSettings,
) -> Signatures:
    """Signatures of the pages whose tokens are tokens[offsets[i]:offsets[i + 1]], the first
    `texts[i]` of their text, the others of their images.

    Cost: some 50 to 60 ns per token with the default settings.
    """
    tokens, offsets = frozen(tokens), frozen(offsets)
    turns, factors = hash_functions(settings.min_values)
    return Signatures(
        *minhash.identities(tokens, offsets, frozen(texts), settings.shingle_size),
        minhash.supershingles(tokens, offsets, settings.shingle_size, turns, factors,
                              settings.supershingles),
        projection_kernels.projections(
            tokens, offsets, *projection_turns(settings.projection_bits)),
    )


def signature_names(settings: NearDuplicateSettings) -> tuple[str, ...]:
    """What they are called where they are stored: the same for settings that give the same."""
    return ("identity", f"text-{settings.shingle_size}",
            f"b-{settings.shingle_size}-{settings.min_values}-{settings.supershingles}",
            f"c-{settings.projection_bits}")


@dataclass(frozen=True)
class PageSigner:
    """Signs pages where they are parsed (see `core.features.Signer`)."""

    settings: NearDuplicateSettings

    @property
    def names(self) -> tuple[str, ...]:
        return signature_names(self.settings)

    def sign(
        self, tokens: NDArray[np.uint64], offsets: NDArray[np.int64], texts: NDArray[np.int64]
    ) -> tuple[NDArray, ...]:
        """Identities, those of texts, and signatures B and C, one value each."""
        found = signatures(tokens, offsets, texts, self.settings)
        return tuple(map(as_bytes, (found.identity, found.text, found.b, found.c)))


def as_bytes(words: NDArray[np.uint64]) -> NDArray:
    """Rows of words as one value each ('V48' of six words)."""
    dense = np.ascontiguousarray(words)
    return dense.view(f"V{8 * dense.shape[1]}").reshape(len(dense))


def as_words(values: NDArray) -> NDArray[np.uint64]:
    """What `as_bytes` made of rows of words."""
    dense = np.ascontiguousarray(values)
    return dense.view(np.uint64).reshape(len(dense), dense.dtype.itemsize // 8)


def b_keys(b: NDArray[np.uint64], settings: NearDuplicateSettings) -> NDArray[np.uint64]:
    """Keys of B signatures, a row each: two that agree in `b_threshold` or more of s
    supershingles share one of any s - b_threshold + 1 of them. Even numbers."""
    count = settings.supershingles - settings.b_threshold + 1
    return np.asarray(near_pairs.b_keys(frozen(b), count))


def c_keys(c: NDArray[np.uint64], masks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Keys of C signatures, a row each: of the bits of each mask. Odd numbers."""
    return np.asarray(near_pairs.c_keys(frozen(c), frozen(masks)))


@lru_cache(maxsize=8)
def key_masks(settings: NearDuplicateSettings) -> NDArray[np.uint64] | None:
    """Which bits make the keys of C, a mask per key, so that any two signatures that agree in
    `c_threshold` or more bits share a key; None where that takes too many or too short keys.

    Two such signatures differ in at most d bits, so of d + r pieces r are the same. A key is a
    combination of r pieces; r is the least with LEAST_KEY_BITS in every key.
    """
    bits = settings.projection_bits
    differing = bits - settings.c_threshold
    for same in range(1, bits):
        pieces = differing + same
        if pieces > bits or comb(pieces, same) > MOST_KEYS:
            return None
        if same * (bits // pieces) >= min(LEAST_KEY_BITS, bits):
            return _masks(_cut(bits, pieces), same, bits)
    return None


@lru_cache(maxsize=8)
def wide_masks(settings: NearDuplicateSettings) -> NDArray[np.uint64]:
    """Masks of pieces that are wide enough for pages that agree in one to be alike: where all
    pairs are compared, crowds are found by them."""
    bits = settings.projection_bits
    return _masks(_cut(bits, max(1, min(bits // WIDE_BITS, 62))), 1, bits)


def _cut(bits: int, pieces: int) -> list[int]:
    """The signature cut into pieces of equal width, give or take a bit: a number each."""
    ends = [bits * i // pieces for i in range(pieces + 1)]
    return [(1 << high) - (1 << low) for low, high in pairwise(ends)]


def _masks(pieces: list[int], same: int, bits: int) -> NDArray[np.uint64]:
    words = -(-bits // _WORD)
    return np.array([
        [sum(chosen) >> (_WORD * word) & _MASK for word in range(words)]
        for chosen in combinations(pieces, same)
    ], np.uint64)


def returned_by(
    b_similarity: NDArray, c_similarity: NDArray, same_site: NDArray[np.bool_],
    settings: NearDuplicateSettings,
) -> dict[str, NDArray[np.bool_]]:
    """For each algorithm which of the pairs it returns."""
    b = b_similarity >= settings.b_threshold
    c = c_similarity >= settings.c_threshold
    combined = b & (c_similarity >= settings.combined_threshold)
    return dict(zip(ALGORITHMS, (b, c, combined, np.where(same_site, combined, c)), strict=True))
