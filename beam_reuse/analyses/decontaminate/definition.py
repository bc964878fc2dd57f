"""What it means that a page holds an evaluation item: grams, spans and shares.

Nothing here knows of Beam: the functions can be used alone, on arrays.
"""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.schema import FINGERPRINT, NUMBER, columns, lists
from beam_reuse.kernels import item_grams as kernels
from beam_reuse.kernels.bloom import LINE_WORDS
from beam_reuse.kernels.compiled import frozen

BITS_PER_KEY = 16
_SPANS = lists(columns(start=NUMBER, end=NUMBER))
GRAMS = columns(gram=FINGERPRINT, text=FINGERPRINT, head=FINGERPRINT, item_spans=_SPANS)
"""A gram of a text, which is known by its fingerprint, and where it occurs there."""


def grams_of_texts(
    text: NDArray[np.uint64], tokens: Lists, size: int, least: int,
) -> Block:
    """GRAMS of texts that have these tokens, each once; texts of fewer than `least` tokens have
    none. In order of texts."""
    offsets, words = tokens.flat()
    of, at, sizes, grams, heads = kernels.text_grams(frozen(words), frozen(offsets), size, least)
    rows = Block({"of": of, "gram": grams, "at": at})
    order = rows.sort_order(("of", "gram", "at"))
    rows, sizes, heads = rows.take(order), sizes[order], heads[order]
    starts = rows.starts(("of", "gram"))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
    return Block({
        "gram": rows.array("gram")[starts], "text": text[rows.array("of")[starts]],
        "head": heads[starts],
        "item_spans": merged_spans(group, rows.array("at"), rows.array("at") + sizes, len(starts))})


def merged_spans(
    group: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64], groups: int,
) -> Lists:
    """The unions of spans of each group, of which those that overlap or touch become one. Spans are
    sorted by group and start."""
    if not len(group):
        return Lists(np.zeros(groups + 1, np.int64), Block({"start": start, "end": end}))
    # Ends of later groups are beyond all of earlier ones, so that one running maximum does.
    step = int(end.max()) + 1
    reach = np.maximum.accumulate(group * step + end)
    new = np.ones(len(group), np.bool_)
    new[1:] = group[1:] * step + start[1:] > reach[:-1]
    new[1:] |= group[1:] != group[:-1]
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(group)) - 1
    lengths = np.bincount(group[first], minlength=groups)
    return Lists.from_lengths(lengths, Block({
        "start": start[first], "end": reach[last] - group[last] * step}))


class GramFilter:
    """The grams that are looked for, and their heads, in a blocked Bloom filter: none that is there
    is missed, and some 3 in 10,000 that are not are taken for one."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.words = words

    @staticmethod
    def sized(grams: int, most_bytes: int) -> "GramFilter":
        """A filter with room for so many grams, in so many bytes at most: with more grams it lets
        more pass."""
        bits = min(2 * max(grams, 1) * BITS_PER_KEY, 8 * most_bytes)
        return GramFilter(np.zeros(-(-bits // (64 * LINE_WORDS)) * LINE_WORDS, np.uint64))

    def add(self, grams: Block) -> None:
        for name in ("gram", "head"):
            kernels.fill(self.words, frozen(grams.array(name)))

    def find(
        self, tokens: NDArray[np.uint64], offsets: NDArray[np.int64], size: int, least: int,
    ) -> Block:
        """The grams of pages with these tokens that may be looked for: the number of the page, its
        place `at` which it begins, its `size`; in order of pages and places."""
        page, at, sizes, grams = kernels.find_grams(
            frozen(self.words), frozen(tokens), frozen(offsets), size, least)
        return Block({"page": page, "gram": grams, "at": at, "size": sizes.astype(np.uint8)})


def pages_and_texts(hits: Block, known: Block) -> Block:
    """What pages have of texts: for each pair of both how many `grams`, and where, as `spans` of
    the page and `item_spans`; in order of pages and texts.

    `hits` are occurrences of grams on pages, `known` GRAMS of texts, sorted by gram. Memory: some
    100 bytes for each occurrence and text that has it.
    """
    low, high = (np.searchsorted(known.array("gram"), hits.array("gram"), side)
                 for side in ("left", "right"))
    counts = high - low
    of_hit = np.repeat(np.arange(len(hits)), counts)
    of_known = np.arange(len(of_hit)) - np.repeat(np.cumsum(counts) - counts - low, counts)
    rows = Block({"page": hits.array("page")[of_hit], "text": known.array("text")[of_known],
                  "at": hits.array("at")[of_hit], "size": hits.array("size")[of_hit],
                  "known": of_known})
    rows = rows.sort(("page", "text", "at"))
    starts = rows.starts(("page", "text"))
    pair = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
    at = rows.array("at")
    spans = merged_spans(pair, at, at + rows.array("size"), len(starts))
    once = Block({"pair": pair, "known": rows.array("known")}).sort(("pair", "known"))
    once = once.take(once.starts(("pair", "known")))
    return rows.take(starts).select(("page", "text")).with_columns(
        grams=np.bincount(once.array("pair"), minlength=len(starts)), spans=spans,
        item_spans=_united(once.array("pair"), known.lists("item_spans").take(
            once.array("known")), len(starts)))


def _united(group: NDArray[np.int64], spans: Lists, groups: int) -> Lists:
    """The unions of all spans of lists of the same group."""
    flat = spans.used()
    assert isinstance(flat, Block)
    rows = flat.with_columns(group=np.repeat(group, spans.lengths())).sort(("group", "start"))
    return merged_spans(rows.array("group"), rows.array("start"), rows.array("end"), groups)
