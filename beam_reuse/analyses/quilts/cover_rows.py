"""From lists to covers, and from grams to the tables of quilts; no Beam.

A *fact* of a page is a row of one of four kinds, which bring together what the tables need: its
text, its covers (one for each gram size and limit of the sweep), their sources, and the lists of
each source.
"""

from collections.abc import Iterator
from enum import IntEnum

import numpy as np
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.quilts.lists import TOTAL, packed_words
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.quilts import Sweep
from beam_reuse.core.settings import QuiltSettings
from beam_reuse.kernels import covers
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.rows import numbered_rows

FACTS = "facts"
_WORD = 8
_TEXT_COLUMNS = ("url", "tokens", "links", "base")


class Fact(IntEnum):
    """What a row tells: a page's text; a cover's `a` grams and `b` patch grams; the source `name`
    of a cover's `rank` and its `b` new grams; a list `a` that this source covers."""

    TEXT = 0
    COVER = 1
    SOURCE = 2
    LIST = 3


def _facts(kind: Fact, page: NDArray, **columns: NDArray | VarBytes) -> Block:
    """Rows of one kind; what they do not tell is 0 or empty."""
    count = len(page)
    empty = VarBytes(np.zeros(count + 1, np.int64), np.zeros(0, np.uint8))
    zeros = np.zeros(count, np.uint64)
    return Block({
        "page": page, "kind": np.full(count, kind, np.uint8), "cover": zeros.astype(np.uint32),
        "rank": zeros.astype(np.int64), "a": zeros, "b": zeros, "name": empty, "tokens": empty,
        "links": empty, **columns,
    })


def cover_documents(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], settings: QuiltSettings
) -> Iterator[Block | TaggedOutput]:
    """Rows of `total_rows` and `class_rows` by document -> the sources of quilted pages: `page`
    (the source), `quilt`, `cover`, `rank` and `grams`. Also FACTS: covers and their lists."""
    sweep = Sweep.of(settings)
    whole = rows.array("kind")[starts] == TOTAL
    starts, ends = starts[whole], (starts + sizes)[whole]
    doc, grams = rows.array("doc")[starts], rows.array("grams")[starts]
    patch = packed_words(rows.strings("sources").take(starts)).view(np.int64).reshape(
        len(starts), len(sweep.limits))
    sources = packed_words(rows.strings("sources"))
    offsets = rows.strings("sources").offsets
    offsets = frozen((offsets - offsets[0]) // _WORD)
    told = {sweep.cover_of(each) for each in sweep.told}
    for cover, combinations in sweep.covers().items():
        size, limit = divmod(cover, len(sweep.limits))
        mine = np.flatnonzero(doc % np.uint64(len(sweep.sizes)) == size)
        weights = np.where(rows.array("pages") <= sweep.limits[limit], rows.array("grams"), 0)
        counts, chosen, gained, rank_of = covers.cover_each(
            frozen(starts[mine] + 1), frozen(ends[mine]), frozen(weights), offsets,
            frozen(sources), frozen(patch[mine, limit]), settings.min_source_share)
        quilted = np.zeros(len(mine), np.bool_)
        for each in combinations:
            quilted |= each.is_quilted(grams[mine], patch[mine, limit], counts)
        page = doc[mine] // np.uint64(len(sweep.sizes))
        yield _source_rows(page, cover, quilted, counts, chosen, gained, len(sweep.sizes))
        mine, page = mine[quilted], page[quilted]
        yield TaggedOutput(FACTS, _facts(
            Fact.COVER, page, cover=np.full(len(page), cover, np.uint32),
            a=grams[mine].astype(np.uint64), b=patch[mine, limit].astype(np.uint64)))
        if cover in told:
            yield TaggedOutput(FACTS, _list_facts(
                rows, starts[mine], ends[mine], page, cover, rank_of))


def _source_rows(
    page: NDArray, cover: int, quilted: NDArray, counts: NDArray, chosen: NDArray,
    gained: NDArray, sizes: int,
) -> Block:
    rank = np.arange(len(chosen)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = np.repeat(quilted, counts)
    return Block({
        "page": chosen // np.uint64(sizes), "quilt": np.repeat(page, counts),
        "cover": np.full(len(chosen), cover, np.uint32), "rank": rank, "grams": gained,
    }).take(kept)


def _list_facts(
    rows: Block, starts: NDArray, ends: NDArray, page: NDArray, cover: int, rank_of: NDArray
) -> Block:
    at = np.repeat(ends - np.cumsum(ends - starts), ends - starts) + np.arange(
        int((ends - starts).sum()))
    page = np.repeat(page, ends - starts)
    covered = rank_of[at] >= 0
    at = at[covered]
    return _facts(Fact.LIST, page[covered], cover=np.full(len(at), cover, np.uint32),
                  rank=rank_of[at], a=rows.array("list")[at])


def source_facts(sources: Block) -> Block:
    """Sources of quilts, with their URLs, as facts of the quilts."""
    return _facts(Fact.SOURCE, sources.array("quilt"), cover=sources["cover"],
                  rank=sources["rank"], b=sources.array("grams").astype(np.uint64),
                  name=sources["url"])


def quilted_pages(sources: Block) -> Block:
    """The pages that have sources."""
    return Block({"page": sources["quilt"]})


def grams_of_quilts(grams: Block, quilts: KeyFilter) -> Block:
    """The patch grams of pages that may be quilts."""
    return grams.take(quilts.may_hold(grams.select(("page",))))


def text_facts(parts: Block, quilts: KeyFilter) -> Iterator[Block]:
    """Name, tokens and links of pages that may be quilts; only row groups with one are read."""
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        numbers = np.frombuffer(part.strings("numbers")[0], np.int64)
        wanted = np.flatnonzero((numbers >= 0) & _may_be(numbers, quilts))
        if not len(wanted):
            continue
        for pages in numbered_rows(part, _TEXT_COLUMNS, wanted):
            kept = np.flatnonzero(_may_be(pages.number, quilts))
            offsets, tokens = pages.rows.lists("tokens")
            text = VarBytes(offsets * _WORD, np.ascontiguousarray(tokens).view(np.uint8))
            some = pages.rows.batch.take(pa.array(kept))
            links = VarBytes.from_list([
                b"\0".join([base, *links]) for base, links in
                zip(some.column("base").to_pylist(), some.column("links").to_pylist(),
                    strict=True)])
            yield _facts(Fact.TEXT, pages.number[kept].astype(np.uint64),
                         name=pages.urls().take(kept), tokens=text.take(kept), links=links)


def _may_be(numbers: NDArray[np.int64], quilts: KeyFilter) -> NDArray[np.bool_]:
    return quilts.may_hold(Block({"page": numbers.astype(np.uint64)}))
