"""Evaluation items at the edge: which of them a page holds. No Beam."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.decontaminate.definition import (
    GramFilter,
    grams_of_texts,
    pages_and_texts,
)
from beam_reuse.analyses.decontaminate.settings import LEAST_TOKENS
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.core.errors import UserError
from beam_reuse.core.finding import ItemMatch, Span
from beam_reuse.core.nesting import check_nesting
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR
from beam_reuse.core.text import read_html, read_plain
from beam_reuse.core.tokens import scan_text
from beam_reuse.io.crawl.payload import decode_text, find_charset
from beam_reuse.io.labels.gram_lists import GramSettings, read_gram_list

_MOST_BYTES = 1 << 30


class ItemLabels:
    """The items of lists of gram labels, all made with the same settings, ready for lookups.

    Memory: some 60 bytes for each gram. Answers are those of `decontaminate` against the same
    evaluation files.
    """

    def __init__(self, paths: Sequence[str], parser: str = LEXBOR) -> None:
        self._parser = parser
        self._names: list[tuple[str, str, str]] = []
        offsets, words = [np.zeros(1, np.int64)], []
        made_with: GramSettings | None = None
        for path in paths:
            settings, batches = read_gram_list(path)
            if made_with not in (None, settings):
                raise UserError(f"{path} has {settings}, but {paths[0]} {made_with}. Use lists "
                                "made with the same settings.")
            made_with = settings
            for batch in batches:
                self._names += zip(*(batch.column(name).to_pylist()
                                     for name in ("eval", "id", "field")), strict=True)
                ends, tokens = _lists_of(batch.column("tokens"))
                offsets.append(ends + offsets[-1][-1])
                words.append(tokens)
        assert made_with is not None
        self._size = made_with.gram_size
        self._least = min(LEAST_TOKENS, self._size)
        self._known = _without_prompts(grams_of_texts(
            np.arange(len(self._names), dtype=np.uint64),
            Lists(np.concatenate(offsets), np.concatenate([np.zeros(0, np.uint64), *words])),
            self._size, self._least), made_with.max_items_per_gram)
        self._totals = np.bincount(self._known.array("text").astype(np.int64),
                                   minlength=len(self._names))
        self._filter = GramFilter.sized(len(self._known), _MOST_BYTES)
        self._filter.add(self._known)

    def find(self, payload: bytes, kind: Kind, charset: str) -> tuple[ItemMatch, ...]:
        """The items that have a gram in common with a page, by evaluation file and id."""
        tokens = _tokens_of(payload, kind, charset, self._parser)
        hits = self._filter.find(tokens, np.array([0, len(tokens)]), self._size, self._least)
        return tuple(sorted(self._matches(pages_and_texts(hits, self._known)),
                            key=lambda each: (each.eval, each.id, each.field)))

    def _matches(self, pairs: Block) -> Iterator[ItemMatch]:
        spans, item_spans = (map(_spans, _rows(pairs.lists(name)))
                             for name in ("spans", "item_spans"))
        for item, grams, mine, its in zip(
                pairs.array("text").tolist(), pairs.array("grams").tolist(), spans, item_spans,
                strict=True):
            name, number, field = self._names[item]
            yield ItemMatch(name, number, field, grams / int(self._totals[item]), grams, mine, its)


def _lists_of(column: pa.ListArray) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Where each list ends, and what all have."""
    return (np.cumsum(column.value_lengths().to_numpy()).astype(np.int64),
            column.flatten().to_numpy().astype(np.uint64))


def _without_prompts(grams: Block, most: int) -> Block:
    """Grams that no more than `most` items have, sorted by gram."""
    grams = grams.sort(("gram", "text"))
    starts = grams.starts(("gram",))
    sizes = np.diff(np.append(starts, len(grams)))
    return grams.take(np.repeat(sizes <= most, sizes))


def _rows(lists: Lists) -> Iterator[Block]:
    for i in range(len(lists)):
        row = lists[i]
        assert isinstance(row, Block)
        yield row


def _spans(rows: Block) -> tuple[Span, ...]:
    return tuple(Span(*each) for each in zip(
        rows.array("start").tolist(), rows.array("end").tolist(), strict=True))


def _tokens_of(payload: bytes, kind: Kind, charset: str, parser: str) -> NDArray[np.uint64]:
    """The tokens of a page, as a run has them; none of kinds without text."""
    if not kind.has_text:
        return np.zeros(0, np.uint64)
    found = find_charset(payload, kind, charset)
    if kind is Kind.HTML:
        check_nesting(payload, found)
    text = decode_text(payload, found)
    html = kind is Kind.HTML
    return scan_text((read_html(text, parser=parser) if html else read_plain(text)).text).tokens
