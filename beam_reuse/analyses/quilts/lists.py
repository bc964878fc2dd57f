"""Lists of pages that share grams; no Beam.

Neighbouring grams of a patch stand on the same pages. So patch grams are told by their *list*: the
documents they stand on, with their owners, as 64-bit words, sorted. There are far fewer lists than
grams, and covers are the same for lists with numbers of grams as for the grams themselves.
"""

from collections.abc import Iterator

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.quilts.gram_rows import NOTED, OWNERS, patch_columns
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.quilts import Sweep
from beam_reuse.core.settings import QuiltSettings
from beam_reuse.kernels import covers
from beam_reuse.kernels.compiled import frozen

LISTS = "lists"
POPULAR = "grams-on-too-many-pages"
TOTAL, CLASS = 0, 1
_WORD = 8
_SOURCES_AT_ONCE = 1 << 20
_LISTS_BYTES = 16 << 20


def patch_lists(
    bucket: int, slabs: Iterator[Block], settings: QuiltSettings
) -> Iterator[Block | TaggedOutput]:
    """Rows of grams sorted by gram -> rows of patch grams: `page`, `gram` and `list` (a
    fingerprint), as far as sources are told. Also LISTS: `list`, `members` and how many `grams`
    have them, perhaps in several rows; and NOTED: how many grams stand on too many pages."""
    sweep = Sweep.of(settings)
    most = max(sweep.limits)
    held = _Lists()
    for rows, _, sizes in whole_groups(slabs, ("gram",), most + 1):
        yield TaggedOutput(NOTED, (POPULAR, int((sizes > most).sum())))
        patch = (sizes > 1) & (sizes <= most)
        rows = rows.take(np.repeat(patch, np.minimum(sizes, most + 1)))
        sizes = sizes[patch]
        starts = np.cumsum(sizes) - sizes
        words = np.column_stack([rows.array(n) for n in ("doc", *OWNERS[settings.variant])])
        covers.sort_runs(words, frozen(starts), frozen(starts + sizes))
        numbers, first = covers.number_lists(
            frozen(words), frozen(starts), frozen(starts + sizes))
        members = _members(words, starts[first], sizes[first])
        ids = members.hash64()
        if held.add(Block({"list": ids, "members": members,
                           "grams": np.bincount(numbers, minlength=len(first))})):
            yield TaggedOutput(LISTS, held.drain())
        doc = words[:, 0]
        told = np.repeat(sizes <= max(each.max_pages_per_gram for each in sweep.told), sizes)
        if len(sweep.sizes) > 1:
            told &= np.isin(doc % np.uint64(len(sweep.sizes)), np.array(
                [sweep.sizes.index(each.gram_size) for each in sweep.told], np.uint64))
        yield Block({
            "page": doc // np.uint64(len(sweep.sizes)), "gram": rows["gram"],
            "list": np.repeat(ids[numbers], sizes),
        }).take(told)
    if held.blocks:
        yield TaggedOutput(LISTS, held.drain())


