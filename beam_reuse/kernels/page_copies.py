"""Which pages hold most grams of another, from the lists of pages that grams occur on."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.hash_tables import number_distinct


@kernel
def _members(
    start: int, end: int, offsets: np.ndarray, sources: np.ndarray, other_offsets: np.ndarray,
    others: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """All pages of the classes `start` to `end`, sources and others, and the class of each."""
    count = offsets[end] - offsets[start] + other_offsets[end] - other_offsets[start]
    pages, class_of = np.empty(count, np.uint64), np.empty(count, np.int64)
    found = 0
    for i in range(start, end):
        for at in range(offsets[i], offsets[i + 1]):
            pages[found], class_of[found] = sources[at], i
            found += 1
        for at in range(other_offsets[i], other_offsets[i + 1]):
            pages[found], class_of[found] = others[at], i
            found += 1
    return pages, class_of


@kernel
def sharing_most(
    docs: np.ndarray, starts: np.ndarray, ends: np.ndarray, weights: np.ndarray,
    limits: np.ndarray, offsets: np.ndarray, sources: np.ndarray, other_offsets: np.ndarray,
    others: np.ndarray, grams: np.ndarray, unknown: np.ndarray, least: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For some pages, numbers of `starts` and `ends`, the pages that may hold the share `least` of
    their `grams`: whose it is, the page, how many grams they share as far as classes say, and the
    smallest of `limits` of these classes. `unknown`: so many more may be shared.

    The classes of a page are `starts` to `ends`; class i has `weights[i]` grams. Cost: a table of
    the members of its classes for each page.
    """
    size = 64
    of, page = np.empty(size, np.int64), np.empty(size, np.uint64)
    shared, limit = np.empty(size, np.int64), np.empty(size, np.int64)
    found = 0
    for doc in docs:
        pages, class_of = _members(
            starts[doc], ends[doc], offsets, sources, other_offsets, others)
        numbers, first = number_distinct(pages)
        sums = np.zeros(len(first), np.int64)
        smallest = np.full(len(first), np.iinfo(np.int64).max, np.int64)
        for i in range(len(pages)):
            sums[numbers[i]] += weights[class_of[i]]
            smallest[numbers[i]] = min(smallest[numbers[i]], limits[class_of[i]])
        for i in range(len(first)):
            if (sums[i] + unknown[doc]) / grams[doc] < least:
                continue
            if found == size:
                size *= 2
                of, page = _larger(of, size), _larger(page, size)
                shared, limit = _larger(shared, size), _larger(limit, size)
            of[found], page[found] = doc, pages[first[i]]
            shared[found], limit[found] = sums[i], smallest[i]
            found += 1
    return of[:found].copy(), page[:found].copy(), shared[:found].copy(), limit[:found].copy()


@kernel
def _larger(values: np.ndarray, size: int) -> np.ndarray:
    out = np.empty(size, values.dtype)
    out[: len(values)] = values
    return out


@kernel
def _holds(values: np.ndarray, value: int) -> bool:
    at = np.searchsorted(values, value)
    return bool(at < len(values) and values[at] == value)


@kernel
def without_copies(
    starts: np.ndarray, ends: np.ndarray, offsets: np.ndarray, sources: np.ndarray,
    other_offsets: np.ndarray, others: np.ndarray, bounds: np.ndarray, copies: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Which sources are no copies of the page whose they are, and which classes have another page
    than copies. Page i has the classes `starts[i]` to `ends[i]` and the copies
    copies[bounds[i]:bounds[i + 1]], in order."""
    kept, alive = np.ones(len(sources), np.bool_), np.ones(len(offsets) - 1, np.bool_)
    for doc in range(len(starts)):
        mine = copies[bounds[doc]:bounds[doc + 1]]
        if len(mine) == 0:
            continue
        for i in range(starts[doc], ends[doc]):
            alive[i] = False
            for at in range(offsets[i], offsets[i + 1]):
                kept[at] = not _holds(mine, sources[at])
                alive[i] |= kept[at]
            for at in range(other_offsets[i], other_offsets[i + 1]):
                if not alive[i]:
                    alive[i] = not _holds(mine, others[at])
    return kept, alive
