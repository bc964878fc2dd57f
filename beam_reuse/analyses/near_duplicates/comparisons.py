"""Which of the pages that share a key, or of all pages, are similar.

Key rows are those of `candidates`. Of rows of pairs `page_a` is smaller than `page_b`, and `star`
is 1 if page_a stands for page_b in all other pairs.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.crowds import NEXT, not_compared
from beam_reuse.analyses.near_duplicates.definition import as_words, key_masks, wide_masks
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    NUMBER,
    PAGE,
    SMALL,
    TINY,
    UNSIGNED,
    columns,
    gives,
)
from beam_reuse.kernels import near_pairs
from beam_reuse.kernels.compiled import frozen
from beam_reuse.rows import Count, Tagged

CROWDED = "crowded"
PAIRS = columns(page_a=PAGE, page_b=PAGE, b_similarity=TINY, c_similarity=SMALL, site_a=FINGERPRINT,
                site_b=FINGERPRINT, star=KIND)
_NOT_COMPARED = ("pairs-not-compared-b", "pairs-not-compared-c")
_PAIRS_AT_ONCE = 1 << 17


def verified(left: Block, right: Block, settings: NearDuplicateSettings) -> Block:
    """Rows of pairs, a row of each side, with exact similarities; pages on the left are smaller."""
    b, c, other_b, other_c = (
        frozen(as_words(side.array(name))) for side in (left, right) for name in ("b", "c"))
    same_b, same_c = near_pairs.similarities(b, c, other_b, other_c, settings.projection_bits)
    return _pair_rows(left, right, same_b, same_c)


def star_pairs(left: Block, right: Block, settings: NearDuplicateSettings) -> Block:
    """As `verified`, of pages of one class, the first of it on the left."""
    pairs = verified(left, right, settings)
    return pairs.with_columns(star=np.ones(len(pairs), np.uint8))


def _pair_rows(left: Block, right: Block, same_b: NDArray, same_c: NDArray) -> Block:
    return Block({
        "page_a": left["page"], "page_b": right["page"], "b_similarity": same_b,
        "c_similarity": same_c, "site_a": left["site"], "site_b": right["site"],
        "star": np.zeros(len(left), np.uint8),
    })


@gives(PAIRS)
def key_groups(
    slabs: Iterator[Block], settings: NearDuplicateSettings,
) -> Iterator[Block | Tagged | Count]:
    """Key rows sorted by key and page -> similar pairs of pages with the same key.

    Groups of more than `max_group` pages are crowds: each page is compared with the first and
    with the NEXT after it only, and pairs that are not are counted. Holds a slab and the
    `max_group` pages of one group.
    """
    yield from _Groups(settings).run(slabs)


@gives(PAIRS, {CROWDED: columns(page=PAGE, crowds=UNSIGNED)})
def crowd_groups(
    slabs: Iterator[Block], settings: NearDuplicateSettings,
) -> Iterator[Block | Tagged | Count]:
    """As `key_groups`, of crowds alone, for rows with the `number` of a wide piece; CROWDED:
    which pages are in which crowds."""
    yield from _Groups(settings, only_crowds=True).run(slabs)


class _Groups:
    """The rows of one bucket as they pass, group by group."""

    def __init__(self, settings: NearDuplicateSettings, only_crowds: bool = False) -> None:
        self.settings, self.only_crowds = settings, only_crowds
        self.held: Block | None = None  # rows of the group that is still open
        self.passed = 0  # rows of it that are no longer held
        self.compared = False  # whether those that are have been compared

    def run(self, slabs: Iterator[Block]) -> Iterator[Block | Tagged | Count]:
        slab = next(slabs, None)
        while slab is not None:
            following = next(slabs, None)
            rows = slab if self.held is None else Block.concat([self.held, slab])
            yield from self._pass(rows, last=following is None)
            slab = following

    def _pass(self, rows: Block, last: bool) -> Iterator[Block | Tagged | Count]:
        most = self.settings.max_group
        starts = rows.starts(("key",))
        ends = np.append(starts[1:], len(rows))
        sizes = ends - starts
        sizes[0] += self.passed
        fresh = starts + 1
        if self.held is not None and self.compared:
            fresh[0] = len(self.held)
        crowds = sizes > most
        done = len(starts) if last or crowds[-1] else len(starts) - 1
        closed = len(starts) if last else len(starts) - 1
        if self.only_crowds:
            yield Tagged(CROWDED, self._crowd_members(rows, starts, ends, fresh, crowds))
            fresh = np.where(crowds, fresh, ends)
        yield from self._compare(rows, starts[:done], ends[:done], fresh[:done], crowds[:done])
        yield from self._skipped(rows, starts[:closed], sizes[:closed], crowds)
        self._hold(rows, int(starts[-1]), bool(crowds[-1]), int(sizes[-1]))

    def _hold(self, rows: Block, start: int, crowd: bool, size: int) -> None:
        """Keep of the open group what later rows are compared with."""
        if crowd:
            at = np.unique(np.append(start, np.arange(max(start, len(rows) - NEXT), len(rows))))
            self.held = rows.take(at)
        else:
            self.held = rows.slice(start, len(rows))
        self.passed, self.compared = size - len(self.held), crowd

    def _compare(
        self, rows: Block, starts: NDArray, ends: NDArray, fresh: NDArray, crowds: NDArray,
    ) -> Iterator[Block]:
        settings = self.settings
        capacity = max(_PAIRS_AT_ONCE, settings.max_group + NEXT)
        left, right = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        same_b, same_c = np.empty(capacity, np.uint8), np.empty(capacity, np.uint16)
        cursor = np.zeros(2, np.int64)
        b, c = (frozen(as_words(rows.array(name))) for name in ("b", "c"))
        key, number, small = (frozen(rows.array(name)) for name in ("key", "number", "small"))
        masks = key_masks(settings)
        masks = frozen(wide_masks(settings) if masks is None else masks)
        while cursor[0] < len(starts):
            found = near_pairs.compare_groups(
                b, c, masks, key, number, small, frozen(starts), frozen(ends), frozen(fresh),
                frozen(crowds), NEXT, settings.projection_bits, settings.b_threshold,
                settings.c_threshold, cursor, left, right, same_b, same_c)
            yield _pair_rows(rows.select(("page", "site")).take(left[:found]),
                             rows.select(("page", "site")).take(right[:found]),
                             same_b[:found].copy(), same_c[:found].copy())

    def _skipped(
        self, rows: Block, starts: NDArray, sizes: NDArray, crowds: NDArray
    ) -> Iterator[Count]:
        """How many pairs of finished crowds were not compared; keys of B are even."""
        some = np.flatnonzero(crowds[: len(starts)])
        odd = rows.array("key")[starts[some]] & np.uint64(1)
        pairs = not_compared(sizes[some])
        for number, name in enumerate(_NOT_COMPARED):
            yield Count(name, int(pairs[odd == number].sum()))

    def _crowd_members(
        self, rows: Block, starts: NDArray, ends: NDArray, fresh: NDArray, crowds: NDArray,
    ) -> Block:
        """Pages that are in crowds and were not given before, each with the bit of its piece."""
        given = np.where(fresh > starts + 1, fresh, starts)
        new = np.arange(len(rows)) >= np.repeat(given, ends - starts)
        at = np.flatnonzero(new & np.repeat(crowds, ends - starts))
        number = rows.array("number")[at].astype(np.uint64)
        return Block({"page": rows.array("page")[at], "crowds": np.uint64(1) << number})


@gives(lambda rows, *_: columns(rows, crowds=UNSIGNED, tile=NUMBER, side=NUMBER))
def tile_rows(
    rows: Block | None, crowds: Block | None, sides: int,
) -> Iterator[Block]:
    """Rows with the crowds they are in, as bits of one number, once for every tile they belong to:
    pages are dealt to `sides` sides by a hash, and there is a tile for each two sides and for
    each side alone."""
    if rows is None:
        return
    of_page = np.zeros(len(rows), np.uint64)
    if crowds is not None:
        of_page[np.searchsorted(rows.array("page"), crowds.array("page"))] = crowds.array("crowds")
    rows = rows.with_columns(crowds=of_page)
    side = (rows.hash_rows(("page",)) % np.uint64(sides)).astype(np.int64)
    for other in range(sides):
        low, high = np.minimum(side, other), np.maximum(side, other)
        yield rows.with_columns(tile=high * (high + 1) // 2 + low, side=side)


@gives(PAIRS)
def compare_tiles(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64],
    settings: NearDuplicateSettings,
) -> Iterator[Block]:
    """Rows of whole tiles, sorted by tile, side and page -> pairs that are similar by C."""
    masks = frozen(wide_masks(settings))
    most = settings.projection_bits - settings.c_threshold
    c, crowds = frozen(as_words(rows.array("c"))), frozen(rows.array("crowds"))
    side = rows.array("side")
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        end = start + size
        middle = start + int(np.searchsorted(side[start:end], side[start], side="right"))
        if middle == end and _is_mixed(int(rows.array("tile")[start])):
            continue
        yield from _compare_tile(rows, c, crowds, masks, (start, middle, end), most, settings)


def _is_mixed(tile: int) -> bool:
    """Whether a tile is for two different sides."""
    high = int((np.sqrt(8 * tile + 1) - 1) / 2)
    return tile - high * (high + 1) // 2 != high


def _compare_tile(
    rows: Block, c: NDArray, crowds: NDArray, masks: NDArray, bounds: Sequence[int], most: int,
    settings: NearDuplicateSettings,
) -> Iterator[Block]:
    start, middle, end = bounds
    capacity = max(_PAIRS_AT_ONCE, end - start)
    left, right = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    cursor = np.full(1, start, np.int64)
    while cursor[0] < end:
        found = near_pairs.compare_tile(
            c, crowds, masks, start, middle, end, most, cursor, left, right)
        page = rows.array("page")
        turned = page[left[:found]] > page[right[:found]]
        a = np.where(turned, right[:found], left[:found])
        b = np.where(turned, left[:found], right[:found])
        yield verified(rows.take(a), rows.take(b), settings)