class _Lists:
    """Lists of a bucket, equal ones added up, until there are too many."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.nbytes = 0

    def add(self, block: Block) -> bool:
        """Take lists; says whether it is time to drain."""
        self.blocks.append(block)
        self.nbytes += block.nbytes
        if self.nbytes > _LISTS_BYTES:
            self.blocks = [self.drain()]
            self.nbytes = self.blocks[0].nbytes
        return self.nbytes > _LISTS_BYTES // 2

    def drain(self) -> Block:
        rows = Block.concat(self.blocks).sort(("list",))
        self.blocks, self.nbytes = [], 0
        return added_up(rows, rows.starts(("list",)))


def added_up(rows: Block, starts: NDArray[np.int64]) -> Block:
    """Equal lists, which begin at `starts`, as one row each."""
    if len(starts) == len(rows):
        return rows
    return rows.take(starts).with_columns(grams=np.add.reduceat(rows.array("grams"), starts))


def distinct_lists(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Block:
    """Rows of lists, sorted by `list` -> each list once, with the grams of all."""
    return added_up(rows, starts)


def _members(words: NDArray, starts: NDArray, sizes: NDArray) -> VarBytes:
    """The words of stretches of rows, as byte strings."""
    at = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
    data = np.frombuffer(words[at].tobytes(), np.uint8)
    return VarBytes.from_lengths(sizes * words.shape[1] * _WORD, data)


def _words(lists: Block, settings: QuiltSettings) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The words of all members, a row each, and how many members each list has."""
    width = 1 + len(OWNERS[settings.variant])
    members = lists.strings("members")
    return (packed_words(members).reshape(-1, width), members.lengths() // (width * _WORD))


def packed_words(values: VarBytes) -> NDArray[np.uint64]:
    """The 64-bit words of byte strings, aligned."""
    return np.frombuffer(values.used().tobytes(), np.uint64)


def patch_counts(lists: Block, settings: QuiltSettings) -> Block:
    """How many patch grams each document has by each limit, from some of its lists."""
    words, pages = _words(lists, settings)
    grams, pages = np.repeat(lists.array("grams"), pages), np.repeat(pages, pages)
    counts = {name: np.where(pages <= limit, grams, 0).astype(np.int64) for name, limit in
              zip(patch_columns(settings), Sweep.of(settings).limits, strict=True)}
    return Block({"doc": words[:, 0], "grams": np.zeros(len(grams), np.int64), **counts})


def reaching(totals: Block, settings: QuiltSettings) -> Block:
    """The documents whose patch fraction reaches that of a combination of the sweep."""
    sweep = Sweep.of(settings)
    size = totals.array("doc") % np.uint64(len(sweep.sizes))
    reached = np.zeros(len(totals), np.bool_)
    for each in sweep.combinations:
        patch = totals.array(f"patch_{sweep.limits.index(each.max_pages_per_gram)}")
        reached |= (size == sweep.sizes.index(each.gram_size)) & each.reaches(
            totals.array("grams"), patch)
    return totals.take(reached)


def total_rows(totals: Block, settings: QuiltSettings) -> Block:
    """Documents as the first row of the group that `cover_documents` takes: `grams`, and the
    numbers of patch grams as if they were sources."""
    patch = np.column_stack([totals.array(name) for name in patch_columns(settings)])
    nothing = np.zeros(len(totals), np.uint64)
    return Block({
        "doc": totals["doc"], "kind": np.full(len(totals), TOTAL, np.uint8), "list": nothing,
        "grams": totals["grams"], "pages": nothing.astype(np.int64),
        "sources": VarBytes.from_lengths(np.full(len(totals), patch.shape[1] * _WORD),
                                         np.frombuffer(patch.tobytes(), np.uint8)),
    })


def class_rows(lists: Block, settings: QuiltSettings, reach: KeyFilter) -> Iterator[Block]:
    """For documents that may reach a patch fraction the lists they are on, without those that give
    no source: `list`, `grams`, `pages` (how many are on it) and `sources`, documents too."""
    words, pages = _words(lists, settings)
    ends = np.cumsum(pages)
    of_list = np.repeat(np.arange(len(lists)), pages)
    takers = np.flatnonzero(reach.may_hold(Block({"doc": words[:, 0]})))
    ids, words = lists.array("list"), frozen(words)
    work = np.cumsum(pages[of_list[takers]])
    cuts = np.searchsorted(work, np.arange(0, int(work[-1]) if len(work) else 0, _SOURCES_AT_ONCE))
    for some in np.split(takers, cuts[1:]):
        own = of_list[some]
        counts, sources = covers.sources_of(
            words, frozen(some), frozen(ends[own] - pages[own]), frozen(ends[own]))
        yield Block({
            "doc": words[some, 0], "kind": np.full(len(some), CLASS, np.uint8), "list": ids[own],
            "grams": lists.array("grams")[own].astype(np.int64), "pages": pages[own],
            "sources": VarBytes.from_lengths(
                counts * _WORD, np.frombuffer(sources.tobytes(), np.uint8)),
        }).take(counts > 0)
