"""Loops of all-pairs overlap: fingerprints of chunks, and pairs of what shares a fingerprint.

A *unit* is a page or a host, a 64-bit number. A *list* holds the units with one fingerprint: list i
is units[starts[i]:starts[i + 1]], of the kind tags[i]. Pairs of units of different kinds are
different pairs. Every two units of a list are a pair; if it is one of `crowds`, each unit and the
first of the list, and each and the `near` before it. `silence` has flags: a row that is PASSED
makes no pairs with those before it, as it was in a list before; one that is SILENT makes none at
all; two that are OLD make none with each other.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.mixing import chain, mix

PASSED, SILENT, OLD = np.uint8(1), np.uint8(2), np.uint8(4)
_ALONE = PASSED | SILENT
IN_CROWD = np.uint64(1 << 32)
"""What a crowd adds to what a pair shares: the lower half counts lists that are no crowds."""
_EMPTY = -1
_HALF = np.uint64(32)


@kernel
def group_bounds(offsets: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Where groups of `size` values begin, and the end of the last; and for each page the number
    of its first group, and that of all. Groups do not cross pages."""
    groups = np.zeros(len(offsets), np.int64)
    for page in range(len(offsets) - 1):
        groups[page + 1] = groups[page] + (offsets[page + 1] - offsets[page] + size - 1) // size
    bounds = np.empty(groups[-1] + 1, np.int64)
    bounds[-1] = offsets[-1]
    for page in range(len(offsets) - 1):
        for i in range(groups[page + 1] - groups[page]):
            bounds[groups[page] + i] = offsets[page] + i * size
    return bounds, groups


@kernel
def sequence_fingerprints(bounds: np.ndarray, values: np.ndarray, seed: np.uint64) -> np.ndarray:
    """A fingerprint of each sequence values[bounds[i]:bounds[i + 1]]: order and length count."""
    out = np.empty(len(bounds) - 1, np.uint64)
    for i in range(len(out)):
        state = seed
        for at in range(bounds[i], bounds[i + 1]):
            state = chain(state, values[at])
        out[i] = mix(chain(state, np.uint64(bounds[i + 1] - bounds[i])))
    return out


