"""From evaluation files to grams that are looked for; no Beam.

An *item* is a text of one field of one row. Items with the same tokens have one *text*, which is
known by the fingerprint of its tokens, so that it is looked for once.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.decontaminate.definition import GRAMS, GramFilter, grams_of_texts
from beam_reuse.analyses.decontaminate.schemas import EVAL_REJECTS, EVALUATIONS
from beam_reuse.analyses.decontaminate.settings import DecontaminateSettings
from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.schema import FINGERPRINT, NUMBER, TEXT, columns, gives, less, lists
from beam_reuse.core.tokens import scan_plain
from beam_reuse.io.crawl.inputs import InputFile
from beam_reuse.io.crawl.rows import utf8
from beam_reuse.io.evals import BadRow, EvalFields, EvalItem, list_evals, read_evals
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.grams import gram_at
from beam_reuse.rows import Tagged

REJECTS, COUNTS, TEXTS = "rejects", "counts", "texts"
LETTERS_SHOWN = 200
_AT_ONCE = 4 << 20
FILES = columns(path=TEXT, name=TEXT, size=NUMBER)
ITEMS = columns(text=FINGERPRINT, eval=TEXT, id=TEXT, field=TEXT, shown=TEXT,
                words=lists(FINGERPRINT))
NAMED = less(ITEMS, "words")
DESCRIBED = columns(NAMED, total=NUMBER)
_WITH_ITEMS = columns(GRAMS, items=NUMBER)
_COUNTED = ("rows", "rejected", "items", "too_short", "compared", "contaminated")
COUNT_ROWS = columns(eval=TEXT, **dict.fromkeys(_COUNTED, NUMBER))
SUMS = dict.fromkeys(_COUNTED, "sum")


def file_rows(settings: DecontaminateSettings) -> list[Block]:
    """A block for each evaluation file."""
    return [Block({
        "path": VarBytes.from_list([file.path.encode()]),
        "name": VarBytes.from_list([file.name.encode()]), "size": np.array([file.size])})
        for file in list_evals(settings.against)]


@gives(ITEMS, {REJECTS: EVAL_REJECTS.rows, COUNTS: COUNT_ROWS})
def read_items(files: Block, settings: DecontaminateSettings) -> Iterator[Block | Tagged]:
    """The items of files that are long enough; REJECTS: rows that cannot be read, COUNTS: what
    became of all."""
    fields = EvalFields(settings.id, settings.fields)
    for path, name, size in zip(files.strings("path").to_list(), files.strings("name").to_list(),
                                files.array("size").tolist(), strict=True):
        file = InputFile(path.decode(), size, "", "", "")
        held = _Held(name, settings.least_tokens)
        for row in read_evals(file, fields):
            held.add(row)
            if held.nbytes > _AT_ONCE:
                yield held.drain()
        yield held.drain()
        yield Tagged(REJECTS, held.rejects())
        yield Tagged(COUNTS, held.counts())


class _Held:
    """Items of a file that wait to be given, and what was counted."""

    def __init__(self, name: bytes, least: int) -> None:
        self.name, self.least = name, least
        self.nbytes = self.rows = self.rejected = self.items = 0
        self.given = 0
        self.waiting: list[tuple[EvalItem, bytes, NDArray[np.uint64]]] = []
        self.bad: list[BadRow] = []

    def add(self, row: list[EvalItem] | BadRow) -> None:
        if isinstance(row, BadRow):
            self.bad.append(row)
            self.rows += row.rows
            self.rejected += row.rows
            return
        self.rows += 1
        for item in row:
            self.items += 1
            text = utf8(item.text)
            tokens = scan_plain(text).tokens
            if len(tokens) >= self.least:
                shown = utf8(item.text[:LETTERS_SHOWN])
                self.waiting.append((item, shown, tokens))
                self.nbytes += 8 * len(tokens) + len(shown) + 100

    def drain(self) -> Block:
        waiting, self.waiting, self.nbytes = self.waiting, [], 0
        self.given += len(waiting)
        words = [tokens for _, _, tokens in waiting]
        return Block({
            "text": np.array([fingerprint_of(each) for each in words], np.uint64),
            "eval": VarBytes.from_list([self.name] * len(waiting)),
            "id": VarBytes.from_list([utf8(item.id) for item, _, _ in waiting]),
            "field": VarBytes.from_list([utf8(item.field) for item, _, _ in waiting]),
            "shown": VarBytes.from_list([shown for _, shown, _ in waiting]),
            "words": Lists.from_lengths(
                np.array([len(each) for each in words], np.int64),
                np.concatenate([np.zeros(0, np.uint64), *words]))})

    def rejects(self) -> Block:
        return Block({
            "eval": VarBytes.from_list([self.name] * len(self.bad)),
            "row": np.array([each.row for each in self.bad], np.int64),
            "reason": VarBytes.from_list([each.reason.encode() for each in self.bad]),
            "detail": VarBytes.from_list([utf8(each.detail) for each in self.bad])})

    def counts(self) -> Block:
        return counts_of(VarBytes.from_list([self.name]), rows=self.rows, rejected=self.rejected,
                         items=self.items, too_short=self.items - self.given)


def fingerprint_of(tokens: NDArray[np.uint64]) -> np.uint64:
    """The fingerprint of a text."""
    return np.uint64(gram_at(frozen(tokens), 0, len(tokens)))


def counts_of(names: VarBytes, **counts: int) -> Block:
    """Rows of counts of evaluation files, each the same; what is not given is 0."""
    return Block({"eval": names, **{
        name: np.full(len(names), counts.get(name, 0), np.int64) for name in _COUNTED}})


@gives(NAMED, {TEXTS: columns(text=FINGERPRINT, items=NUMBER, words=lists(FINGERPRINT))})
def same_texts(
    items: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], most: int,
) -> Iterator[Block | Tagged]:
    """Items by text, without those of texts that more than `most` have: all their grams are
    prompts; TEXTS: each text once. (Of a text that very many have, not all are here.)"""
    yield Tagged(TEXTS, items.take(starts).select(("text", "words")).with_columns(items=sizes))
    held = np.diff(np.append(starts, len(items)))
    yield items.without("words").take(np.repeat(sizes <= most, held))


@gives(_WITH_ITEMS)
def gram_rows(texts: Block, settings: DecontaminateSettings) -> Block:
    """The grams of texts, with the number of items that have each text."""
    grams = grams_of_texts(texts.array("text"), texts.lists("words"), settings.gram_size,
                           settings.least_tokens)
    order = np.argsort(texts.array("text"))
    at = np.searchsorted(texts.array("text"), grams.array("text"), sorter=order)
    return grams.with_columns(items=texts.array("items")[order][at])


@gives(GRAMS)
def without_prompts(
    grams: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], most: int,
) -> Block:
    """Grams that no more than `most` items have. (Where more texts have one than that, not all are
    here.)"""
    few = np.add.reduceat(grams.array("items"), starts) <= most
    held = np.diff(np.append(starts, len(grams)))
    return grams.without("items").take(np.repeat(few, held))


@gives(columns(text=FINGERPRINT, total=NUMBER))
def gram_counts(grams: Block) -> Block:
    """One for each gram of a text."""
    return Block({"text": grams["text"], "total": np.ones(len(grams), np.int64)})


@gives(DESCRIBED, {COUNTS: COUNT_ROWS})
def with_totals(items: Block | None, totals: Block | None) -> Iterator[Block | Tagged]:
    """Items with the number of grams of their texts; those that have none left are not compared.
    Both are sorted by text."""
    if items is None or totals is None:
        return
    at = np.searchsorted(totals.array("text"), items.array("text"))
    at = np.minimum(at, len(totals) - 1)
    there = totals.array("text")[at] == items.array("text")
    found = items.take(there).with_columns(total=totals.array("total")[at[there]])
    yield found
    yield Tagged(COUNTS, counts_of(found.strings("eval"), compared=1))


class FilterGrams:
    """Folds grams to a GramFilter, which has room for their total, in `most_bytes` or less."""

    keys = ("gram", "head")

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes

    def start(self, total: dict[str, int]) -> GramFilter:
        return GramFilter.sized(total["total"], self.most_bytes)

    def add(self, held: GramFilter, grams: Block) -> GramFilter:
        held.add(grams)
        return held

    def merge(self, held: GramFilter, other: GramFilter) -> GramFilter:
        return GramFilter(held.words | other.words)

    def finish(self, held: GramFilter | None) -> GramFilter:
        return held or GramFilter.sized(1, self.most_bytes)


@gives(EVALUATIONS.rows)
def evaluation_rows(counts: Block) -> Block:
    """Rows of the table `evaluations`: what is neither too short nor compared is a prompt."""
    prompts = counts.array("items") - counts.array("too_short") - counts.array("compared")
    return counts.with_columns(prompts=prompts).select(EVALUATIONS.names)
