"""Thresholds: how many labels known to be bad, and how many known to be benign, does each
discovery threshold find?"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beam_reuse.experiments.vectors import Ints


@dataclass(frozen=True)
class Rates:
    """What a threshold finds of the judged labels. A label is found if it occurs more often
    than the threshold; true positives are bad ones, false positives benign ones."""

    threshold: int
    true_positives: int
    false_positives: int


def rates(bad: Ints, benign: Ints) -> Iterator[Rates]:
    """The rates at every threshold where they change, from 0 on, given how often each judged
    label occurs. Between two of these thresholds nothing changes. Cost: one sort."""
    thresholds = np.unique(np.concatenate([[0], bad, benign]).astype(np.int64))
    bad, benign = np.sort(bad), np.sort(benign)
    found = [len(counts) - np.searchsorted(counts, thresholds, side="right")
             for counts in (bad, benign)]
    for threshold, true, false in zip(thresholds.tolist(), *(f.tolist() for f in found),
                                      strict=True):
        yield Rates(threshold, true, false)