@kernel
def distinct_of_each(offsets: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values of each page in ascending order, with the offsets they then have."""
    kept = np.zeros(len(offsets), np.int64)
    out = np.empty(len(values), np.uint64)
    count = 0
    for page in range(len(offsets) - 1):
        own = np.sort(values[offsets[page]:offsets[page + 1]])
        for i in range(len(own)):
            if i == 0 or own[i] != own[i - 1]:
                out[count] = own[i]
                count += 1
        kept[page + 1] = count
    return kept, out[:count].copy()


@kernel
def _pair_hash(tag: np.uint64, a: np.uint64, b: np.uint64) -> np.uint64:
    return mix(chain(chain(tag + np.uint64(1), a), b))


@kernel
def _before(crowd: bool, start: int, at: int, near: int) -> tuple[int, int]:
    """Those before a row that it makes pairs with: a first step, and the row of `low`. Rows from
    `low` on are the steps, and a step before that is the first row of the list."""
    low = max(start, at - near) if crowd else start
    return (low - 1 if low > start else low), low


@kernel
def add_pairs(
    tags: np.ndarray, starts: np.ndarray, crowds: np.ndarray, silence: np.ndarray,
    units: np.ndarray, near: int, counted: np.ndarray, cap: int, first: np.ndarray,
    second: np.ndarray,
) -> None:
    """Count the pairs of every list of a kind that is `counted` in two rows of counters, each by
    a hash of its own; counters stop at `cap`, where those of pairs of crowds are at once."""
    mask = np.uint64(len(first) - 1)
    for i in range(len(tags)):
        if not counted[tags[i]]:
            continue
        for at in range(starts[i], starts[i + 1]):
            if silence[at] & _ALONE:
                continue
            step, low = _before(crowds[i], starts[i], at, near)
            for earlier in range(step, at):
                other = starts[i] if earlier < low else earlier
                if silence[at] & silence[other] & OLD:
                    continue
                hashed = _pair_hash(np.uint64(tags[i]), min(units[at], units[other]),
                                    max(units[at], units[other]))
                one, two = hashed & mask, (hashed >> _HALF) & mask
                if crowds[i]:
                    first[one] = cap
                    second[two] = cap
                    continue
                if first[one] < cap:
                    first[one] += 1
                if second[two] < cap:
                    second[two] += 1


@kernel
def _has(bitmap: np.ndarray, at: np.uint64) -> bool:
    return (bitmap[at >> np.uint64(3)] >> np.uint8(at & np.uint64(7))) & 1 == 1


@kernel
def heavy_pairs(
    tags: np.ndarray, starts: np.ndarray, crowds: np.ndarray, silence: np.ndarray,
    units: np.ndarray, near: int, levels: np.ndarray, first: np.ndarray, second: np.ndarray,
    cursor: np.ndarray, slots: np.ndarray, count: int,
    out_tags: np.ndarray, out_a: np.ndarray, out_b: np.ndarray, shared: np.ndarray,
) -> int:
    """Adds the pairs of the lists that may be heavy to the `count` that are in the last four
    arrays, each once, with how many lists hold it, of which a crowd counts as IN_CROWD; gives how
    many there are then.

    A pair of a list of kind t is heavy if its bits are set in both bitmaps of level levels[t];
    below 0 every pair is. Goes on at `cursor`, the list and the place in it, and stops where the
    arrays might overflow. `slots` is a table for the pairs met, a power of two and at least
    twice as long as the arrays; it is -1 where there is none.
    """
    spread = len(slots) - 1
    mask = np.uint64(8 * first.shape[1] - 1)
    while cursor[0] < len(tags):
        i = cursor[0]
        tag, start, end = tags[i], starts[i], starts[i + 1]
        level, one = levels[tag], IN_CROWD if crowds[i] else np.uint64(1)
        at = max(cursor[1], start)
        while at < end:
            step, low = _before(crowds[i], start, at, near)
            if count + at - step > len(out_a):
                cursor[1] = at
                return count
            for earlier in range(step, step if silence[at] & _ALONE else at):
                other = start if earlier < low else earlier
                if silence[other] & SILENT or silence[at] & silence[other] & OLD:
                    continue
                a, b = min(units[at], units[other]), max(units[at], units[other])
                hashed = _pair_hash(np.uint64(tag), a, b)
                if level >= 0 and not (_has(first[level], hashed & mask)
                                       and _has(second[level], (hashed >> _HALF) & mask)):
                    continue
                slot = np.int64(hashed >> np.uint64(17)) & spread
                while slots[slot] != _EMPTY and not (
                        out_a[slots[slot]] == a and out_b[slots[slot]] == b
                        and out_tags[slots[slot]] == tag):
                    slot = (slot + 1) & spread
                if slots[slot] == _EMPTY:
                    slots[slot] = count
                    out_tags[count], out_a[count], out_b[count] = tag, a, b
                    shared[count] = 0
                    count += 1
                shared[slots[slot]] += one
            at += 1
        cursor[0] += 1
        cursor[1] = 0
    return count


@kernel
def drop_in_order(
    pages: np.ndarray, starts: np.ndarray, sizes: np.ndarray, near: np.ndarray,
    share: np.ndarray, dropped: np.ndarray,
) -> np.ndarray:
    """For each of the `pages`, in ascending order, where in `near` that one of its sizes[i]
    neighbours from starts[i] on is that is not dropped and has the largest `share`, the first of
    several; and then the page is dropped. -1 if there is none. `dropped` has a bit for each page.
    """
    out = np.full(len(pages), -1, np.int64)
    for i in range(len(pages)):
        for at in range(starts[i], starts[i] + sizes[i]):
            if not _has(dropped, near[at]) and (out[i] < 0 or share[at] > share[out[i]]):
                out[i] = at
        if out[i] >= 0:
            bit = np.uint8(1) << np.uint8(pages[i] & np.uint64(7))
            dropped[pages[i] >> np.uint64(3)] |= bit
    return out
