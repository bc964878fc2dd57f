"""From the pages of parts to signatures.

A row of signatures is a page. `site` is a fingerprint of its name, `equal` a hash of `b` and `c`,
`order` is small for pages that are kept first, and `short` is 1 if the text has no grams. `url` is
a hash of the page's URL, `canonical` of the one that it declares canonical; 0 if that is none or
its own.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.plainest import declared_names, plainest
from beam_reuse.analyses.near_duplicates.candidates import may_share
from beam_reuse.analyses.near_duplicates.definition import PageSigner, as_words
from beam_reuse.analyses.near_duplicates.grams import GRAM
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    PAGE,
    TEXT,
    UNSIGNED,
    columns,
    gives,
    raw,
)
from beam_reuse.core.pages import Kind
from beam_reuse.core.stop_chunks import builtin_file_hashes
from beam_reuse.io.part_columns import HAS_TOKENS, with_images
from beam_reuse.io.parts import has_columns
from beam_reuse.pages.captures import earliest_first
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Count, Tagged

TOKENLESS, SITES, COMMON, DECLARED = "tokenless", "sites", "common", "declared"
SITE_NAMES = columns(site=FINGERPRINT, name=TEXT)
COMMON_ROWS = columns(common=raw(20), page=PAGE)
"""What pages on several domains may have in common: a SHA-1 of files, a hash of texts."""
_RULES = {"plainest-url": ("declared_canonical",), "smallest-url": (), "earliest": ("timestamp",),
          "longest": ()}


def _signatures(parts: pa.Schema, settings: NearDuplicateSettings, *_: object) -> pa.Schema:
    b, c = raw(8 * settings.supershingles), raw(8 * -(-settings.projection_bits // 64))
    return columns(page=PAGE, identity=raw(16), site=FINGERPRINT, b=b, c=c, order=UNSIGNED,
                   short=KIND, url=FINGERPRINT, canonical=FINGERPRINT, equal=FINGERPRINT)


@gives(_signatures, {
    TOKENLESS: columns(page=PAGE), SITES: SITE_NAMES, COMMON: COMMON_ROWS,
    DECLARED: columns(url=FINGERPRINT)})
def signature_rows(
    parts: Block, settings: NearDuplicateSettings, sides: Sides, among: HeavyKeys | None,
) -> Iterator[Block | Tagged | Count]:
    """Signatures of all pages with tokens, or of those that may have a key that is `among` these;
    also the new pages without (TOKENLESS), the names of sites (SITES), the files of documents and
    their texts (COMMON), and URLs that are declared canonical (DECLARED)."""
    columns = ("url", "site", "token_count", "kind", "sha1", *_RULES[settings.keep_rule])
    for pages, has_tokens, signed in signed_pages(parts, settings, columns):
        sites = pages.rows.strings("site")
        page, site = pages.number.astype(np.uint64), sites.hash64()
        if sides.is_new_part(pages.part):
            yield Count("no-tokens", int((~has_tokens).sum()))
            yield Tagged(TOKENLESS, Block({"page": page[~has_tokens]}))
        yield Tagged(COMMON, _files(pages))
        yield Tagged(COMMON, _texts(page, signed.text))
        _, first = np.unique(site, return_index=True)
        yield Tagged(SITES, Block({"site": site[first], "name": sites.take(first)}))
        url, canonical = _names(pages, settings.keep_rule)
        yield Tagged(DECLARED, Block({"url": np.unique(canonical[canonical > 0])}))
        rows = Block({
            "page": page, "identity": signed.identity, "site": site, "b": signed.b, "c": signed.c,
            "order": _order(pages, settings.keep_rule),
            "short": (pages.rows.numbers("token_count") < GRAM).astype(np.uint8),
            "url": url, "canonical": canonical,
        }).take(has_tokens)
        if among is not None:
            rows = rows.take(may_share(rows, settings, among))
        yield rows.with_columns(equal=rows.hash_rows(("b", "c")))


class Signed(NamedTuple):
    """Signatures of pages, one value each: of all tokens, of those of the `text` alone, B and C."""

    identity: NDArray
    text: NDArray
    b: NDArray
    c: NDArray


def signed_pages(
    parts: Block, settings: NearDuplicateSettings, columns: Sequence[str],
    wanted: KeyFilter | None = None,
) -> Iterator[tuple[NumberedRows, NDArray, Signed]]:
    """Pages with these columns, which of them have tokens, and their signatures;
    of those that a filter wants, and others with them. Signatures that parts have are taken, else
    they are made of the parts' tokens."""
    names = PageSigner(settings).names
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        rows = None if wanted is None else wanted_rows(part.lists("pages")[0], wanted)
        if rows is not None and not len(rows):
            continue
        signed = has_columns(part.strings("path")[0].decode(), names)
        needed = (HAS_TOKENS, *names) if signed else ("tokens", "images")
        for pages in numbered_rows(part, (*needed, *columns), rows):
            has_tokens, *values = (
                (pages.rows.numbers(name) for name in needed) if signed
                else _signed(pages, settings))
            yield pages, has_tokens, Signed(*values)


def wanted_rows(pages: Block, wanted: KeyFilter) -> NDArray[np.int64]:
    """The rows of a part's pages whose numbers a filter may hold."""
    named = Block({"page": pages.array("number").astype(np.uint64)})
    return np.asarray(pages.array("row")[wanted.may_hold(named)])


def _signed(pages: NumberedRows, settings: NearDuplicateSettings) -> tuple[NDArray, ...]:
    """Which pages have tokens, and the signatures of each."""
    tokens, offsets, texts = with_images(
        *(pages.rows.lists(name).flat() for name in ("tokens", "images")))
    return np.diff(offsets) > 0, *PageSigner(settings).sign(tokens, offsets, texts)


def _files(pages: NumberedRows) -> Block:
    """The files of documents, without those that say nothing."""
    sha1, kind = pages.rows.numbers("sha1"), pages.rows.numbers("kind")
    documents = np.isin(kind, [each for each in Kind if each.has_text])
    rows = Block({"common": sha1, "page": pages.number.astype(np.uint64)})
    nothing = Block({"common": builtin_file_hashes()})
    empty = np.isin(rows.hash_rows(("common",)), nothing.hash_rows(("common",)))
    return rows.take(documents & ~empty)


def _texts(page: NDArray[np.uint64], text: NDArray) -> Block:
    """The texts of pages, of a shingle or more, whatever their images."""
    common = np.zeros((len(page), 5), np.uint32)
    common[:, :4] = as_words(text).view(np.uint32)
    rows = Block({"common": common.view("V20").reshape(len(page)), "page": page})
    return rows.take(np.flatnonzero(common.any(axis=1)))


def _names(pages: NumberedRows, rule: str) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Hashes of the URLs of pages, and of those that they declare canonical, where the rule asks
    for it."""
    if rule != "plainest-url":
        nothing = np.zeros(len(pages), np.uint64)
        return nothing, nothing
    return declared_names(pages.rows.strings("url"), pages.rows.strings("declared_canonical"))


def _order(pages: NumberedRows, rule: str) -> NDArray[np.uint64]:
    """Numbers in the order in which pages are to be kept; ties go to the smaller page."""
    if rule == "plainest-url":
        return plainest(pages.urls())
    if rule == "earliest":
        return earliest_first(pages.rows.maybe("timestamp"))
    if rule == "longest":
        return ~pages.rows.numbers("token_count").astype(np.uint64)
    return np.zeros(len(pages), np.uint64)
