"""K-grams of token sequences: their fingerprints, sets of them, and where they are.

Page i has tokens `tokens[offsets[i]:offsets[i + 1]]`, which are 64-bit fingerprints. No gram has
the fingerprint 0, so that 0 can mark an empty place of a table.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.hash_tables import slots_for
from beam_reuse.kernels.mixing import chain, mix

_GRAM = np.uint64(0x3F84D5B5B5470917)
_ONE = np.uint64(1)


@kernel
def gram_at(tokens: np.ndarray, at: int, size: int) -> np.uint64:
    """The fingerprint of `size` tokens from `at` on; other sizes give other fingerprints."""
    state = _GRAM ^ np.uint64(size)
    for i in range(at, at + size):
        state = chain(state, tokens[i])
    return max(mix(state), _ONE)


@kernel
def gram_sets(
    tokens: np.ndarray, offsets: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """The distinct grams of each page in order of appearance, and where those of each begin."""
    total, longest = 0, 0
    for page in range(len(offsets) - 1):
        count = max(offsets[page + 1] - offsets[page] - size + 1, 0)
        total += count
        longest = max(longest, count)
    out, ends = np.empty(total, np.uint64), np.zeros(len(offsets), np.int64)
    table = np.empty(slots_for(longest), np.uint64)
    found = 0
    for page in range(len(offsets) - 1):
        first, last = offsets[page], offsets[page + 1] - size
        mask = slots_for(max(last - first + 1, 0)) - 1
        table[: mask + 1] = 0
        for at in range(first, last + 1):
            gram = gram_at(tokens, at, size)
            place = np.int64(gram & np.uint64(mask))
            while table[place] != 0 and table[place] != gram:
                place = (place + 1) & mask
            if table[place] == 0:
                table[place] = gram
                out[found] = gram
                found += 1
        ends[page + 1] = found
    return out[:found].copy(), ends


@kernel
def spans(
    tokens: np.ndarray, size: int, grams: np.ndarray, owners: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the grams of each owner are in a page: owners, starts and ends of spans, sorted.

    `owners[i]`, below `count`, owns `grams[i]`, of which each occurs once; a negative one owns
    nothing. A span is a union of token ranges that overlap or touch.
    """
    mask = slots_for(len(grams)) - 1
    table = np.full(mask + 1, -1, np.int64)
    for i in range(len(grams)):
        place = np.int64(grams[i] & np.uint64(mask))
        while table[place] >= 0:
            place = (place + 1) & mask
        table[place] = i
    most = max(len(tokens) - size + 1, 0)
    owner_of, start_of = np.empty(most, np.int64), np.empty(most, np.int64)
    end_of, last = np.empty(most, np.int64), np.full(count, -1, np.int64)
    found = 0
    for at in range(most):
        gram = gram_at(tokens, at, size)
        place = np.int64(gram & np.uint64(mask))
        while table[place] >= 0 and grams[table[place]] != gram:
            place = (place + 1) & mask
        if table[place] < 0 or owners[table[place]] < 0:
            continue
        owner = owners[table[place]]
        if last[owner] >= 0 and end_of[last[owner]] >= at:
            end_of[last[owner]] = at + size
        else:
            owner_of[found], start_of[found], end_of[found] = owner, at, at + size
            last[owner] = found
            found += 1
    order = np.argsort(owner_of[:found], kind="mergesort")
    return owner_of[order], start_of[order], end_of[order]


@kernel
def placed(
    owner: np.ndarray, start: np.ndarray, end: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Spans of tokens as spans of the places that these tokens have, which ascend: cut where places
    are left out."""
    most = 0
    for i in range(len(owner)):
        most += end[i] - start[i]
    owner_of, start_of = np.empty(most, np.int64), np.empty(most, np.int64)
    end_of = np.empty(most, np.int64)
    found = 0
    for i in range(len(owner)):
        for at in range(start[i], end[i]):
            place = np.int64(places[at])
            if at > start[i] and end_of[found - 1] == place:
                end_of[found - 1] = place + 1
            else:
                owner_of[found], start_of[found], end_of[found] = owner[i], place, place + 1
                found += 1
    return owner_of[:found].copy(), start_of[:found].copy(), end_of[:found].copy()
