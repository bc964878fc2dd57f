"""How good a classification is: counts, rates as exact fractions, and a sweep of the threshold."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Rate:
    """`part` of `whole`, both exact; of nothing there is no rate."""

    part: int | Fraction
    whole: int | Fraction

    @property
    def value(self) -> float | None:
        return float(Fraction(self.part) / Fraction(self.whole)) if self.whole else None


@dataclass(frozen=True)
class Confusion:
    """Positives and negatives, flagged or not. Counts, or sums of weights (Fractions)."""

    tp: int | Fraction = 0
    fp: int | Fraction = 0
    fn: int | Fraction = 0
    tn: int | Fraction = 0

    @property
    def judged(self) -> int | Fraction:
        return self.tp + self.fp + self.fn + self.tn

    def rates(self) -> dict[str, Rate]:
        """Each usual rate by name, with what it is a fraction of."""
        return {
            "precision": Rate(self.tp, self.tp + self.fp),
            "recall": Rate(self.tp, self.tp + self.fn),
            "f1": Rate(2 * self.tp, 2 * self.tp + self.fp + self.fn),
            "false_positive_rate": Rate(self.fp, self.fp + self.tn),
            "accuracy": Rate(self.tp + self.tn, self.judged),
        }


def confusion_of(outcomes: Iterable[tuple[bool, bool]],
                 weights: Iterable[int | Fraction] | None = None) -> Confusion:
    """The confusion of pairs (is positive, is flagged), each counted once or by its weight."""
    pairs = list(outcomes)
    sums: Counter[tuple[bool, bool]] = Counter()
    for pair, weight in zip(pairs, weights or [1] * len(pairs), strict=True):
        sums[pair] += weight  # type: ignore[assignment]
    return Confusion(sums[True, True], sums[False, True], sums[True, False], sums[False, False])


@dataclass(frozen=True)
class SweepStep:
    """What a threshold flags: every share above it."""

    share: int
    confusion: Confusion


def sweep(shares: Sequence[tuple[bool, int]]) -> list[SweepStep]:
    """The confusion at every threshold that makes a difference, from 0 up.

    `shares` are pairs (is positive, share); a share of 0 is flagged by no threshold, and so is
    what can never be flagged if it is given as 0. Rows of one share change sides together. Cost:
    a sort.
    """
    positives = Counter(share for positive, share in shares if positive)
    negatives = Counter(share for positive, share in shares if not positive)
    all_positive, all_negative = positives.total(), negatives.total()
    fn = tn = 0
    steps = []
    for share in sorted({0, *positives, *negatives}):
        fn += positives[share]
        tn += negatives[share]
        steps.append(SweepStep(share, Confusion(all_positive - fn, all_negative - tn, fn, tn)))
    return steps
