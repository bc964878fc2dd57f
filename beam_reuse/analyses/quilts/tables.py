"""The rows of the tables of quilts, from all that is known of their pages; no Beam."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.quilts import schemas
from beam_reuse.analyses.quilts.definition import (
    Combination,
    Linked,
    Sweep,
    linked_sources,
    patch_fractions,
)
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.columnar.block import Block, Column, Lists
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.schema import NOTHING, gives
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.kernels import grams as gram_kernels
from beam_reuse.kernels.compiled import frozen
from beam_reuse.rows import Tagged

QUILTS, SOURCES = "quilts", "quilt_sources"
_LINKED = np.array([each.name.lower().encode() for each in Linked], object)
_COVER = ("page", "cover")


@gives(NOTHING, {QUILTS: schemas.QUILTS.rows, SOURCES: schemas.QUILT_SOURCES.rows})
def quilt_tables(
    sources: Block | None, texts: Block | None, taken: Block | None, settings: QuiltSettings
) -> Iterator[Tagged]:
    """Sources by page, cover and rank, the texts of quilts, and the grams that each source covers,
    of whole pages -> rows of QUILTS and SOURCES."""
    if sources is None or texts is None:
        return
    starts = sources.starts(_COVER)
    counts = np.diff(np.append(starts, len(sources)))
    cover = sources.take(starts).select((*_COVER, "grams", "patch_grams", "copies"))
    texts = texts.take(np.searchsorted(texts.array("page"), np.unique(cover.array("page"))))
    urls = texts.strings("url").take(np.searchsorted(texts.array("page"), cover.array("page")))
    grams, patch, new = cover.array("grams"), cover.array("patch_grams"), sources.array("new_grams")
    linked = _linked(texts, sources)
    quilts = Block({
        "url": urls, "grams": grams, "patch_grams": patch, "sources": counts,
        "copies": cover["copies"], "patch_fraction": patch_fractions(grams, patch),
        **{name: np.add.reduceat(np.where(linked >= least, new, 0), starts) / patch
           for name, least in (("linked_page_share", Linked.PAGE),
                               ("linked_domain_share", Linked.DOMAIN), ("covered", Linked.NONE))},
    })
    of_cover = np.repeat(np.arange(len(cover)), counts)
    sweep = Sweep.of(settings)
    given = Block({
        "url": urls.take(of_cover), "rank": sources.array("rank") + 1,
        "source_url": sources["source_url"], "grams": new, "share": new / patch[of_cover],
        "linked": VarBytes.from_list(_LINKED[linked].tolist()),
        "spans": _spans(taken, texts, cover, counts, sweep),
    })
    for each in sweep.combinations:
        chosen = (cover.array("cover") == sweep.cover_of(each)) & each.is_quilted(
            grams, patch, counts)
        yield Tagged(QUILTS, _with_settings(quilts.take(chosen), each, settings))
        if each in sweep.told:
            yield Tagged(SOURCES, _with_settings(given.take(chosen[of_cover]), each, settings))


def _with_settings(rows: Block, combination: Combination, settings: QuiltSettings) -> Block:
    count, variant = len(rows), settings.variant.encode()
    columns: dict[str, Column] = {
        name: np.full(count, value) for name, value in combination._asdict().items()}
    columns["variant"] = VarBytes.from_list([variant] * count)
    columns["min_source_share"] = np.full(count, float(settings.min_source_share))
    columns["min_patch_fraction"] = np.full(count, float(combination.min_patch_fraction))
    return rows.with_columns(**columns)


def _linked(texts: Block, sources: Block) -> NDArray[np.int64]:
    """For each source what the links of its quilt say of it."""
    out: list[int] = []
    ends = np.searchsorted(sources.array("page"), texts.array("page"), "right").tolist()
    names, links = sources.strings("source_url").to_list(), texts.lists("links")
    bases = texts.maybe("base").values.to_list()
    for row, (url, base, (start, end)) in enumerate(zip(
            texts.strings("url").to_list(), bases, pairwise([0, *ends]), strict=True)):
        out += linked_sources(url, base, links[row].to_list(), names[start:end])
    return np.array(out, np.int64)


def _spans(
    taken: Block | None, texts: Block, cover: Block, counts: NDArray, sweep: Sweep,
) -> Lists:
    """For each source where its grams occur in the quilt, from `start` to `end`; nothing for
    sources that are not reported."""
    lengths = np.zeros(int(counts.sum()), np.int64)
    found = [Block({"start": np.zeros(0, np.int64), "end": np.zeros(0, np.int64)})]
    if taken is not None:
        taken = taken.sort(_COVER)
        ends = np.cumsum(counts)
        rows = np.searchsorted(texts.array("page"), cover.array("page"))
        firsts, lasts = match_ranges(cover, taken, _COVER)
        for at in np.flatnonzero(lasts > firsts).tolist():
            mine = taken.slice(int(firsts[at]), int(lasts[at]))
            owners = np.repeat(mine.array("rank"), mine.lists("grams").lengths())
            owner, start, end = gram_kernels.spans(
                frozen(texts.lists("tokens")[rows[at]]),
                sweep.sizes[int(cover.array("cover")[at]) // len(sweep.limits)],
                frozen(mine.lists("grams").used()), frozen(owners), int(counts[at]))
            places = texts.lists("places")[rows[at]]
            if len(places):
                owner, start, end = gram_kernels.placed(owner, start, end, frozen(places))
            lengths[ends[at] - counts[at]:ends[at]] = np.bincount(owner, minlength=counts[at])
            found.append(Block({"start": start.astype(np.int64), "end": end.astype(np.int64)}))
    return Lists.from_lengths(lengths, Block.concat(found))
