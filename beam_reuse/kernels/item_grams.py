"""Grams of evaluation items: all that texts have, and those that pages may have.

A text of n tokens has grams of `size` tokens or, if it is shorter, one of all its tokens. A gram of
any size begins with a *head* of `head` tokens, which is as long as the shortest text. A filter has
both heads and grams: a page is looked through head by head, which takes one look at each token,
and only where a head may be known are grams of all sizes looked up.
"""

import numpy as np

from beam_reuse.kernels.bloom import LINE_WORDS, has_bits, set_bits
from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.grams import gram_at
from beam_reuse.kernels.mixing import mix

_ROLL = np.uint64(0xD1342543DE82EF95)
_REMIX = np.uint64(0x9FB21C651E98DF25)


@kernel
def text_grams(
    tokens: np.ndarray, offsets: np.ndarray, size: int, head: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The grams of texts whose tokens are tokens[offsets[i]:offsets[i + 1]], one for each place:
    texts, places, sizes, fingerprints and heads. A text of fewer than `head` tokens has none."""
    total = 0
    for text in range(len(offsets) - 1):
        count = offsets[text + 1] - offsets[text]
        if count >= head:
            total += count - min(count, size) + 1
    texts, places = np.empty(total, np.int64), np.empty(total, np.int64)
    sizes, grams = np.empty(total, np.int64), np.empty(total, np.uint64)
    heads = np.empty(total, np.uint64)
    found = 0
    for text in range(len(offsets) - 1):
        count = offsets[text + 1] - offsets[text]
        if count < head:
            continue
        mine = min(count, size)
        for at in range(count - mine + 1):
            first = offsets[text] + at
            texts[found], places[found], sizes[found] = text, at, mine
            grams[found] = gram_at(tokens, first, mine)
            state = np.uint64(0)
            for i in range(first, first + head):
                state = state * _ROLL + tokens[i]
            heads[found] = mix(state)
            found += 1
    return texts, places, sizes, grams, heads


@kernel
def _line(words: np.ndarray, key: np.uint64) -> np.int64:
    lines = np.uint64(len(words) // LINE_WORDS)
    return np.int64(((key >> np.uint64(32)) * lines) >> np.uint64(32)) * LINE_WORDS


@kernel
def fill(words: np.ndarray, keys: np.ndarray) -> None:
    """Put keys, which are well mixed, into a filter."""
    for key in keys:
        set_bits(words, _line(words, key), key * _REMIX)


@kernel
def find_grams(
    words: np.ndarray, tokens: np.ndarray, offsets: np.ndarray, size: int, head: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The grams of `head` to `size` tokens of pages that a filter may have: pages, places, sizes
    and fingerprints, in order of pages and places. Cost: some 3 ns per token."""
    room = 1024
    pages, places = np.empty(room, np.int64), np.empty(room, np.int64)
    sizes, grams = np.empty(room, np.int64), np.empty(room, np.uint64)
    found = 0
    last = np.uint64(1)
    for _ in range(head - 1):
        last *= _ROLL
    for page in range(len(offsets) - 1):
        first, end = offsets[page], offsets[page + 1]
        if end - first < head:
            continue
        state = np.uint64(0)
        for i in range(first, first + head - 1):
            state = state * _ROLL + tokens[i]
        for at in range(first, end - head + 1):
            state = state * _ROLL + tokens[at + head - 1]
            key = mix(state)
            if has_bits(words, _line(words, key), key * _REMIX):
                for mine in range(head, min(size, end - at) + 1):
                    gram = gram_at(tokens, at, mine)
                    if not has_bits(words, _line(words, gram), gram * _REMIX):
                        continue
                    if found == room:
                        room *= 2
                        pages = _longer(pages, room)
                        places = _longer(places, room)
                        sizes = _longer(sizes, room)
                        grams = _longer(grams, room)
                    pages[found], places[found] = page, at - first
                    sizes[found], grams[found] = mine, gram
                    found += 1
            state -= tokens[at] * last
    return pages[:found].copy(), places[:found].copy(), sizes[:found].copy(), grams[:found].copy()


@kernel
def _longer(values: np.ndarray, room: int) -> np.ndarray:
    out = np.empty(room, values.dtype)
    out[: len(values)] = values
    return out
