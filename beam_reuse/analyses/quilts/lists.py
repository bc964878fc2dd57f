"""Lists of pages that share grams; no Beam.

Neighbouring grams of a patch occur on the same pages. So patch grams are known by their *list*: the
documents they occur in, with their owners, as 64-bit words, sorted. There are far fewer lists than
grams, and covers are the same for lists with numbers of grams as for the grams themselves.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.quilts.definition import Sweep
from beam_reuse.analyses.quilts.gram_rows import (
    OWNERS,
    count_columns,
    is_new,
    patch_columns,
)
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.columns import hash_column
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.schema import FINGERPRINT, NUMBER, UNSIGNED, columns, gives, lists, same
from beam_reuse.kernels import covers
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Count, Tagged

GRAMS = "grams"
POPULAR = "grams-on-too-many-pages"
LISTS = columns(list=FINGERPRINT, members=lists(UNSIGNED), grams=NUMBER)
CLASSES = columns(doc=UNSIGNED, list=FINGERPRINT, grams=NUMBER, pages=NUMBER,
                  sources=lists(UNSIGNED), others=lists(UNSIGNED))
_SOURCES_AT_ONCE = 1 << 20


@gives(LISTS, {GRAMS: columns(list=FINGERPRINT, gram=FINGERPRINT)})
def patch_lists(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], settings: QuiltSettings
) -> Iterator[Block | Tagged | Count]:
    """Rows by gram, of each at most one more than there may be -> the lists of patch grams, with
    how many `grams` have them, perhaps in several rows. Also GRAMS: the `list` of each gram, as far
    as sources are reported; and how many grams occur too often."""
    sweep = Sweep.of(settings)
    most = max(sweep.limits)
    yield Count(POPULAR, int((sizes > most).sum()))
    patch = (sizes > 1) & (sizes <= most)
    rows = rows.take(np.repeat(patch, np.minimum(sizes, most + 1)))
    sizes = sizes[patch]
    starts = np.cumsum(sizes) - sizes
    words = np.column_stack([rows.array(n) for n in ("doc", *OWNERS[settings.variant])])
    covers.sort_runs(words, frozen(starts), frozen(starts + sizes))
    numbers, first = covers.number_lists(frozen(words), frozen(starts), frozen(starts + sizes))
    members = _members(words, starts[first], sizes[first])
    ids = hash_column(members)
    yield Block({"list": ids, "members": members,
                 "grams": np.bincount(numbers, minlength=len(first))})
    size = words[starts, 0] % np.uint64(len(sweep.sizes))
    reported = np.zeros(len(starts), np.bool_)
    for each in sweep.told:
        reported |= (sizes <= each.max_pages_per_gram) & (
            size == sweep.sizes.index(each.gram_size))
    yield Tagged(GRAMS, Block({"list": ids[numbers], "gram": rows.array("gram")[starts]}).take(
        reported))


def _members(words: NDArray, starts: NDArray, sizes: NDArray) -> Lists:
    """The words of stretches of rows."""
    at = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    return Lists.from_lengths(sizes * words.shape[1], words[at].ravel())


def _words(lists: Block, settings: QuiltSettings) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The words of all members, a row each, and how many members each list has."""
    width = 1 + len(OWNERS[settings.variant])
    members = lists.lists("members")
    return members.used().reshape(-1, width), members.lengths() // width


@gives(count_columns)
def patch_counts(lists: Block, settings: QuiltSettings, sides: Sides) -> Block:
    """How many patch grams each new document has by each limit, from some of its lists."""
    words, pages = _words(lists, settings)
    grams, pages = np.repeat(lists.array("grams"), pages), np.repeat(pages, pages)
    counts = {name: np.where(pages <= limit, grams, 0) for name, limit in
              zip(patch_columns(settings), Sweep.of(settings).limits, strict=True)}
    none = np.zeros_like(grams)
    rows = Block({"doc": words[:, 0], "grams": none, "repeated": none, **counts})
    return rows.take(is_new(words[:, 0], settings, sides)) if sides.are_two else rows


@gives(same)
def reaching(counts: Block, settings: QuiltSettings) -> Block:
    """The documents whose patch fraction reaches that of a combination of the sweep."""
    sweep = Sweep.of(settings)
    size = counts.array("doc") % np.uint64(len(sweep.sizes))
    reached = np.zeros(len(counts), np.bool_)
    for each in sweep.combinations:
        patch = counts.array(f"patch_{sweep.limits.index(each.max_pages_per_gram)}")
        reached |= (size == sweep.sizes.index(each.gram_size)) & each.reaches(
            counts.array("grams"), patch)
    return counts.take(reached)


@gives(CLASSES)
def class_rows(
    lists: Block, settings: QuiltSettings, reach: KeyFilter, copied: KeyFilter,
) -> Iterator[Block]:
    """For documents that may reach a patch fraction the lists they are on; `pages` are how many are
    on it, `sources` documents too. Those that may have copies get all of these lists, with the
    `others` on them, which are no sources; the others only lists that give a source."""
    words, pages = _words(lists, settings)
    ends = np.cumsum(pages)
    of_list = np.repeat(np.arange(len(lists)), pages)
    takers = np.flatnonzero(reach.may_hold(Block({"doc": words[:, 0]})))
    ids, words = lists.array("list"), frozen(words)
    work = np.cumsum(pages[of_list[takers]])
    cuts = np.searchsorted(work, np.arange(0, int(work[-1]) if len(work) else 0, _SOURCES_AT_ONCE))
    for some in np.split(takers, cuts[1:]):
        own = of_list[some]
        docs = Block({"doc": words[some, 0]})
        counts, sources, rest, others = covers.sources_of(
            words, frozen(some), frozen(ends[own] - pages[own]), frozen(ends[own]),
            frozen(copied.may_hold(docs)))
        yield docs.with_columns(
            list=ids[own], grams=lists.array("grams")[own], pages=pages[own],
            sources=Lists.from_lengths(counts, sources), others=Lists.from_lengths(rest, others),
        ).take(counts + rest > 0)
