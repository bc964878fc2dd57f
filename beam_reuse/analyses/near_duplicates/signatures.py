"""From the pages of parts to signatures, and from equal pages to representatives; no Beam.

A row of signatures is a page: `page`, `identity`, `site` (a fingerprint of its name), `b`, `c`
and `order`, which is small for pages that are kept first.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import with_leaders
from beam_reuse.core.near_duplicates import as_bytes, signature_names, signatures
from beam_reuse.core.settings import NearDuplicateSettings
from beam_reuse.io.part_columns import HAS_TOKENS, NO_TIME
from beam_reuse.io.parts import has_columns
from beam_reuse.pages.rows import NumberedRows, numbered_rows

TOKENLESS, SITES, MEMBERS, SETS = "tokenless", "sites", "members", "sets"
_SIGN = np.uint64(1 << 63)
_LAST = np.uint64(2**64 - 1)
_RULES = {"smallest-url": (), "earliest": ("timestamp",), "longest": ("token_count",)}


def signature_rows(parts: Block, settings: NearDuplicateSettings) -> Iterator[Block | TaggedOutput]:
    """Signatures of all pages with tokens; also the numbers of the others, and the names of
    sites. Signatures that parts have are taken, else they are made of the parts' tokens."""
    names = signature_names(settings)
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        signed = has_columns(part.strings("path")[0].decode(), names)
        columns = (HAS_TOKENS, *names) if signed else ("tokens", "images")
        for pages in numbered_rows(part, (*columns, "site", *_RULES[settings.keep_rule])):
            has_tokens, identity, b, c = (
                (pages.rows.numbers(name) for name in columns) if signed
                else _signed(pages, settings))
            sites = pages.rows.strings("site")
            page, site = pages.number.astype(np.uint64), sites.hash64()
            yield TaggedOutput(TOKENLESS, Block({"page": page[~has_tokens]}))
            _, first = np.unique(site, return_index=True)
            yield TaggedOutput(SITES, Block({"site": site[first], "name": sites.take(first)}))
            yield Block({
                "page": page, "identity": identity, "site": site, "b": b, "c": c,
                "order": _order(pages, settings.keep_rule),
            }).take(has_tokens)


def _signed(pages: NumberedRows, settings: NearDuplicateSettings) -> tuple[NDArray, ...]:
    """Which pages have tokens, and the three signatures of each."""
    tokens, offsets = _sequences(pages)
    found = signatures(tokens, offsets, settings)
    return np.diff(offsets) > 0, *map(as_bytes, (found.identity, found.b, found.c))


def _sequences(pages: NumberedRows) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The tokens of each page, those of its images after those of its text."""
    text_offsets, text = pages.rows.lists("tokens")
    image_offsets, images = pages.rows.lists("images")
    if not len(images):
        return text.astype(np.uint64, copy=False), text_offsets
    offsets = text_offsets + image_offsets
    out = np.empty(len(text) + len(images), np.uint64)
    shift = np.repeat(image_offsets[:-1], np.diff(text_offsets))
    out[np.arange(len(text)) + shift] = text
    shift = np.repeat(text_offsets[1:], np.diff(image_offsets))
    out[np.arange(len(images)) + shift] = images
    return out, offsets


def _order(pages: NumberedRows, rule: str) -> NDArray[np.uint64]:
    """Numbers in the order in which pages are to be kept; ties go to the smaller page."""
    if rule == "earliest":
        time = pages.rows.numbers("timestamp")
        return np.where(time == NO_TIME, _LAST, time.view(np.uint64) ^ _SIGN)
    if rule == "longest":
        return ~pages.rows.numbers("token_count").astype(np.uint64)
    return np.zeros(len(pages), np.uint64)


@dataclass(frozen=True)
class Decided:
    """Rows of classes, and the numbers of those that are `new`. Of these: which row is the first
    of the class, the place in the class from 0, and whether the class is large."""

    rows: Block
    new: NDArray[np.int64]
    first: NDArray[np.int64]
    place: NDArray[np.int64]
    large: NDArray[np.bool_]


def decided_classes(
    slabs: Iterator[Block], keys: tuple[str, ...], most: int
) -> Iterator[Decided]:
    """A stream sorted by `keys` and page, every row new once, classes of up to `most` rows whole
    and the first row of a larger one always there. Holds a slab and `most` rows."""
    held: Block | None = None
    told = 0  # rows of a large class that is still open; its first is held
    slab = next(slabs, None)
    while slab is not None:
        following = next(slabs, None)
        rows = slab if held is None else Block.concat([held, slab])
        starts = rows.starts(keys)
        here = np.diff(np.append(starts, len(rows)))
        first = np.repeat(starts, here)
        place = np.arange(len(rows)) - first
        before = np.zeros_like(here)
        before[0] = max(told - 1, 0)
        place += np.repeat(before, here)
        is_large = here + before > most
        last, unfinished = int(starts[-1]), following is not None
        new = np.arange(min(told, 1), last if unfinished and not is_large[-1] else len(rows))
        yield Decided(rows, new, first[new], place[new], np.repeat(is_large, here)[new])
        told = int(place[-1]) + 1 if is_large[-1] else 0
        held = rows.slice(last, last + 1 if is_large[-1] else len(rows))
        slab = following


def identity_sets(bucket: int, slabs: Iterator[Block]) -> Iterator[Block | TaggedOutput]:
    """Signatures sorted by identity and page -> those of the first page of each set.

    Also MEMBERS: the `representative` of each page and its `order`; and SETS: the same for sets
    of two or more, the representative as its own member.
    """
    for rows, leaders, place in with_leaders(slabs, ("identity",)):
        members = Block({"representative": leaders["page"], "page": rows["page"],
                         "order": rows["order"]})
        yield rows.take(place == 0).without("identity", "order")
        yield TaggedOutput(MEMBERS, members)
        copies = members.take(place > 0).select(("representative", "page"))
        second = members.take(place == 1).select(("representative",))
        yield TaggedOutput(SETS, copies)
        yield TaggedOutput(SETS, second.with_columns(page=second["representative"]))
