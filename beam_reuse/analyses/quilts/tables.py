"""The rows of the tables of quilts, from all facts of their pages; no Beam."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.quilts.cover_rows import Fact
from beam_reuse.analyses.quilts.lists import packed_words
from beam_reuse.columnar.block import Block, Column
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.quilts import Combination, Linked, Sweep, linked_sources, patch_fractions
from beam_reuse.core.settings import QuiltSettings
from beam_reuse.kernels import grams as gram_kernels
from beam_reuse.kernels.compiled import frozen

QUILTS, SOURCES = "quilts", "quilt_sources"
_LINKED = np.array([each.name.lower().encode() for each in Linked], object)
_COVER = ("page", "cover")


def quilt_tables(
    grams: Block | None, facts: Block | None, settings: QuiltSettings
) -> Iterator[TaggedOutput]:
    """Patch grams and facts of whole pages, by page -> rows of QUILTS and SOURCES."""
    if facts is None:
        return
    facts = facts.sort(("page", "kind", "cover", "rank"))
    kinds = facts.array("kind")
    text, cover, source, lists = (facts.take(kinds == kind) for kind in Fact)
    if not len(cover):
        return
    text = text.take(np.searchsorted(text.array("page"), np.unique(cover.array("page"))))
    sweep = Sweep.of(settings)
    of_page = np.searchsorted(text.array("page"), cover.array("page"))
    firsts = np.append(source.starts(_COVER), len(source))
    counts = np.diff(firsts)
    linked = _linked(text, source)
    patch = cover.array("b").astype(np.int64)
    quilts = Block({
        "url": text.strings("name").take(of_page), "grams": cover.array("a").astype(np.int64),
        "patch_grams": patch, "sources": counts,
        "patch_fraction": patch_fractions(cover.array("a").astype(np.int64), patch),
        **{f"linked_{name}_share": _linked_share(source, firsts, linked >= least) / patch
           for name, least in (("page", Linked.PAGE), ("domain", Linked.DOMAIN))},
    })
    of_cover = np.repeat(np.arange(len(cover)), counts)
    sources = Block({
        "url": quilts.strings("url").take(of_cover), "rank": source.array("rank") + 1,
        "source_url": source["name"], "grams": source.array("b").astype(np.int64),
        "share": source.array("b") / patch[of_cover],
        "linked": VarBytes.from_list(_LINKED[linked].tolist()),
        "spans": _spans(grams, text, cover, lists, counts, sweep),
    })
    for each in sweep.combinations:
        chosen = (cover.array("cover") == sweep.cover_of(each)) & each.is_quilted(
            quilts.array("grams"), patch, counts)
        yield TaggedOutput(QUILTS, _with_settings(quilts.take(chosen), each, settings))
        if each in sweep.told:
            yield TaggedOutput(SOURCES, _with_settings(
                sources.take(chosen[of_cover]), each, settings))


def _with_settings(rows: Block, combination: Combination, settings: QuiltSettings) -> Block:
    count, variant = len(rows), settings.variant.encode()
    columns: dict[str, Column] = {
        name: np.full(count, value) for name, value in combination._asdict().items()}
    columns["variant"] = VarBytes.from_list([variant] * count)
    columns["min_source_share"] = np.full(count, float(settings.min_source_share))
    columns["min_patch_fraction"] = np.full(count, float(combination.min_patch_fraction))
    return rows.with_columns(**columns)


def _linked(text: Block, source: Block) -> NDArray[np.int64]:
    """For each source what the links of its quilt say of it."""
    out: list[int] = []
    ends = np.searchsorted(source.array("page"), text.array("page"), "right").tolist()
    names, links = source.strings("name").to_list(), text.strings("links").to_list()
    for url, link, (start, end) in zip(
            text.strings("name").to_list(), links, pairwise([0, *ends]), strict=True):
        base, *others = link.split(b"\0")
        out += linked_sources(url, base, others, names[start:end])
    return np.array(out, np.int64)


def _linked_share(source: Block, firsts: NDArray, counts: NDArray[np.bool_]) -> NDArray[np.int64]:
    grams = np.where(counts, source.array("b"), 0).astype(np.int64)
    return np.asarray(np.add.reduceat(grams, firsts[:-1]))


def _spans(
    grams: Block | None, text: Block, cover: Block, lists: Block, counts: NDArray, sweep: Sweep,
) -> VarBytes:
    """For each source where its grams stand in the quilt: starts and ends as 64-bit words;
    nothing for sources that are not told."""
    told = [sweep.cover_of(each) for each in sweep.told]
    lengths, found = np.zeros(int(counts.sum()), np.int64), []
    ends = np.cumsum(counts)
    numbers = cover.array("cover")
    firsts, lasts = match_ranges(cover, lists, _COVER)
    for at in np.flatnonzero(np.isin(numbers, told)).tolist():
        assert grams is not None
        page = cover.array("page")[at]
        low, high = np.searchsorted(grams.array("page"), (page, page + np.uint64(1)))
        row = int(np.searchsorted(text.array("page"), page))
        mine = lists.slice(int(firsts[at]), int(lasts[at]))
        size = sweep.sizes[int(numbers[at]) // len(sweep.limits)]
        owner, start, end = gram_kernels.spans(
            frozen(packed_words(text.strings("tokens").slice(row, row + 1))), size,
            frozen(grams.array("gram")[low:high]),
            frozen(_owners(grams.array("list")[low:high], mine)), int(counts[at]))
        lengths[ends[at] - counts[at]:ends[at]] = 16 * np.bincount(owner, minlength=counts[at])
        found.append(np.column_stack([start, end]).astype(np.int64).tobytes())
    return VarBytes.from_lengths(lengths, np.frombuffer(b"".join(found), np.uint8))


def _owners(of_gram: NDArray[np.uint64], lists: Block) -> NDArray[np.int64]:
    """The rank of the source that covers each gram, by its list; -1: none."""
    order = np.argsort(lists.array("a"))
    known = lists.array("a")[order]
    at = np.minimum(np.searchsorted(known, of_gram), len(known) - 1)
    return np.where(known[at] == of_gram, lists.array("rank")[order][at], -1)
