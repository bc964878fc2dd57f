"""Tolerance: how many mutations, as a multiple of the mean chunks per page, until the mean
share of matching chunks is no longer above the threshold."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Tolerance:
    """`crossing`: where the straight line between two steps meets the threshold; `step`: the
    first step at or below it. None: the mean stays above it as far as was looked."""

    crossing: Fraction | None
    step: Fraction | None


def tolerance(
    multiples: Sequence[Fraction], means: Sequence[Fraction | None], threshold: Fraction,
) -> Tolerance:
    """The tolerance of a curve of means at ascending multiples. The curve ends where it has
    no mean any more; one that begins at or below the threshold tolerates nothing."""
    for k, (multiple, mean) in enumerate(zip(multiples, means, strict=True)):
        if mean is None:
            break
        if mean > threshold:
            continue
        before = means[k - 1] if k else None
        if before is None:
            return Tolerance(multiple, multiple)
        part = (before - threshold) / (before - mean)
        return Tolerance(multiples[k - 1] + part * (multiple - multiples[k - 1]), multiple)
    return Tolerance(None, None)


def mutation_counts(multiples: Sequence[Fraction], mean: Fraction) -> tuple[int, ...]:
    """Whole numbers of mutations per page nearest to these multiples of `mean`, ascending,
    each once; halves go up."""
    return tuple(sorted({int(multiple * mean + Fraction(1, 2)) for multiple in multiples}))
