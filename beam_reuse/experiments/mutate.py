"""Mutate: how much may a page change before it is no longer found?

Every page suffers the same number n of mutations: n unrelated chunks are *added*, n random
chunks are *deleted* (a page without chunks is gone), or n times a chunk is picked, with
replacement, and one character of it *changed*. A changed chunk matches nothing any more.

One run is one stream of mutations, looked at after n of them for each n asked for. So a
chunk's whole fate is one number, its `life`: it is unharmed after n mutations if n <= life.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.shares import ONE, shares
from beam_reuse.experiments.draws import Draws
from beam_reuse.experiments.vectors import Ints, SiteChunks

# Random numbers drawn, and counters held, at a time: some 100 MB.
_BATCH = 1 << 21


@dataclass(frozen=True)
class Mutation:
    """One experiment: `way` is add, delete or change; `mutations` are the numbers n of
    mutations per page, ascending."""

    way: str
    mutations: tuple[int, ...]
    runs: int
    seed: int

    @property
    def is_random(self) -> bool:
        """Adding chunks that match nothing leaves nothing to chance."""
        return self.way != "add"


@dataclass(frozen=True)
class KnownChunks:
    """What is looked for: a mask over distinct chunks. A page whose share of them is above
    `threshold` (a share as an integer) counts as detected."""

    known: NDArray[np.bool_]
    threshold: int


@dataclass(frozen=True)
class Mean:
    """A mean over runs with its standard error, 0 where nothing is random; neither where no
    page is left."""

    mean: Fraction | None
    error: float | None


@dataclass(frozen=True)
class MutationStep:
    """The site after `mutations` mutations per page, seen with one set of labels. `page`: mean
    of contains over the pages that are left; `neighbourhood`: contains of all of them
    together; `detected`: pages whose contains is above the threshold."""

    mutations: int
    pages: int
    chunks: int
    page: Mean
    neighbourhood: Mean
    detected: Mean


@dataclass
class _Sums:
    """Sums over pages: of shares, of matching chunks and of detected pages, one row per run
    and one column per number of mutations. Python integers: they cannot overflow."""

    shares: NDArray
    matching: NDArray
    detected: NDArray

    @staticmethod
    def zero(runs: int, steps: int) -> "_Sums":
        return _Sums(*(np.zeros((runs, steps), object) for _ in range(3)))


def mutate(
    chunks: SiteChunks, labels: Mapping[str, KnownChunks], how: Mutation,
) -> dict[str, list[MutationStep]]:
    """The steps for each set of labels.

    All sets see the same runs. Cost: one lot per page and mutation (change) or per chunk
    (delete), times the runs. The same for the same arguments, on any machine.
    """
    runs = how.runs if how.is_random else 1
    steps = np.array(how.mutations, np.int64)
    sums = {name: _Sums.zero(runs, len(steps)) for name in labels}
    left = np.zeros(len(steps), np.int64)
    sizes_left = np.zeros(len(steps), np.int64)
    draws = [Draws(how.seed, how.way, run) for run in range(runs)]
    for batch in batches(chunks, _BATCH // (max(how.mutations) + len(steps) + 1)):
        sizes = sizes_after(how.way, batch.sizes, steps)
        left += (sizes > 0).sum(axis=0)
        sizes_left += sizes.sum(axis=0)
        for run in range(runs):
            life = lives(how.way, batch.offsets, int(steps[-1]), draws[run])
            for name, sought in labels.items():
                matching = survivors(batch.offsets, sought.known[batch.number], life, steps)
                _add(sums[name], run, matching, sizes, sought.threshold)
    return {name: _steps(how, left, sizes_left, found) for name, found in sums.items()}


def batches(chunks: SiteChunks, pages: int) -> Iterator[SiteChunks]:
    """The vectors of up to `pages` pages at a time, and at least one."""
    pages = max(pages, 1)
    for first in range(0, chunks.pages, pages):
        offsets = chunks.offsets[first : first + pages + 1]
        yield SiteChunks(offsets - offsets[0], chunks.number[offsets[0] : offsets[-1]],
                     chunks.distinct)


def sizes_after(way: str, sizes: Ints, mutations: Ints) -> Ints:
    """Chunks of each page after each number of mutations: pages x steps."""
    by = {"add": 1, "delete": -1, "change": 0}[way]
    return np.maximum(sizes[:, None] + by * mutations[None, :], 0)


def lives(way: str, offsets: Ints, most: int, draws: Draws) -> Ints:
    """How many mutations of its page each chunk outlives, of `most` that are made."""
    if way == "delete":
        return draws.orders(offsets)
    life = np.full(int(offsets[-1]), most, np.int64)
    if way == "change" and most:
        picked = offsets[:-1, None] + draws.below(np.diff(offsets), most)
        np.minimum.at(life, picked.ravel(), np.tile(np.arange(most), len(picked)))
    return life


def survivors(
    offsets: Ints, labelled: NDArray[np.bool_], life: Ints, mutations: Ints,
) -> Ints:
    """Labelled chunks of each page that are unharmed after each number of mutations."""
    pages, steps = len(offsets) - 1, len(mutations)
    page = np.repeat(np.arange(pages), np.diff(offsets))[labelled]
    lived = np.searchsorted(mutations, life[labelled], side="right")
    counts = np.bincount(page * (steps + 1) + lived, minlength=pages * (steps + 1))
    table = counts.reshape(pages, steps + 1)[:, ::-1].cumsum(axis=1)[:, ::-1]
    return table[:, 1:].astype(np.int64)


def _add(sums: _Sums, run: int, matching: Ints, sizes: Ints, threshold: int) -> None:
    share = shares(matching.ravel(), sizes.ravel()).reshape(matching.shape)
    # Two sums of 20 bits each: one of 40 bits would overflow beyond 8 million pages.
    value = np.maximum(share, 0)
    high, low = (value >> 20).sum(axis=0), (value & 0xFFFFF).sum(axis=0)
    sums.shares[run] += (high.astype(object) << 20) + low.astype(object)
    sums.matching[run] += matching.sum(axis=0).astype(object)
    sums.detected[run] += (share > threshold).sum(axis=0).astype(object)


def _steps(how: Mutation, left: Ints, sizes: Ints, sums: _Sums) -> list[MutationStep]:
    return [
        MutationStep(
            mutations=how.mutations[k], pages=int(left[k]), chunks=int(sizes[k]),
            page=estimate(sums.shares[:, k], int(left[k]) * ONE),
            neighbourhood=estimate(sums.matching[:, k], int(sizes[k])),
            detected=estimate(sums.detected[:, k], 1),
        )
        for k in range(len(how.mutations))
    ]


def estimate(totals: Iterable[int], whole: int) -> Mean:
    """Mean and standard error of totals / whole over runs. One total stands for runs that
    cannot differ."""
    if whole == 0:
        return Mean(None, None)
    values = [Fraction(int(total), whole) for total in totals]
    mean = sum(values, Fraction(0)) / len(values)
    if len(values) == 1:
        return Mean(mean, 0.0)
    variance = sum(((v - mean) ** 2 for v in values), Fraction(0)) / (len(values) - 1)
    return Mean(mean, sqrt(variance / len(values)))
