"""From lists to covers, and what the tables need of a quilt beside its covers; no Beam.

In rows of *sources* `page` is the quilt, `cover` a number (one for each gram size and limit of the
sweep), `rank` the place in the cover, `source` a page, and `grams` and `patch_grams` those of the
quilt.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs import containment
from beam_reuse.analyses.quilts.copies import Copies, copies_of, with_verified, without_copies
from beam_reuse.analyses.quilts.definition import Sweep
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    NUMBER,
    PAGE,
    TEXT,
    VARIANT,
    columns,
    gives,
    lists,
    maybe,
)
from beam_reuse.io.part_columns import TOKEN_PLACES
from beam_reuse.io.parts import has_columns
from beam_reuse.kernels import covers
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.rows import Tagged

TAKEN, PAIRS, DOUBTFUL, CLASSES = "taken", "pairs", "doubtful", "classes"
_TEXT_COLUMNS = ("url", "tokens", "links", "base")
COVERED = columns(page=PAGE, cover=VARIANT, rank=NUMBER)
SOURCES = columns(COVERED, source=PAGE, new_grams=NUMBER, grams=NUMBER, patch_grams=NUMBER,
                  copies=NUMBER)
GIVEN = {TAKEN: columns(COVERED, list=FINGERPRINT)}


@gives(SOURCES, {**GIVEN, PAIRS: containment.PAIRS, DOUBTFUL: lambda documents, *_: documents,
                 CLASSES: lambda documents, classes, _: classes})
def cover_documents(
    documents: Block | None, classes: Block | None, settings: QuiltSettings
) -> Iterator[Block | Tagged]:
    """Documents with their numbers of grams, and the lists they are on -> the sources of quilted
    pages. Also TAKEN: the `list`s that each covers. Documents of which a copy is in doubt are
    DOUBTFUL, with their CLASSES; PAIRS: the pages that are to be compared."""
    if documents is None or classes is None:
        return
    copies = copies_of(documents, classes, settings)
    doubtful = np.zeros(len(documents), np.bool_)
    doubtful[copies.of[~copies.certain]] = True
    if doubtful.any():
        pairs = copies.take(~copies.certain)
        yield Tagged(PAIRS, Block({
            "kind": np.zeros(len(pairs.of), np.uint8),
            "page": documents.array("doc")[pairs.of], "other": pairs.copy}))
        waiting = documents.take(doubtful)
        yield Tagged(DOUBTFUL, waiting)
        yield Tagged(CLASSES, classes.take(
            pairs_of(*match_ranges(waiting, classes, ("doc",)))[1]))
        documents = documents.take(~doubtful)
        copies = copies.take(~doubtful[copies.of]).renumbered(~doubtful)
    yield from _covers(documents, classes, copies, settings)


@gives(SOURCES, GIVEN)
def cover_doubtful(
    documents: Block | None, classes: Block | None, verified: Block | None,
    settings: QuiltSettings,
) -> Iterator[Block | Tagged]:
    """As `cover_documents`, of documents that were in doubt, whose copies are `verified`."""
    if documents is None or classes is None:
        return
    copies = with_verified(copies_of(documents, classes, settings), documents, verified)
    yield from _covers(documents, classes, copies, settings)


def _covers(
    documents: Block, classes: Block, copies: Copies, settings: QuiltSettings,
) -> Iterator[Block | Tagged]:
    sweep = Sweep.of(settings)
    starts, ends = match_ranges(documents, classes, ("doc",))
    doc = documents.array("doc")
    sources, alive = without_copies(documents, classes, copies)
    offsets, words = map(frozen, sources.flat())
    owner, row = pairs_of(starts, ends)
    dead = ~alive[row]
    owner, row = owner[dead], row[dead]
    reported = {sweep.cover_of(each) for each in sweep.told}
    for cover, combinations in sweep.covers().items():
        size, limit = divmod(cover, len(sweep.limits))
        mine = np.flatnonzero(doc % np.uint64(len(sweep.sizes)) == size)
        page = doc[mine] // np.uint64(len(sweep.sizes))
        weights = np.where(classes.array("pages") <= sweep.limits[limit], classes.array("grams"), 0)
        lost = np.zeros(len(documents), np.int64)
        np.add.at(lost, owner, weights[row])
        grams, patch = documents.array("grams")[mine], (
            documents.array(f"patch_{limit}") - lost)[mine]
        weights[~alive] = 0
        copied = copies.counts(len(documents), sweep.limits[limit])[mine]
        counts, chosen, gained, rank_of = covers.cover_each(
            frozen(starts[mine]), frozen(ends[mine]), frozen(weights), offsets, words,
            frozen(patch), settings.min_source_share)
        quilted = np.zeros(len(mine), np.bool_)
        for each in combinations:
            quilted |= each.is_quilted(grams, patch, counts)
        of = np.repeat(np.arange(len(mine)), counts)
        yield Block({
            "page": page[of], "cover": np.full(len(of), cover, np.uint32),
            "rank": np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts),
            "source": chosen // np.uint64(len(sweep.sizes)), "new_grams": gained,
            "grams": grams[of], "patch_grams": patch[of], "copies": copied[of],
        }).take(quilted[of])
        if cover in reported:
            of, at = pairs_of(starts[mine][quilted], ends[mine][quilted])
            yield Tagged(TAKEN, Block({
                "list": classes.array("list")[at], "page": page[quilted][of],
                "cover": np.full(len(at), cover, np.uint32), "rank": rank_of[at],
            }).take(rank_of[at] >= 0))


@gives(columns(COVERED, grams=lists(FINGERPRINT)))
def grams_taken(taken: Block | None, grams: Block | None) -> Block | None:
    """The grams of the lists that a source covers."""
    if taken is None or grams is None:
        return None
    starts, ends = match_ranges(taken, grams, ("list",))
    _, at = pairs_of(starts, ends)
    return taken.without("list").with_columns(
        grams=Lists.from_lengths(ends - starts, grams.array("gram")[at]))


@gives(columns(source=PAGE, source_url=TEXT))
def named_sources(names: Block) -> Block:
    """Names of pages, as sources."""
    return Block({"source": names["page"], "source_url": names["url"]})


@gives(columns(SOURCES, source_url=TEXT))
def with_source_urls(sources: Block | None, names: Block | None) -> Block | None:
    """Sources with their URLs."""
    if sources is None or names is None:
        return None
    found = lookup(sources, names, ("source",))
    return sources.with_columns(source_url=names.strings("source_url").take(found))


@gives(columns(page=PAGE, url=TEXT, tokens=lists(FINGERPRINT), places=lists(VARIANT),
               links=lists(TEXT), base=maybe(TEXT)))
def text_rows(parts: Block, quilts: KeyFilter) -> Iterator[Block]:
    """Pages that may be quilts; only row groups with one are read. `places` of tokens are there
    where lines were taken from the pages."""
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        here = part.lists("pages")[0]
        wanted = here.array("row")[_may_be(here.array("number"), quilts)]
        if not len(wanted):
            continue
        stripped = has_columns(part.strings("path")[0].decode(), (TOKEN_PLACES,))
        read = (*_TEXT_COLUMNS, *((TOKEN_PLACES,) if stripped else ()))
        for pages in numbered_rows(part, read, wanted):
            kept = np.flatnonzero(_may_be(pages.number, quilts))
            yield Block({
                "page": pages.number.astype(np.uint64), "url": pages.urls(),
                "tokens": pages.rows.lists("tokens"),
                "places": pages.rows.lists(TOKEN_PLACES) if stripped else _no_places(pages),
                "links": pages.rows.lists("links"),
                "base": pages.rows.maybe("base")}).take(kept)


def _no_places(pages: NumberedRows) -> Lists:
    return Lists.from_lengths(np.zeros(len(pages), np.int64), np.zeros(0, np.uint32))


def _may_be(numbers: NDArray[np.int64], quilts: KeyFilter) -> NDArray[np.bool_]:
    return quilts.may_hold(Block({"page": numbers.astype(np.uint64)}))
