"""Copies of a page: other pages that hold most of its grams; no Beam.

What two pages share is known of grams on few pages, by the lists of pages that these have. Of the
others it is known how many a page has at most. Where these could decide, the pair is in doubt, and
the grams of both pages are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.containment import LISTS
from beam_reuse.analyses.quilts.definition import Sweep, gram_sets
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.matching import lookup, match_ranges
from beam_reuse.columnar.schema import UNSIGNED, columns, gives, same
from beam_reuse.kernels import page_copies
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.rows import numbered_rows

COPIES = columns(doc=UNSIGNED, copy=UNSIGNED)


@gives(same)
def copied(documents: Block, settings: QuiltSettings) -> Block:
    """The documents that may have copies: most of their grams may occur elsewhere."""
    return documents.take(_may_have_copies(documents, settings))


def _may_have_copies(documents: Block, settings: QuiltSettings) -> NDArray[np.bool_]:
    grams, repeated = documents.array("grams"), documents.array("repeated")
    return np.asarray(repeated / np.maximum(grams, 1) >= settings.quilt_copy)


@dataclass(frozen=True)
class Copies:
    """Pairs of a document (`of`, its row) and a page that may be its `copy`, in order; `limit`: on
    how many pages the rarest gram is that they share. `certain`: it is a copy."""

    of: NDArray[np.int64]
    copy: NDArray[np.uint64]
    limit: NDArray[np.int64]
    certain: NDArray[np.bool_]

    def take(self, some: NDArray) -> "Copies":
        """Those of `some`: numbers or flags."""
        return Copies(self.of[some], self.copy[some], self.limit[some], self.certain[some])

    def renumbered(self, kept: NDArray[np.bool_]) -> "Copies":
        """The same where only these documents are left."""
        return replace(self, of=(np.cumsum(kept) - 1)[self.of])

    def counts(self, documents: int, limit: int) -> NDArray[np.int64]:
        """How many copies each document has that share a gram on at most `limit` pages with it."""
        return np.bincount(self.of[self.limit <= limit], minlength=documents)


def copies_of(documents: Block, classes: Block, settings: QuiltSettings) -> Copies:
    """The pages that are or may be copies of documents, of which all classes are there."""
    sweep = Sweep.of(settings)
    starts, ends = match_ranges(documents, classes, ("doc",))
    grams = documents.array("grams")
    known = documents.array(f"patch_{sweep.limits.index(max(sweep.limits))}")
    of, copy, shared, limit = page_copies.sharing_most(
        frozen(np.flatnonzero(_may_have_copies(documents, settings))), frozen(starts),
        frozen(ends), frozen(classes.array("grams")), frozen(classes.array("pages")),
        *_members(classes), frozen(grams), frozen(documents.array("repeated") - known),
        float(settings.quilt_copy))
    order = np.lexsort((copy, of))
    certain = shared / np.maximum(grams[of], 1) >= settings.quilt_copy
    return Copies(of, copy, limit, certain).take(order)


def with_verified(copies: Copies, documents: Block, verified: Block | None) -> Copies:
    """The copies, without those in doubt that are not among the verified."""
    if verified is None:
        return copies.take(copies.certain)
    pairs = Block({"doc": documents.array("doc")[copies.of], "copy": copies.copy})
    found = lookup(pairs, verified.sort(("doc", "copy")), ("doc", "copy"))
    return copies.take(copies.certain | (found >= 0))


def without_copies(
    documents: Block, classes: Block, copies: Copies,
) -> tuple[Lists, NDArray[np.bool_]]:
    """The `sources` of classes that are no copies, and which classes have other pages than
    copies: those of others are no patches."""
    if not len(copies.of):
        return classes.lists("sources"), np.ones(len(classes), np.bool_)
    starts, ends = match_ranges(documents, classes, ("doc",))
    offsets, sources, other_offsets, others = _members(classes)
    bounds = np.searchsorted(copies.of, np.arange(len(documents) + 1))
    kept, alive = page_copies.without_copies(
        frozen(starts), frozen(ends), offsets, sources, other_offsets, others,
        frozen(bounds), frozen(copies.copy))
    left = np.append(0, np.cumsum(kept))[offsets]
    return Lists(left, sources[kept]), alive


def _members(classes: Block) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    offsets, sources = classes.lists("sources").flat()
    other_offsets, others = classes.lists("others").flat()
    return frozen(offsets), frozen(sources), frozen(other_offsets), frozen(others)


@gives(LISTS)
def grams_in_doubt(parts: Block, settings: QuiltSettings, doubtful: KeyFilter) -> Iterator[Block]:
    """The grams of documents that are in doubt, and of few others; only row groups with one are
    read."""
    sizes = Sweep.of(settings).sizes
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        here = part.lists("pages")[0]
        chosen = [doubtful.may_hold(_documents(here.array("number"), n, len(sizes)))
                  for n in range(len(sizes))]
        wanted = here.array("row")[np.logical_or.reduce(chosen)]
        if not len(wanted):
            continue
        for pages in numbered_rows(part, ("tokens",), wanted):
            for number, size in enumerate(sizes):
                docs = _documents(pages.number, number, len(sizes))
                kept = doubtful.may_hold(docs)
                offsets, tokens = pages.rows.lists("tokens").take(kept).flat()
                grams, ends = gram_sets(tokens, offsets, size)
                yield docs.take(kept).with_columns(
                    own=np.diff(ends), keys=Lists(ends, grams))


def _documents(pages: NDArray[np.int64], number: int, sizes: int) -> Block:
    """The documents of pages at one gram size, as `graphs.containment` names them."""
    docs = pages.astype(np.uint64) * np.uint64(sizes) + np.uint64(number)
    return Block({"kind": np.zeros(len(docs), np.uint8), "page": docs})


@gives(COPIES)
def verified_copies(pairs: Block, settings: QuiltSettings) -> Block:
    """Of pairs that were in doubt those that are copies."""
    found = pairs.array("found") / np.maximum(pairs.array("own"), 1) >= settings.quilt_copy
    return Block({"doc": pairs["page"], "copy": pairs["other"]}).take(found)
