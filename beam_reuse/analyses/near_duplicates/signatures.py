"""From the pages of parts to signatures.

A row of signatures is a page. `site` is a fingerprint of its name, `equal` a hash of `b` and `c`,
`order` is small for pages that are kept first, and `short` is 1 if the text has no grams.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.keep import NOT_DECLARED
from beam_reuse.analyses.near_duplicates.definition import PageSigner
from beam_reuse.analyses.near_duplicates.grams import GRAM
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.schema import FINGERPRINT, KIND, PAGE, TEXT, UNSIGNED, columns, gives, raw
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.io.part_columns import HAS_TOKENS, with_images
from beam_reuse.io.parts import has_columns
from beam_reuse.pages.captures import earliest_first
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.rows import Count, Tagged

TOKENLESS, SITES = "tokenless", "sites"
SITE_NAMES = columns(site=FINGERPRINT, name=TEXT)
_RULES = {"plainest-url": ("url",), "smallest-url": (), "earliest": ("timestamp",), "longest": ()}
_QUERY = np.uint64(1 << 62)


def _signatures(parts: pa.Schema, settings: NearDuplicateSettings) -> pa.Schema:
    b, c = raw(8 * settings.supershingles), raw(8 * -(-settings.projection_bits // 64))
    return columns(page=PAGE, identity=raw(16), site=FINGERPRINT, b=b, c=c, order=UNSIGNED,
                   short=KIND, equal=FINGERPRINT)


@gives(_signatures, {TOKENLESS: columns(page=PAGE), SITES: SITE_NAMES})
def signature_rows(
    parts: Block, settings: NearDuplicateSettings,
) -> Iterator[Block | Tagged | Count]:
    """Signatures of all pages with tokens; also the others (TOKENLESS), and the names of sites
    (SITES). Signatures that parts have are taken, else they are made of the parts' tokens."""
    names = PageSigner(settings).names
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        signed = has_columns(part.strings("path")[0].decode(), names)
        columns = (HAS_TOKENS, *names) if signed else ("tokens", "images")
        for pages in numbered_rows(part, (
                *columns, "site", "token_count", *_RULES[settings.keep_rule])):
            has_tokens, identity, b, c = (
                (pages.rows.numbers(name) for name in columns) if signed
                else _signed(pages, settings))
            sites = pages.rows.strings("site")
            page, site = pages.number.astype(np.uint64), sites.hash64()
            yield Count("no-tokens", int((~has_tokens).sum()))
            yield Tagged(TOKENLESS, Block({"page": page[~has_tokens]}))
            _, first = np.unique(site, return_index=True)
            yield Tagged(SITES, Block({"site": site[first], "name": sites.take(first)}))
            rows = Block({
                "page": page, "identity": identity, "site": site, "b": b, "c": c,
                "order": _order(pages, settings.keep_rule),
                "short": (pages.rows.numbers("token_count") < GRAM).astype(np.uint8),
            }).take(has_tokens)
            yield rows.with_columns(equal=rows.hash_rows(("b", "c")))


def _signed(pages: NumberedRows, settings: NearDuplicateSettings) -> tuple[NDArray, ...]:
    """Which pages have tokens, and the three signatures of each."""
    tokens, offsets = with_images(*(pages.rows.lists(name).flat() for name in ("tokens", "images")))
    return np.diff(offsets) > 0, *PageSigner(settings).sign(tokens, offsets)


def _order(pages: NumberedRows, rule: str) -> NDArray[np.uint64]:
    """Numbers in the order in which pages are to be kept; ties go to the smaller page."""
    if rule == "plainest-url":
        return _plainest(pages.urls())
    if rule == "earliest":
        return earliest_first(pages.rows.maybe("timestamp"))
    if rule == "longest":
        return ~pages.rows.numbers("token_count").astype(np.uint64)
    return np.zeros(len(pages), np.uint64)


def _plainest(urls: VarBytes) -> NDArray[np.uint64]:
    """URLs without a query first, then the shorter, in bytes; none of them is declared canonical,
    as far as is known here."""
    marks = np.zeros(len(urls.data) + 1, np.int64)
    np.cumsum(urls.data == ord("?"), out=marks[1:])
    has_query = marks[urls.offsets[1:]] > marks[urls.offsets[:-1]]
    return NOT_DECLARED | np.where(has_query, _QUERY, np.uint64(0)) | urls.lengths().astype(
        np.uint64)
