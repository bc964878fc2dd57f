"""Which label is most like a digest: an index that misses none.

Two digests with a score of at least T differ in at most r = 128 - T bits. Cut both into
pieces and allow each piece some differing bits, s: if the sum of all s + 1 is above r, a pair
that differs in at most r bits keeps to its allowance in at least one piece. So it is
enough to compare a digest with the labels in the buckets that lie within that allowance.
The lower the threshold, the shorter the pieces or the more the buckets, until comparing with
every label is cheaper.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.nilsimsa import HIGHEST, LOWEST, comparable, words
from beam_reuse.core.settings import require
from beam_reuse.kernels.hamming import NONE, bucket, nearest_by_pieces, nearest_of_all

NO_SCORE = LOWEST - 1

# What looking into a bucket, and comparing a label found there, cost in pairs compared one
# after another (1 ns), between 10^4 and 10^6 labels: benchmarks/nilsimsa.py measures them.
_LOOKUP = 30
_CANDIDATE = 25
_MOST_FLIPS = 2
# Real digests are not evenly spread, so pieces must promise at least this much.
_GAIN = 2
# A query whose buckets hold more than this share of all labels is compared with all. Large
# buckets are read in order, so that a label of theirs costs far less than _CANDIDATE.
_BUDGET = 1 / 4
_BITS = 256


@dataclass(frozen=True)
class SearchPlan:
    """Pieces of `bits` bits each; piece i is looked at with up to `flips[i]` bits changed."""

    bits: int
    flips: tuple[int, ...]

    @property
    def starts(self) -> NDArray[np.int64]:
        """First bit of each piece."""
        return np.arange(len(self.flips)) * _BITS // len(self.flips)

    @property
    def probes(self) -> NDArray[np.int64]:
        """How many buckets of each piece are looked at."""
        upto = np.cumsum([comb(self.bits, n) for n in range(_MOST_FLIPS + 1)])
        return np.asarray(upto[list(self.flips)])

    @property
    def found_within(self) -> NDArray[np.int64]:
        """After each piece: the distance up to which every label has been seen."""
        return np.cumsum(np.array(self.flips, np.int64) + 1) - 1

    def patterns(self) -> NDArray[np.int64]:
        """Changes of a bucket's number, those of fewest bits first."""
        return np.array([
            sum(1 << bit for bit in changed)
            for n in range(max(self.flips) + 1) for changed in combinations(range(self.bits), n)
        ], np.int64)

    def cost(self, labels: int) -> float:
        """Estimated cost of a query, in pairs compared, if digests were evenly spread."""
        return float(self.probes.sum() * (_LOOKUP + _CANDIDATE * labels / 2**self.bits))


def possible_plans(labels: int, threshold: int) -> list[SearchPlan]:
    """Searches that find every label with a score of at least `threshold`.

    Few bits may differ: many short pieces, one bucket each. More: fewer and longer pieces, each
    with the buckets one or two bits away. A piece need not tell more buckets apart than there
    are labels.
    """
    differing = HIGHEST - threshold
    plans = []
    for most in range(_MOST_FLIPS + 1):
        pieces = -(-(differing + 1) // (most + 1))
        spare = pieces * (most + 1) - (differing + 1)
        bits = min(_BITS // pieces, max(labels - 1, 1).bit_length())
        if most < bits and spare <= pieces:
            plans.append(SearchPlan(bits, (most,) * (pieces - spare) + (most - 1,) * spare))
    return plans


def choose_plan(labels: int, threshold: int) -> SearchPlan | None:
    """The cheapest plan; None if it is not clearly cheaper than comparing with all `labels`."""
    plans = possible_plans(labels, threshold)
    best = min(plans, key=lambda plan: plan.cost(labels), default=None)
    return best if best is not None and _GAIN * best.cost(labels) < labels else None


class NilsimsaIndex:
    """Labels by their digests, for one threshold on the score.

    Exact: `best` finds for every threshold what comparing with all labels would. A query is
    compared with a quarter of the labels at most by way of buckets, or else with all of them
    in order, about 1 ns each: labels that crowd in a few buckets cannot make it slower than
    twice that.
    Memory: 72 bytes per distinct digest, and per piece (14 at threshold 115) 4 more and at most
    8 for the buckets; a million labels take 150 MB. Building is linear in labels times pieces,
    after one sort.
    """

    def __init__(self, digests: NDArray[np.uint8], threshold: int) -> None:
        """`digests` are rows of 32 bytes. Of equal ones the first is kept; digests of zeros are
        left out. `plan` is None where every query is compared with every label."""
        require(LOWEST <= threshold <= HIGHEST, "threshold", threshold,
                f"from {LOWEST} to {HIGHEST}")
        self._threshold = threshold
        kept = np.flatnonzero(comparable(digests))
        self._labels, self._rows = _collapsed(words(digests[kept]), kept)
        self._columns = np.ascontiguousarray(self._labels.T)
        self.plan = choose_plan(len(self), threshold)
        if self.plan is not None:
            self._patterns = self.plan.patterns()
            self._heads, self._members = bucket(self._labels, self.plan.starts, self.plan.bits)

    def __len__(self) -> int:
        """Distinct digests."""
        return len(self._rows)

    def best(self, digests: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
        """For each digest the row of the label with the highest score, of equal ones the
        smallest row, and the score; -1 and NO_SCORE where none reaches the threshold.

        A higher threshold T needs no other index: its matches are those with a score >= T.
        Memory: about 100 bytes per digest.
        """
        row = np.full(len(digests), NONE, np.int64)
        score = np.full(len(digests), NO_SCORE, np.int16)
        asked = np.flatnonzero(comparable(digests))
        nearest = np.full(len(asked), NONE, np.int64)
        distance = np.full(len(asked), HIGHEST - self._threshold + 1, np.int64)
        queries = words(digests[asked])
        which = np.arange(len(asked))
        if self.plan is not None:
            which = nearest_by_pieces(
                queries, self._labels, self._rows, self._heads, self._members, self.plan.starts,
                self.plan.bits, self._patterns, self.plan.probes, self.plan.found_within,
                int(_BUDGET * len(self)), nearest, distance)
        nearest_of_all(queries, which, self._labels, self._columns, self._rows, nearest, distance)
        found = nearest != NONE
        row[asked[found]] = nearest[found]
        score[asked[found]] = HIGHEST - distance[found]
        return row, score


def _collapsed(
    labels: NDArray[np.uint64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Distinct labels in order of their words, each with its smallest row. Sorted, those that
    share a bucket lie near each other in memory: half the time where digests are clustered."""
    order = np.lexsort((rows, *labels.T[::-1]))
    labels, rows = labels[order], rows[order]
    first = np.ones(len(labels), np.bool_)
    first[1:] = (labels[1:] != labels[:-1]).any(axis=1)
    return np.ascontiguousarray(labels[first]), rows[first]
