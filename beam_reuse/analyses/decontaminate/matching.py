"""From the pages of parts to the items that they hold; no Beam.

Pages that are read at once are a *block*. What its pages may have of known grams is confirmed for
the block as a whole, so that a gram that is on very many pages does not bring them all together.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.decontaminate.definition import (
    GRAMS,
    GramFilter,
    merged_spans,
    pages_and_texts,
)
from beam_reuse.analyses.decontaminate.items import COUNT_ROWS, COUNTS, DESCRIBED, counts_of
from beam_reuse.analyses.decontaminate.schemas import (
    CONTAMINATED_ITEMS,
    CONTAMINATED_PAGES,
    CONTAMINATION,
)
from beam_reuse.analyses.decontaminate.settings import DecontaminateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import match_ranges, pairs_of
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    NUMBER,
    PAGE,
    UNSIGNED,
    columns,
    gives,
    less,
)
from beam_reuse.pages.rows import numbered_rows
from beam_reuse.rows import Tagged

PAGES, TEXTS, FOUND = "pages", "texts", "found"
HITS = columns(block=UNSIGNED, page=PAGE, gram=FINGERPRINT, at=NUMBER, size=KIND, length=NUMBER)
CONFIRMED = columns(less(GRAMS, "head"), block=UNSIGNED)
WANTED = columns(less(DESCRIBED, "shown"), block=UNSIGNED)
BEST = columns(text=FINGERPRINT, pages=NUMBER, best=UNSIGNED)
BEST_OF = {"pages": "sum", "best": "max"}
# Of pages and texts that are worked on together, so many occurrences of grams.
_AT_ONCE = 1 << 20
# The best page is the one with most grams, then the smallest: both in 64 bits.
_PAGE_BITS = np.uint64(40)
_LAST_PAGE = np.uint64((1 << 40) - 1)


@gives(HITS)
def find_hits(
    parts: Block, settings: DecontaminateSettings, wanted: GramFilter,
) -> Iterator[Block]:
    """Every place of a page at which a gram may begin that is looked for."""
    for i in range(len(parts)):
        for number, pages in enumerate(numbered_rows(parts.slice(i, i + 1), ("tokens",))):
            offsets, tokens = pages.rows.lists("tokens").flat()
            found = wanted.find(tokens, offsets, settings.gram_size, settings.least_tokens)
            row = found.array("page")
            block = np.uint64(pages.part) << np.uint64(32) | np.uint64(number)
            yield found.with_columns(
                block=np.full(len(found), block, np.uint64),
                page=pages.number[row].astype(np.uint64), length=np.diff(offsets)[row])


@gives(columns(gram=FINGERPRINT, block=UNSIGNED))
def grams_of_blocks(hits: Block) -> Block:
    """The grams that blocks may have."""
    return hits.select(("gram", "block"))


@gives(CONFIRMED, {FOUND: columns(text=FINGERPRINT, found=NUMBER)})
def confirm(asked: Block | None, known: Block | None) -> Iterator[Block | Tagged]:
    """Grams of blocks, each once, and known grams, both by gram -> those that are known, with their
    texts; FOUND: one for each gram of a text that is anywhere."""
    if asked is None or known is None:
        return
    low, high = match_ranges(known, asked, ("gram",))
    there = known.array("text")[high > low]
    yield Tagged(FOUND, Block({"text": there, "found": np.ones(len(there), np.int64)}))
    for start, end in _slices(high - low):
        of_known, of_asked = pairs_of(low[start:end], high[start:end])
        yield known.without("head").take(of_known + start).with_columns(
            block=asked.array("block")[of_asked])


def _slices(counts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose counts are not much more than can be worked on at once."""
    before = np.cumsum(counts) - counts
    cuts = np.flatnonzero(np.diff(before // _AT_ONCE, prepend=0)).tolist()
    yield from ((start, end) for start, end in pairwise((0, *cuts, len(counts))) if end > start)


@gives(columns(text=FINGERPRINT, block=UNSIGNED))
def texts_of_blocks(confirmed: Block) -> Block:
    """The texts of which blocks have grams."""
    return confirmed.select(("text", "block"))


@gives(WANTED)
def items_of_blocks(texts: Block | None, items: Block | None) -> Block | None:
    """Texts of blocks, each once, and items, both by text -> the items that blocks ask for."""
    if texts is None or items is None:
        return None
    of_text, of_item = pairs_of(*match_ranges(texts, items, ("text",)))
    return items.without("shown").take(of_item).with_columns(block=texts.array("block")[of_text])


@gives(CONTAMINATION.rows, {PAGES: CONTAMINATED_PAGES.rows, TEXTS: BEST})
def match(
    hits: Block | None, grams: Block | None, items: Block | None, settings: DecontaminateSettings,
) -> Iterator[Block | Tagged]:
    """Hits by block, page and place, with the known grams and the items of their blocks -> rows of
    `contamination`; PAGES: of `contaminated_pages`; TEXTS: the best page of each text here."""
    if hits is None or grams is None or items is None:
        return
    for some in _blocks(hits):
        block = some.array("block")[:1]
        low, high = (tuple(np.searchsorted(each.array("block"), block, side)[0]
                           for each in (grams, items)) for side in ("left", "right"))
        known = grams.slice(low[0], high[0]).sort(("gram", "text"))
        pairs = pages_and_texts(some, known)
        if not len(pairs):
            continue
        named = items.slice(low[1], high[1])
        yield from _rows_of(pairs, named.sort(("text",)), some, settings.min_share)


def _blocks(hits: Block) -> Iterator[Block]:
    """The hits of each block, whole pages of it, not many more than can be worked on at once."""
    starts = np.append(hits.starts(("block", "page")), len(hits))
    block = hits.array("block")[np.minimum(starts, len(hits) - 1)]
    begin = 0
    for here in range(1, len(starts)):
        if (here == len(starts) - 1 or block[here] != block[begin]
                or starts[here + 1] - starts[begin] > _AT_ONCE):
            yield hits.slice(starts[begin], starts[here])
            begin = here


def _rows_of(
    pairs: Block, items: Block, hits: Block, least: float,
) -> Iterator[Block | Tagged]:
    order = np.argsort(pairs.array("text"), kind="stable")
    low, high = match_ranges(pairs.take(order).select(("text",)), items.select(("text",)),
                             ("text",))
    of_pair, of_item = pairs_of(low, high)
    rows, named = pairs.take(order[of_pair]), items.take(of_item)
    share = rows.array("grams") / named.array("total")
    yield named.select(("eval", "id", "field")).with_columns(
        url=rows["page"], share=share, grams=rows["grams"], spans=rows["spans"],
        item_spans=rows["item_spans"])
    enough = share >= least
    yield Tagged(PAGES, _pages(rows.take(enough), share[enough], hits))
    page = rows.array("page")[enough]
    best = rows.array("grams")[enough].astype(np.uint64) << _PAGE_BITS | _LAST_PAGE - page
    texts = Block({"text": rows.array("text")[enough], "page": page, "best": best}).sort(
        ("text", "page"))
    texts = texts.take(texts.starts(("text", "page")))
    yield Tagged(TEXTS, Block({
        "text": texts["text"], "pages": np.ones(len(texts), np.int64), "best": texts["best"]}))


def _pages(rows: Block, share: NDArray[np.float64], hits: Block) -> Block:
    """Rows of `contaminated_pages`, of all that contaminates each page."""
    order = np.argsort(rows.array("page"), kind="stable")
    rows, share = rows.take(order), share[order]
    starts = rows.starts(("page",))
    page = rows.array("page")[starts]
    sizes = np.diff(np.append(starts, len(rows)))
    spans = rows.lists("spans")
    flat = spans.used()
    assert isinstance(flat, Block)
    of = np.repeat(np.repeat(np.arange(len(starts)), sizes), spans.lengths())
    flat = flat.with_columns(of=of).sort(("of", "start"))
    whole = merged_spans(flat.array("of"), flat.array("start"), flat.array("end"), len(starts))
    covered = whole.used()
    assert isinstance(covered, Block)
    tokens = np.bincount(np.repeat(np.arange(len(starts)), whole.lengths()),
                         covered.array("end") - covered.array("start"),
                         len(starts)).astype(np.int64)
    length = hits.array("length")[np.searchsorted(hits.array("page"), page)]
    return Block({
        "url": page, "share": np.maximum.reduceat(share, starts) if len(starts) else share,
        "items": sizes, "tokens": tokens, "page_share": tokens / length})


@gives(CONTAMINATED_ITEMS.rows, {COUNTS: COUNT_ROWS})
def contaminated_items(
    best: Block | None, items: Block | None, found: Block | None,
) -> Iterator[Block | Tagged]:
    """The best page of each text, all items and the grams found of texts, each by text -> rows of
    the table."""
    if best is None or items is None or found is None:
        return
    of_best, of_item = pairs_of(*match_ranges(best, items, ("text",)))
    named, top = items.take(of_item), best.take(of_best)
    at = np.searchsorted(found.array("text"), named.array("text"))
    total, code = named.array("total"), top.array("best")
    yield named.select(("eval", "id", "field")).with_columns(
        share=(code >> _PAGE_BITS).astype(np.int64) / total,
        found=found.array("found")[at] / total, grams=total, pages=top["pages"],
        url=_LAST_PAGE - (code & _LAST_PAGE), text=named["shown"])
    yield Tagged(COUNTS, counts_of(named.strings("eval"), contaminated=1))
