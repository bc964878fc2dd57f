"""Recrawls: pages that a baseline has, too, fetched again, and how much they have changed.

Which pages these are is known where captures of a URL meet. Where near-duplicates are looked for,
the signatures of both captures are read from their parts, and compared.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.definition import as_words, returned_by
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.analyses.near_duplicates.signatures import signed_pages
from beam_reuse.analyses.recrawls.schemas import RECRAWLED
from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.schema import FLAG, KIND, columns, gives, raw
from beam_reuse.core.features import Reads
from beam_reuse.declaring.settings import Settings
from beam_reuse.kernels import near_pairs
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.pages.captures import AGAIN, times_of

SAME_BYTES, SAME_WORDS, NEAR, OTHER, CHANGED = range(5)
CHANGES = VarBytes.from_list([b"same-bytes", b"same-words", b"near", b"other", b"changed"])
_OLD, _NEW = 0, 1
CAPTURE = columns(AGAIN, side=KIND)


class FindRecrawls(Analysis):
    """Pages -> `recrawled`; no table where there is no baseline. Cost: a row of some 100 bytes for
    each page that was fetched again, twice where its bytes have changed."""

    grows = True

    def __init__(self, near: NearDuplicateSettings | None = None) -> None:
        super().__init__()
        self.near = near

    @classmethod
    def of(cls, settings: Settings) -> "FindRecrawls":
        return cls(settings.near_duplicates if settings.asks_for("near-duplicates") else None)

    def reads(self) -> Reads:
        return Reads()

    def find(self, pages: Pages) -> Found:
        again, parts = pages.again, pages.every_part
        if not pages.sides.are_two or again is None or parts is None:
            return Found({})
        if self.near is None:
            return Found({"recrawled": again.map(by_bytes)})
        signed = again.map(both_captures).join(
            parts, "range", with_signatures, self.near, buckets=pages.ranges, dealt=True)
        changed = signed.group("url", by_words, self.near, order="side")
        return Found({"recrawled": again.map(same_bytes) + changed})


def _table(again: Block, change: NDArray, similarities: tuple[Maybe, Maybe]) -> Block:
    b, c = similarities
    return Block({
        "url": again["url"], "change": CHANGES.take(change),
        "timestamp": times_of(again.array("age")),
        "old_timestamp": times_of(again.array("old_age")),
        "b_similarity": b, "c_similarity": c})


def _unknown(rows: Block) -> tuple[Maybe, Maybe]:
    return Maybe.nulls(len(rows), np.int64), Maybe.nulls(len(rows), np.int64)


@gives(RECRAWLED.rows)
def by_bytes(again: Block) -> Block:
    """Rows of the table, by the captures' bytes alone."""
    change = np.where(again.array("same"), SAME_BYTES, CHANGED)
    return _table(again, change, _unknown(again))


@gives(RECRAWLED.rows)
def same_bytes(again: Block) -> Block:
    """Rows of pages with the same bytes."""
    return by_bytes(again.take(again.array("same")))


@gives(CAPTURE)
def both_captures(again: Block) -> Iterator[Block]:
    """A row for each capture of pages whose bytes have changed."""
    changed = again.take(~again.array("same"))
    yield changed.with_columns(side=np.full(len(changed), _NEW, np.uint8))
    yield changed.with_columns(range=changed["old_range"], row=changed["old_row"],
                               side=np.full(len(changed), _OLD, np.uint8))


def _signed(captures: pa.Schema, parts: pa.Schema, settings: NearDuplicateSettings) -> pa.Schema:
    return columns(captures, words=FLAG, identity=raw(16), b=raw(8 * settings.supershingles),
                   c=raw(8 * -(-settings.projection_bits // 64)))


@gives(_signed)
def with_signatures(
    captures: Block | None, parts: Block | None, settings: NearDuplicateSettings,
) -> Iterator[Block]:
    """Captures with their signatures, read from these parts."""
    if captures is None:
        return
    assert parts is not None, "a capture in a part that does not exist"
    for i, (low, high) in enumerate(zip(*match_ranges(parts, captures, ("range",)), strict=True)):
        if low == high:
            continue
        here = captures.slice(int(low), int(high)).sort(("row",))
        part = parts.slice(i, i + 1).with_columns(pages=Lists(
            np.array([0, len(here)]),
            Block({"row": here["row"], "number": np.arange(len(here))})))
        for pages, words, signed in signed_pages(part, settings, ()):
            yield here.take(pages.number).with_columns(
                words=words, identity=signed.identity, b=signed.b, c=signed.c)


@gives(RECRAWLED.rows)
def by_words(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64],
    settings: NearDuplicateSettings,
) -> Block:
    """Rows of pages whose bytes have changed, from both captures of each, the old one first."""
    assert (sizes == 2).all(), "a page without two captures"
    old, new = rows.take(starts), rows.take(starts + 1)
    words = old.array("words") & new.array("words")
    b, c, other_b, other_c = (
        frozen(as_words(side.array(name))) for side in (old, new) for name in ("b", "c"))
    same_b, same_c = near_pairs.similarities(b, c, other_b, other_c, settings.projection_bits)
    found = returned_by(same_b, same_c, np.ones(len(old), np.bool_), settings)
    is_near = found["b"] | found["c"]
    change = np.where(words & (old.array("identity") == new.array("identity")), SAME_WORDS,
                      np.where(words & is_near, NEAR, OTHER))
    known = tuple(Maybe(each.astype(np.int64), words) for each in (same_b, same_c))
    return _table(new, change, (known[0], known[1]))

