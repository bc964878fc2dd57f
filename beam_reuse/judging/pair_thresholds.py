"""Other thresholds on judged pairs: sweeps, a choice on one half of the labels, calibration."""

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from beam_reuse.core.tokens import fingerprint64
from beam_reuse.core.verdicts import Verdict
from beam_reuse.judging.measures import Measure, Number, Rate
from beam_reuse.judging.pair_figures import (
    B_SIMILARITY,
    C_SIMILARITY,
    Figures,
    JudgedPair,
    by_site,
    within,
)
from beam_reuse.judging.similarities import COMBINED, B, C, SimilaritySettings


@dataclass(frozen=True)
class Step:
    """What is returned at a threshold."""

    threshold: int
    counts: Measure
    estimate: Measure | None = None

    @property
    def best(self) -> Measure:
        """By which thresholds are chosen."""
        return self.estimate or self.counts


@dataclass(frozen=True)
class Choice:
    """A threshold chosen on one half of the labels (None: none can be), and what it gives there
    and on the other half, there also by site."""

    half: int
    chosen: Step | None
    tested: tuple[Figures, ...]


@dataclass(frozen=True)
class Calibration:
    """Correct pairs that C returns at each threshold from the run's own up, beside those of B.
    `threshold`: the largest at which C returns at least as many; None if there is none."""

    b_correct: Number
    c_correct: tuple[tuple[int, Number], ...]
    threshold: int | None


def b_steps(pairs: Sequence[JudgedPair], settings: SimilaritySettings) -> list[Step]:
    """What stricter B-thresholds than the run's would return."""
    levels = range(settings.b_threshold, settings.supershingles + 1)
    return _steps([pair for pair in pairs if B in pair.returned], B_SIMILARITY, levels)


def c_sweep(pairs: Sequence[JudgedPair], also: Iterable[int] = ()) -> list[Step]:
    """What combined returns at every C-threshold that makes a difference, and at those of `also`.
    B-similar pairs are listed whatever their C-similarity, so every threshold can be looked at;
    `pairs` are those of them that have one."""
    levels = {pair.c_similarity for pair in pairs if pair.c_similarity is not None}
    return _steps(pairs, C_SIMILARITY, sorted(levels.union(also)))


def _steps(pairs: Sequence[JudgedPair], column: str, levels: Iterable[int]) -> list[Step]:
    wholes = [(level, by_site(COMBINED, pairs, within(column, level))[0]) for level in levels]
    return [Step(level, whole.counts, whole.estimate) for level, whole in wholes]


def in_random_order(pairs: Iterable[JudgedPair], seed: int) -> list[JudgedPair]:
    """The pairs in an order that depends on the seed and on their URLs alone."""
    def order(pair: JudgedPair) -> tuple[int, tuple[str, str]]:
        urls = "\0".join(pair.key).encode("utf-8", "surrogatepass")
        return fingerprint64(struct.pack("<Q", seed) + urls), pair.key

    return sorted(pairs, key=order)


def halves(pairs: Sequence[JudgedPair], seed: int) -> tuple[list[JudgedPair], list[JudgedPair]]:
    """The pairs in two halves that depend on the seed and on their URLs alone."""
    ordered = in_random_order(pairs, seed)
    middle = (len(ordered) + 1) // 2
    return ordered[:middle], ordered[middle:]


def choose(steps: Iterable[Step], least_kept: Fraction) -> Step | None:
    """Of the steps with an R of at least `least_kept` the one with the highest precision; then
    with the higher R; then with the higher threshold. None where B has no correct pair."""
    def rank(step: Step) -> tuple[Fraction, Fraction, int]:
        measure = step.best
        return _exact(measure.precision), _exact(measure.kept), step.threshold

    good = [s for s in steps if s.best.kept and s.best.kept.whole and s.best.judged
            and _exact(s.best.kept) >= least_kept]
    return max(good, key=rank, default=None)


def _exact(rate: Rate | None) -> Fraction:
    return Fraction(rate.part) / Fraction(rate.whole) if rate and rate.whole else Fraction(0)


def choices(pairs: Sequence[JudgedPair], seed: int, least_kept: Fraction) -> list[Choice]:
    """The C-threshold of combined chosen on each half of the pairs and tested on the other."""
    two = halves(pairs, seed)
    found = []
    for half in (0, 1):
        chosen = choose(c_sweep(two[half]), least_kept)
        tested: list[Figures] = []
        if chosen:
            tested = by_site(COMBINED, two[1 - half], within(C_SIMILARITY, chosen.threshold))
        found.append(Choice(half + 1, chosen, tuple(tested)))
    return found


def calibrate(pairs: Sequence[JudgedPair], settings: SimilaritySettings) -> Calibration:
    """The C-threshold at which C returns as many correct pairs as B."""
    correct = [pair for pair in pairs if pair.verdict is Verdict.POSITIVE]
    b_correct = sum(pair.weight for pair in correct if B in pair.returned)
    mine = [pair for pair in correct if C in pair.returned]
    levels = range(settings.c_threshold, settings.projection_bits + 1)
    counts = tuple((t, sum(p.weight for p in filter(within(C_SIMILARITY, t), mine)))
                   for t in levels)
    enough = [t for t, count in counts if count >= b_correct]
    return Calibration(b_correct, counts, max(enough) if enough and b_correct else None)
