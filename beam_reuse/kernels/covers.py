"""Lists of pages that share grams, what they may take from each other, and greedy covers."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.hash_tables import number_distinct, slots_for
from beam_reuse.kernels.mixing import chain, mix


@kernel
def sort_runs(words: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
    """Sort the rows of each stretch by their first word, in place (Shell's sort: a general one of
    Numba's takes seconds to compile)."""
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        gap = 1
        while gap < (end - start) // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for row in range(start + gap, end):
                at = row
                while at >= start + gap and words[at - gap, 0] > words[at, 0]:
                    for w in range(words.shape[1]):
                        words[at - gap, w], words[at, w] = words[at, w], words[at - gap, w]
                    at -= gap
            gap //= 3


@kernel
def _same_rows(words: np.ndarray, first: int, other: int, count: int) -> bool:
    for i in range(count):
        for w in range(words.shape[1]):
            if words[first + i, w] != words[other + i, w]:
                return False
    return True


@kernel
def number_lists(
    words: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each stretch of rows the number of its content, in order of first appearance, and for
    each number the first stretch that has it. Equal means equal in every word."""
    mask = slots_for(len(starts)) - 1
    table = np.full(mask + 1, -1, np.int64)
    numbers, first = np.empty(len(starts), np.int64), np.empty(len(starts), np.int64)
    hashes = np.empty(len(starts), np.uint64)
    count = 0
    for i in range(len(starts)):
        rows = ends[i] - starts[i]
        state = np.uint64(rows)
        for row in range(starts[i], ends[i]):
            state = chain(state, words[row, 0])
        state = mix(state)
        place = np.int64(state & np.uint64(mask))
        while table[place] >= 0:
            known = table[place]
            other = first[known]
            if (hashes[known] == state and ends[other] - starts[other] == rows
                    and _same_rows(words, starts[other], starts[i], rows)):
                break
            place = (place + 1) & mask
        if table[place] < 0:
            table[place], hashes[count], first[count] = count, state, i
            count += 1
        numbers[i] = table[place]
    return numbers, first[:count].copy()


@kernel
def _may_take(words: np.ndarray, taker: int, source: int) -> bool:
    """Whether one page of a list may have another as its source: its first word is the page; a
    second, the domain, must differ; a third, the address, too, where both have one (not 0)."""
    if words[taker, 0] == words[source, 0]:
        return False
    if words.shape[1] > 1 and words[taker, 1] == words[source, 1]:
        return False
    return words.shape[1] < 3 or words[taker, 2] != words[source, 2] or words[taker, 2] == 0


@kernel
def sources_of(
    words: np.ndarray, takers: np.ndarray, starts: np.ndarray, ends: np.ndarray,
    whole: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each taker, a row of `words`, which pages of its list (rows `starts` to `ends`) it may
    take from: how many, and all of them in order; and the same of the other pages, for takers
    whose list is given `whole`."""
    counts, rest = np.zeros(len(takers), np.int64), np.zeros(len(takers), np.int64)
    size = (ends - starts).sum()
    out, others = np.empty(size, np.uint64), np.empty(size, np.uint64)
    found = left = 0
    for i in range(len(takers)):
        for row in range(starts[i], ends[i]):
            if _may_take(words, takers[i], row):
                out[found] = words[row, 0]
                found += 1
                counts[i] += 1
            elif whole[i] and row != takers[i]:
                others[left] = words[row, 0]
                left += 1
                rest[i] += 1
    return counts, out[:found].copy(), rest, others[:left].copy()


@kernel
def _before(gains: np.ndarray, a: int, b: int) -> bool:
    return gains[a] > gains[b] or (gains[a] == gains[b] and a < b)


@kernel
def _sift_down(heap: np.ndarray, gains: np.ndarray, at: int, size: int) -> None:
    """Restore the heap below `at`: greatest gain first, ties to the smallest number."""
    number = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(gains, heap[child + 1], heap[child]):
            child += 1
        if _before(gains, number, heap[child]):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = number


@kernel
def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each value its number among the distinct ones in order, and these."""
    number, first = number_distinct(values)
    order = np.argsort(values[first])
    in_order = np.empty(len(order), np.int64)
    in_order[order] = np.arange(len(order))
    return in_order[number], values[first[order]]


@kernel
def greedy_cover(
    weights: np.ndarray, offsets: np.ndarray, sources: np.ndarray, total: int, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A cover of classes of things by sources: those chosen, what each newly covers, and for each
    class the rank of the source that covers it (-1: none).

    Class i has `weights[i]` things (0: it does not count) and can be covered by
    `sources[offsets[i]:offsets[i + 1]]`. Each choice covers most of what is not covered, ties go
    to the smallest source; it ends where nothing is left, or before a choice that covers less than
    the share `least` of `total`. Cost: a table of all `sources`, a heap of the distinct ones.
    """
    classes = len(weights)
    number, distinct = _numbered(sources)
    count = len(distinct)
    begins = np.zeros(count + 1, np.int64)
    for i in range(len(sources)):
        begins[number[i] + 1] += 1
    for i in range(count):
        begins[i + 1] += begins[i]
    places, class_of = begins[:-1].copy(), np.empty(len(sources), np.int64)
    for i in range(classes):
        for at in range(offsets[i], offsets[i + 1]):
            class_of[places[number[at]]] = i
            places[number[at]] += 1
    gains, told = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for i in range(count):
        for at in range(begins[i], begins[i + 1]):
            gains[i] += weights[class_of[at]]
    told[:] = gains
    heap, size = np.arange(count), count
    for at in range(count // 2 - 1, -1, -1):
        _sift_down(heap, told, at, size)
    rank_of = np.full(classes, -1, np.int64)
    chosen, gained = np.empty(count, np.uint64), np.empty(count, np.int64)
    found = 0
    while size > 0:
        best = heap[0]
        if gains[best] < told[best]:
            told[best] = gains[best]
        elif gains[best] == 0 or gains[best] / total < least:
            break
        else:
            chosen[found], gained[found] = distinct[best], gains[best]
            for i in range(begins[best], begins[best + 1]):
                covered = class_of[i]
                if rank_of[covered] < 0 and weights[covered] > 0:
                    rank_of[covered] = found
                    for other in range(offsets[covered], offsets[covered + 1]):
                        gains[number[other]] -= weights[covered]
            found += 1
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            _sift_down(heap, told, 0, size)
    return chosen[:found].copy(), gained[:found].copy(), rank_of


@kernel
def cover_each(
    starts: np.ndarray, ends: np.ndarray, weights: np.ndarray, offsets: np.ndarray,
    sources: np.ndarray, totals: np.ndarray, least: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """`greedy_cover` for each page, whose classes are `starts` to `ends`: how many sources each
    has, all sources and gains page after page, and the ranks of all classes."""
    counts = np.zeros(len(starts), np.int64)
    chosen, gained = np.empty(len(weights), np.uint64), np.empty(len(weights), np.int64)
    rank_of = np.full(len(weights), -1, np.int64)
    found = 0
    for page in range(len(starts)):
        start, end = starts[page], ends[page]
        first = offsets[start]
        one, gain, rank = greedy_cover(
            weights[start:end], offsets[start:end + 1] - first,
            sources[first:offsets[end]], totals[page], least)
        counts[page] = len(one)
        chosen[found:found + len(one)], gained[found:found + len(one)] = one, gain
        rank_of[start:end] = rank
        found += len(one)
    return counts, chosen[:found].copy(), gained[:found].copy(), rank_of
