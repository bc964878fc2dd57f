"""Two texts side by side: which lines are the same, and what differs in the others, to the
character."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.diff import edit_masks

MOST_LETTERS = 20_000
_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
_MOST_COMPARED = 40
_ALIKE = 0.3
_ALMOST = 3
"""Words that share at least a third of their letters, at their ends, differ by the others; fewer
are chance."""

Pieces = list[list[Any]]


class Aligned(NamedTuple):
    """A row: a line of each side or of one, as pieces [text, whether it differs]."""

    kind: str
    a: Pieces | None
    b: Pieces | None
    n_a: int = 0
    n_b: int = 0


def aligned(a: Sequence[str], b: Sequence[str]) -> list[Aligned]:
    """The lines of both texts in order. Equal lines are those of a longest common subsequence;
    lines between them face each other where a third of their words is the same."""
    rows: list[Aligned] = []
    i = j = 0
    for i_end, j_end in [*_common(a, b), (len(a), len(b))]:
        rows += _changed(a, b, (i, i_end), (j, j_end))
        if i_end < len(a) and j_end < len(b):
            rows.append(Aligned("same", _whole(a[i_end]), _whole(b[j_end]), i_end + 1, j_end + 1))
        i, j = i_end + 1, j_end + 1
    return rows


def warm_up() -> None:
    """Load what compares: the first time takes a second, and after an installation several."""
    aligned(["a"], ["b"])


def _whole(line: str, differs: bool = False) -> Pieces:
    return [[line[:MOST_LETTERS], differs]]


def _common(a: Sequence[Any], b: Sequence[Any]) -> list[tuple[int, int]]:
    """Places of what both sequences have, in one longest common subsequence."""
    numbers: dict[Any, int] = {}
    first, second = (np.array([numbers.setdefault(each, len(numbers)) for each in side], np.uint64)
                     for side in (a, b))
    deleted, inserted = edit_masks(frozen(first), frozen(second))
    return list(zip(np.flatnonzero(~deleted).tolist(), np.flatnonzero(~inserted).tolist(),
                    strict=True))


def _changed(a: Sequence[str], b: Sequence[str], of_a: tuple[int, int],
             of_b: tuple[int, int]) -> Iterator[Aligned]:
    """Lines between two that are the same: those alike face each other, in order."""
    i, j = of_a[0], of_b[0]
    for i_at, j_at in [*_partners(a, b, of_a, of_b), (of_a[1], of_b[1])]:
        for n in range(i, i_at):
            yield Aligned("only_a", _whole(a[n], True), None, n + 1)
        for n in range(j, j_at):
            yield Aligned("only_b", None, _whole(b[n], True), 0, n + 1)
        if i_at < of_a[1] and j_at < of_b[1]:
            yield Aligned("changed", *differing(a[i_at], b[j_at]), i_at + 1, j_at + 1)
        i, j = i_at + 1, j_at + 1


def _partners(a: Sequence[str], b: Sequence[str], of_a: tuple[int, int],
              of_b: tuple[int, int]) -> list[tuple[int, int]]:
    """Lines that face each other: the choice in order with most words in common. Of many lines
    those are compared that are as far from the start."""
    n, m = of_a[1] - of_a[0], of_b[1] - of_b[0]
    if not n or not m:
        return []
    if max(n, m) > _MOST_COMPARED:
        return [(of_a[0] + k, of_b[0] + k) for k in range(min(n, m))
                if _alike(a[of_a[0] + k], b[of_b[0] + k]) >= _ALIKE]
    scores = np.array([[_alike(a[i], b[j]) for j in range(*of_b)] for i in range(*of_a)])
    best = np.zeros((n + 1, m + 1))
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            pair = scores[i, j] + best[i + 1, j + 1] if scores[i, j] >= _ALIKE else 0.0
            best[i, j] = max(best[i + 1, j], best[i, j + 1], pair)
    found, i, j = [], 0, 0
    while i < n and j < m:
        if scores[i, j] >= _ALIKE and best[i, j] == scores[i, j] + best[i + 1, j + 1]:
            found.append((of_a[0] + i, of_b[0] + j))
            i, j = i + 1, j + 1
        elif best[i, j] == best[i + 1, j]:
            i += 1
        else:
            j += 1
    return found


def _alike(a: str, b: str) -> float:
    """The share of words that both have; of lines of one word, of letters at both ends."""
    a, b = a[:2_000], b[:2_000]
    one, two = set(a.lower().split()), set(b.lower().split())
    both = len(one & two) / max(len(one | two), 1)
    if both < _ALIKE and max(len(one), len(two)) <= 3:
        start, end = _ends(a, b)
        both = max(both, (start + end) / max(len(a), len(b), 1))
    return both


def _ends(a: str, b: str) -> tuple[int, int]:
    """How many characters both have at the start, and of the rest at the end."""
    most, start, end = min(len(a), len(b)), 0, 0
    while start < most and a[start] == b[start]:
        start += 1
    while end < most - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return start, end


def differing(a: str, b: str) -> tuple[Pieces, Pieces]:
    """Two lines as pieces [text, whether it differs]: words that both have are the same, and of
    the others what they begin and end with, if it is a good part of them."""
    words_a, words_b = _WORDS.findall(a[:MOST_LETTERS]), _WORDS.findall(b[:MOST_LETTERS])
    left: Pieces = []
    right: Pieces = []
    i = j = 0
    for i_end, j_end in [*_common(words_a, words_b), (len(words_a), len(words_b))]:
        one, two = "".join(words_a[i:i_end]), "".join(words_b[j:j_end])
        start, end = _ends(one, two)
        if (start + end) * _ALMOST < max(len(one), len(two)):
            start = end = 0
        for side, text in ((left, one), (right, two)):
            _add(side, text[:start], False)
            _add(side, text[start:len(text) - end], True)
            _add(side, text[len(text) - end:], False)
        if i_end < len(words_a):
            _add(left, words_a[i_end], False)
            _add(right, words_b[j_end], False)
        i, j = i_end + 1, j_end + 1
    return left, right


def _add(pieces: Pieces, text: str, differs: bool) -> None:
    if text and pieces and pieces[-1][1] == differs:
        pieces[-1][0] += text
    elif text:
        pieces.append([text, differs])
