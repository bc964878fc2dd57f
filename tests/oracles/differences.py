"""The term difference of two token sequences by its definition: a table of prefixes."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def common(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Length of a longest common subsequence."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b):
            before, row[j + 1] = row[j + 1], (
                before + 1 if x == y else max(row[j], row[j + 1]))
    return row[-1]


def common_of_many(a: Sequence[int], b: Sequence[int]) -> int:
    """The same for long sequences: each row of the table at once."""
    values = np.array(b)
    row = np.zeros(len(values) + 1, np.int64)
    for x in a:
        row[1:] = np.maximum.accumulate(np.maximum(row[1:], row[:-1] + (values == x)))
    return int(row[-1])


def term_difference(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Insertions + deletions that make b of a."""
    return len(a) + len(b) - 2 * common(a, b)
