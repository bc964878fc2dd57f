"""Exact Jaccard similarities of documents: the truth near-duplicates are judged by.

usage: jaccard.py DOCUMENTS.jsonl TRUTH.npz [LEAST]

A document is the set of its shingles of 8 successive tokens (64-bit fingerprints). Documents with
the same sequence of tokens count once: `representative` has for each line the number of the first
with that sequence, -1 for those without shingles. `pairs` are all pairs of representatives with a
similarity of LEAST (0.5) or more, `similarity` has theirs.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
import orjson

from beam_reuse.core.tokens import scan_text

SHINGLE = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Documents:
    """Shingle sets end to end, each ascending by rank (rare shingles first); `starts` has one
    entry more than there are documents. Only representatives have shingles."""

    shingles: np.ndarray
    starts: np.ndarray
    representative: np.ndarray


def read(path: str) -> Documents:
    """The documents of a JSON Lines file."""
    first: dict[bytes, int] = {}
    representative, sets = [], []
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines):
            text = orjson.loads(line)["text"]
            tokens = scan_text(text.encode("utf-8", "surrogatepass")).tokens
            one = first.setdefault(tokens.tobytes(), number) if len(tokens) >= SHINGLE else -1
            representative.append(one)
            sets.append(shingle_set(tokens) if one == number else np.zeros(0, np.uint64))
    starts = np.zeros(len(sets) + 1, np.int64)
    np.cumsum([len(found) for found in sets], out=starts[1:])
    shingles = by_rank(np.concatenate(sets))
    _sort_each(shingles, starts)
    return Documents(shingles, starts, np.array(representative))


@numba.njit(cache=True)
def _shingle_hashes(tokens: np.ndarray) -> np.ndarray:
    hashes = np.empty(len(tokens) - SHINGLE + 1, np.uint64)
    for i in range(len(hashes)):
        value = np.uint64(0)
        for token in tokens[i : i + SHINGLE]:
            value = (value ^ token) * _MIX
            value ^= value >> np.uint64(29)
        hashes[i] = value
    return hashes


def shingle_set(tokens: np.ndarray) -> np.ndarray:
    return np.unique(_shingle_hashes(tokens))


def by_rank(shingles: np.ndarray) -> np.ndarray:
    """Shingles as numbers (int32), ascending by the number of documents they are in."""
    _, places, counts = np.unique(shingles, return_inverse=True, return_counts=True)
    rank = np.empty(len(counts), np.int32)
    rank[np.argsort(counts, kind="stable")] = np.arange(len(counts), dtype=np.int32)
    return rank[places]


@numba.njit(cache=True)
def _sort_each(shingles: np.ndarray, starts: np.ndarray) -> None:
    for document in range(len(starts) - 1):
        shingles[starts[document] : starts[document + 1]].sort()


@numba.njit(cache=True)
def _similarity(shingles: np.ndarray, starts: np.ndarray, a: int, b: int) -> float:
    i, j, end_i, end_j = starts[a], starts[b], starts[a + 1], starts[b + 1]
    common, total = 0, end_i - i + end_j - j
    while i < end_i and j < end_j:
        left, right = shingles[i], shingles[j]
        common += left == right
        i += left <= right
        j += right <= left
    return common / (total - common) if total else 0.0


@numba.njit(cache=True)
def _each(shingles: np.ndarray, starts: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    similarity = np.empty(len(pairs))
    for n in range(len(pairs)):
        similarity[n] = _similarity(shingles, starts, pairs[n, 0], pairs[n, 1])
    return similarity


def similarities(documents: Documents, pairs: np.ndarray) -> np.ndarray:
    """The exact similarity of each pair of representatives."""
    return np.asarray(_each(documents.shingles, documents.starts, pairs))


@numba.njit(cache=True)
def _prefix(size: int, least: float) -> int:
    """Of two sets with similarity `least`, the first so many by rank have one in common."""
    return size - int(np.ceil(least * size - 1e-9)) + 1 if size else 0


@numba.njit(cache=True)
def _find(
    shingles: np.ndarray, starts: np.ndarray, holders: np.ndarray, places: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    count = len(starts) - 1
    seen = np.full(count, -1, np.int64)
    pairs = [(0, 0)][:0]
    similarity = [0.0][:0]
    for a in range(count):
        size = starts[a + 1] - starts[a]
        for i in range(starts[a], starts[a] + _prefix(size, least)):
            for n in range(places[shingles[i]], places[shingles[i] + 1]):
                b = holders[n]
                if b >= a:
                    break
                other = starts[b + 1] - starts[b]
                if seen[b] == a or min(size, other) < least * max(size, other) - 1e-9:
                    continue
                seen[b] = a
                value = _similarity(shingles, starts, a, b)
                if value >= least:
                    pairs.append((b, a))
                    similarity.append(value)
    found = np.empty((len(pairs), 2), np.int64)
    for n in range(len(pairs)):
        found[n, 0], found[n, 1] = pairs[n]
    return found, np.array(similarity)


@numba.njit(cache=True)
def _prefixes(
    shingles: np.ndarray, starts: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """The documents by the shingles of their prefixes, ascending, and where each one's start."""
    places = np.zeros(shingles.max() + 2, np.int64)
    for a in range(len(starts) - 1):
        for i in range(starts[a], starts[a] + _prefix(starts[a + 1] - starts[a], least)):
            places[shingles[i] + 1] += 1
    places = np.cumsum(places)
    free = places[:-1].copy()
    holders = np.empty(places[-1], np.int32)
    for a in range(len(starts) - 1):
        for i in range(starts[a], starts[a] + _prefix(starts[a + 1] - starts[a], least)):
            holders[free[shingles[i]]] = a
            free[shingles[i]] += 1
    return holders, places


def all_pairs(documents: Documents, least: float) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of representatives with similarity `least` or more, and their similarities.

    Exact: two such sets share one of their rarest shingles (prefix filter); each pair that does
    is compared in full.
    """
    holders, places = _prefixes(documents.shingles, documents.starts, least)
    pairs, similarity = _find(documents.shingles, documents.starts, holders, places, least)
    return np.asarray(pairs), np.asarray(similarity)


def main(path: str, out: str, least: str = "0.5") -> None:
    documents = read(path)
    pairs, similarity = all_pairs(documents, float(least))
    np.savez(out, pairs=pairs, similarity=similarity, shingles=documents.shingles,
             starts=documents.starts, representative=documents.representative)
    print(f"{len(documents.representative)} documents, "
          f"{len(np.unique(documents.representative))} distinct, "
          f"{np.diff(documents.starts).sum()} shingles, {len(pairs)} pairs")


if __name__ == "__main__":
    main(*sys.argv[1:])
