"""Row order by any key columns: stable, lexicographic, bytes compared as unsigned.

Each column is a sequence of big-endian 64-bit words whose unsigned order is the column's
order. Rows are sorted by the first word (radix), and only rows still tied are looked at
again, so a SHA-1 column costs hardly more than a 64-bit one. Of strings that come more than once,
as URLs do in tables of pairs, each is sorted once, and its rank is its word.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.columns import differs, sort_columns
from beam_reuse.columnar.fixed import raw_bytes
from beam_reuse.columnar.hashing import SEED, hash_values
from beam_reuse.columnar.nested import Lists, Values
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.kernels.byte_strings import compare_strings, number_strings, string_words
from beam_reuse.kernels.compiled import frozen, kernel

_DIGIT = 11
_RADIX = 1 << _DIGIT
_MERGE_BELOW = 1024
_WORD_ROUNDS = 16
_RANKS_FROM, _RANKS_BELOW = 1 << 10, 1 << 31
_SIGN = np.uint64(1 << 63)


@kernel
def _merge_sort(words, rows):  # type: ignore[no-untyped-def]
    """Sort both arrays by `words`, stable, bottom-up from insertion-sorted stretches."""
    n = len(words)
    width = 16
    for lo in range(0, n, width):
        for i in range(lo + 1, min(lo + width, n)):
            w, r, j = words[i], rows[i], i
            while j > lo and words[j - 1] > w:
                words[j], rows[j] = words[j - 1], rows[j - 1]
                j -= 1
            words[j], rows[j] = w, r
    other_words, other_rows = np.empty_like(words), np.empty_like(rows)
    while width < n:
        for lo in range(0, n, 2 * width):
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, mid
            for k in range(lo, hi):
                if i < mid and (j >= hi or words[i] <= words[j]):
                    other_words[k], other_rows[k] = words[i], rows[i]
                    i += 1
                else:
                    other_words[k], other_rows[k] = words[j], rows[j]
                    j += 1
        words[:] = other_words
        rows[:] = other_rows
        width *= 2


@kernel
def _radix_sort(words, rows):  # type: ignore[no-untyped-def]
    """Sort both arrays by `words`, stable; digits that are the same in all words are skipped."""
    n = len(words)
    passes = (64 + _DIGIT - 1) // _DIGIT
    counts = np.zeros((passes, _RADIX), np.int64)
    for i in range(n):
        w = words[i]
        for p in range(passes):
            counts[p, (w >> np.uint64(p * _DIGIT)) & np.uint64(_RADIX - 1)] += 1
    a_words, a_rows = words, rows
    b_words, b_rows = np.empty_like(words), np.empty_like(rows)
    swapped = False
    for p in range(passes):
        shift = np.uint64(p * _DIGIT)
        if counts[p, (words[0] >> shift) & np.uint64(_RADIX - 1)] == n:
            continue
        total = 0
        for d in range(_RADIX):
            count = counts[p, d]
            counts[p, d] = total
            total += count
        for i in range(n):
            digit = (a_words[i] >> shift) & np.uint64(_RADIX - 1)
            to = counts[p, digit]
            counts[p, digit] = to + 1
            b_words[to] = a_words[i]
            b_rows[to] = a_rows[i]
        a_words, b_words = b_words, a_words
        a_rows, b_rows = b_rows, a_rows
        swapped = not swapped
    if swapped:
        words[:] = a_words
        rows[:] = a_rows


@kernel
def _tied(new):  # type: ignore[no-untyped-def]
    """Positions in groups of two or more; `new[p]` says that a group begins at p."""
    n = len(new)
    out = np.empty(n, np.int64)
    k = 0
    for p in range(n):
        if not new[p] or (p + 1 < n and not new[p + 1]):
            out[k] = p
            k += 1
    return out[:k].copy()


@kernel
def _refine(order, new, tied, words):  # type: ignore[no-untyped-def]
    """Sort each group of `order` by the words of its rows and mark the groups that result.

    `words[i]` belongs to the row at position `tied[i]`.
    """
    n = len(tied)
    i = 0
    while i < n:
        j = i + 1
        in_order = True
        while j < n and not new[tied[j]]:
            in_order = in_order and words[j - 1] <= words[j]
            j += 1
        at = tied[i]
        if not in_order:
            if j - i < _MERGE_BELOW:
                _merge_sort(words[i:j], order[at : at + j - i])
            else:
                _radix_sort(words[i:j], order[at : at + j - i])
        for k in range(i + 1, j):
            if words[k] != words[k - 1]:
                new[at + k - i] = True
        i = j


@kernel
def _refine_bytes(order, new, tied, offsets, data, skip):  # type: ignore[no-untyped-def]
    """As `_refine`, comparing whole values from byte `skip` on: for long common prefixes."""
    n = len(tied)
    i = 0
    while i < n:
        j = i + 1
        while j < n and not new[tied[j]]:
            j += 1
        rows = order[tied[i] : tied[i] + j - i]
        other = np.empty_like(rows)
        width = 1
        while width < len(rows):
            for lo in range(0, len(rows), 2 * width):
                mid, hi = min(lo + width, len(rows)), min(lo + 2 * width, len(rows))
                a, b = lo, mid
                for k in range(lo, hi):
                    if a < mid and (
                        b >= hi or compare_strings(offsets, data, rows[a], rows[b], skip) <= 0
                    ):
                        other[k] = rows[a]
                        a += 1
                    else:
                        other[k] = rows[b]
                        b += 1
            rows[:] = other
            width *= 2
        for k in range(1, len(rows)):
            if compare_strings(offsets, data, rows[k - 1], rows[k], skip) != 0:
                new[tied[i] + k] = True
        i = j


def order_words(column: np.ndarray) -> Iterator[NDArray[np.uint64]]:
    """The words of a fixed-width column, most significant first; floats by their bits."""
    kind = column.dtype.kind
    if kind == "V":
        every = np.arange(len(column))
        for at in range(0, column.dtype.itemsize, 8):
            yield _words_at(column, every, at)
    elif kind == "i":
        yield column.astype(np.int64, copy=False).view(np.uint64) ^ _SIGN
    elif kind == "f":
        bits = column.view(np.uint64)
        yield np.where(bits & _SIGN, ~bits, bits | _SIGN)
    else:
        yield column.astype(np.uint64, copy=False)


def _words_at(column: np.ndarray, rows: NDArray[np.int64], at: int) -> NDArray[np.uint64]:
    """Bytes `at`.. of the given rows of a column of bytes, as words."""
    width = column.dtype.itemsize
    return np.asarray(_fixed_words(frozen(raw_bytes(column)), width, frozen(rows), at))


@kernel
def _fixed_words(data, width, rows, at):  # type: ignore[no-untyped-def]
    """Bytes `at`.. of each row as a big-endian word, zeros beyond its end."""
    out = np.empty(len(rows), np.uint64)
    size = min(8, width - at)
    for i in range(len(rows)):
        start = rows[i] * width + at
        word = np.uint64(0)
        for k in range(size):
            word = word << np.uint64(8) | np.uint64(data[start + k])
        out[i] = word << np.uint64(8 * (8 - size))
    return out


def sort_order(columns: Sequence[Values], rows: int) -> NDArray[np.int64]:
    """The stable order of rows by the given columns, the first most significant.

    Time: a few passes over the first word, then only over rows that are still tied.
    """
    order = np.arange(rows, dtype=np.int64)
    new = np.zeros(rows, np.bool_)
    if not rows:
        return order
    new[0] = True
    for column in chain.from_iterable(map(sort_columns, columns)):
        if isinstance(column, VarBytes):
            _refine_by_bytes(order, new, column)
            continue
        if isinstance(column, Lists):
            tied = _tied(new)
            if len(tied):
                _refine(order, new, tied, _list_ranks(column.take(order[tied])))
            continue
        for words_of in _words_of_rows(column):
            tied = _tied(new)
            if not len(tied):
                return order
            _refine(order, new, tied, words_of(order[tied]))
    return order


def _words_of_rows(column: np.ndarray) -> Iterator[Callable[[NDArray], NDArray[np.uint64]]]:
    """The words of a fixed-width column, each as a function of the rows that are asked for."""
    if column.dtype.kind == "V":
        for at in range(0, column.dtype.itemsize, 8):
            yield partial(_words_at, column, at=at)
    else:
        for words in order_words(column):
            yield words.__getitem__


def _refine_by_bytes(order: NDArray[np.int64], new: NDArray[np.bool_], column: VarBytes) -> None:
    tied = _tied(new)
    if _RANKS_FROM <= len(order) < _RANKS_BELOW and 2 * len(tied) >= len(order):
        numbers, firsts = number_strings(column.offsets, column.data, hash_values(
            column.offsets, column.data, SEED))
        if 2 * len(firsts) <= len(order):
            ranks = np.empty(len(firsts), np.uint64)
            ranks[sort_order([column.take(firsts)], len(firsts))] = np.arange(
                len(firsts), dtype=np.uint64)
            _refine(order, new, tied, ranks[numbers[order[tied]]])
            return
    for depth in range(_WORD_ROUNDS):
        tied = _tied(new)
        if not len(tied):
            return
        rows = order[tied]
        words = string_words(column.offsets, column.data, frozen(rows), depth)
        _refine(order, new, tied, words)
        if 8 * (depth + 1) >= int(column.lengths()[rows].max()):
            tied = _tied(new)
            _refine(order, new, tied, column.lengths()[order[tied]].astype(np.uint64))
            return
    _refine_bytes(order, new, _tied(new), column.offsets, column.data, 8 * _WORD_ROUNDS)


def ranks(column: Values) -> NDArray[np.uint64]:
    """The rank of each value among the distinct values."""
    order = sort_order([column], len(column))
    out = np.zeros(len(column), np.uint64)
    out[order[1:]] = np.cumsum(differs(column.take(order)))
    return out


def _list_ranks(lists: Lists) -> NDArray[np.uint64]:
    """As `ranks`: lists of ranks, big-endian, are in order as byte strings are."""
    offsets, values = lists.flat()
    return ranks(VarBytes(8 * offsets, raw_bytes(ranks(values).astype(">u8"))))
