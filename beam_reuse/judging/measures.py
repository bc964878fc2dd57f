"""How good a classification is: counts, rates as exact fractions, and a sweep of the threshold."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from beam_reuse.core.verdicts import Verdict

Number = int | Fraction


@dataclass(frozen=True)
class Rate:
    """`part` of `whole`, both exact; of nothing there is no rate."""

    part: Number
    whole: Number

    @property
    def value(self) -> float | None:
        return float(Fraction(self.part) / Fraction(self.whole)) if self.whole else None


@dataclass(frozen=True)
class Measure:
    """What is returned, by verdict: counts, or sums of weights. `labelled` are all correct
    ones that were judged, `of_b` those of them that B returns, where that can be said."""

    correct: Number = 0
    incorrect: Number = 0
    undecided: Number = 0
    labelled: Number | None = None
    of_b: Number | None = None

    @property
    def judged(self) -> Number:
        return self.correct + self.incorrect + self.undecided

    @property
    def precision(self) -> Rate:
        """What is correct of all that was judged, the undecided too."""
        return Rate(self.correct, self.judged)

    @property
    def decided_precision(self) -> Rate:
        """What is correct of that which is correct or incorrect."""
        return Rate(self.correct, self.correct + self.incorrect)

    @property
    def recall(self) -> Rate | None:
        """What is correct of all correct that was judged."""
        return None if self.labelled is None else Rate(self.correct, self.labelled)

    @property
    def kept(self) -> Rate | None:
        """R: what is correct of that which B returns."""
        return None if self.of_b is None else Rate(self.correct, self.of_b)


def tally(verdicts: Sequence[Verdict], weights: Sequence[Number] | None = None) -> Measure:
    """What was judged by verdict, each counted once or by its weight."""
    sums: dict[Verdict, Number] = dict.fromkeys(Verdict, 0)
    for verdict, weight in zip(verdicts, weights or [1] * len(verdicts), strict=True):
        sums[verdict] += weight
    return Measure(sums[Verdict.POSITIVE], sums[Verdict.NEGATIVE], sums[Verdict.UNDECIDED])


@dataclass(frozen=True)
class Confusion:
    """Positives and negatives, flagged or not. Counts, or sums of weights (Fractions)."""

    tp: Number = 0
    fp: Number = 0
    fn: Number = 0
    tn: Number = 0

    @property
    def judged(self) -> Number:
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
                 weights: Iterable[Number] | None = None) -> Confusion:
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
