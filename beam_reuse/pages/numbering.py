"""From parts to numbered parts: rows of captures, and the pages that come of them."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.schema import FLAG, NUMBER, PAGE, PART, TEXT, columns, gives, less, lists
from beam_reuse.core.settings import ReadSettings
from beam_reuse.core.urls import cut_reason
from beam_reuse.io.index import require_undamaged
from beam_reuse.io.part_columns import PageRows
from beam_reuse.io.parts import read_part
from beam_reuse.io.results import tables
from beam_reuse.kernels.prefixes import are_cut
from beam_reuse.pages.captures import CAPTURES, ages, capture_keys, skipped
from beam_reuse.pages.cuts import FalseStarts, standing
from beam_reuse.pages.sides import Sides
from beam_reuse.rows.results import Tagged

DEPTHS, CUT = "depths", "cut"
DEPTH_ROWS = columns(depth=NUMBER, records=NUMBER)
PAGE_NAMES = columns(page=PAGE, url=TEXT)
_COLUMNS = ("url", "fetched_url", "timestamp", "sha1", "file", "offset", "depth", "encoding_absent")


@gives(columns(CAPTURES, depth=NUMBER, indexed=FLAG))
def capture_rows(parts: Block, each: bool) -> Iterator[Block]:
    """One row per page of the parts, under the key it competes for: its URL, or, where `each`
    capture is a page, that of the capture. Parts of an index (those that come with a checksum) are
    checked to be undamaged."""
    for i in range(len(parts)):
        number, path = int(parts.array("range")[i]), parts.strings("path")[i].decode()
        checksum = parts.strings("checksum")[i].decode()
        if checksum:
            require_undamaged(path, checksum)
        for rows in read_part(path, _COLUMNS):
            yield _captures(rows, number, each, bool(checksum))


@gives(CAPTURES, {DEPTHS: DEPTH_ROWS, CUT: tables.SKIPPED.rows})
def uncut(
    captures: Block, read: ReadSettings, false: FalseStarts, sides: Sides,
) -> Iterator[Block | Tagged]:
    """Captures without those of misled readers. Of the new crawl also DEPTHS: how many pages lie
    how deep, and CUT: captures of an index that are no pages by their URLs and the settings of this
    run, as rows of `skipped`."""
    found = standing(captures, false)
    new = sides.new_parts(found.array("range"))
    yield Tagged(DEPTHS, depth_rows(found.take(new)))
    indexed = found.array("indexed")
    if indexed.any():
        keys = found.strings("key")
        limits = read.max_prefix_depth, read.max_path_repeats
        bad = indexed & are_cut(keys.offsets, keys.data, *limits)
        told = bad & new
        urls = (key.partition(b"#")[0].decode() for key in keys.take(told).to_list())
        reasons = VarBytes.from_list([
            str(cut_reason(url, *limits)).encode() for url in urls])
        yield Tagged(CUT, skipped(found.take(told), reasons, Maybe.nulls(len(reasons))))
        found = found.take(~bad)
    yield found.without("depth", "indexed")


@gives(DEPTH_ROWS)
def depth_rows(rows: Block) -> Block:
    """How many rows have which depth; 0 is none."""
    depth = rows.array("depth")
    values, records = np.unique(depth[depth > 0], return_counts=True)
    return Block({"depth": values, "records": records.astype(np.int64)})


def _numbered(ranked: pa.Schema, renamed: bool, sides: Sides) -> pa.Schema:
    names = {"name": TEXT} if renamed else {}
    return columns(range=PART, row=NUMBER, number=NUMBER, **names)


@gives(_numbered)
def numbers(ranked: Block, renamed: bool, sides: Sides) -> Block:
    """What parts need to know of their pages; names only if they differ from URLs."""
    number = sides.numbered(ranked.array("rank"), ranked.array("range"))
    pages = Block({"range": ranked["range"], "row": ranked["row"],
                   "number": number.astype(np.int64)})
    return pages.with_columns(name=ranked["key"]) if renamed else pages


@gives(lambda parts, ranked: columns(parts, pages=lists(less(ranked, "range"))))
def number_parts(parts: Block | None, ranked: Block | None) -> Block | None:
    """Parts with their `pages` (see `pages.rows`); parts without a page left are dropped.

    `ranked` has `range`, `row`, `number` and perhaps `name`, in order of range and row.
    """
    if parts is None or ranked is None:
        return None
    lows, highs = match_ranges(parts, ranked, ("range",))
    used = np.flatnonzero(lows < highs)
    pages = Lists(np.append(lows[used], len(ranked)), ranked.without("range"))
    return parts.take(used).with_columns(pages=pages)


@gives(PAGE_NAMES)
def page_names(ranked: Block, sides: Sides) -> Block:
    """Number and name of each page."""
    number = sides.numbered(ranked.array("rank"), ranked.array("range"))
    return Block({"page": number, "url": ranked["key"]})


def _captures(rows: PageRows, number: int, each: bool, indexed: bool) -> Block:
    timestamps, urls = rows.maybe("timestamp"), rows.strings("url")
    return Block({
        "key": capture_keys(urls, timestamps) if each else urls,
        "fetched": _where_other(rows.strings("fetched_url"), urls),
        "age": ages(timestamps),
        "sha1": rows.numbers("sha1"),
        "file": rows.strings("file"),
        "offset": rows.numbers("offset"),
        "range": np.full(len(rows), number, np.uint32),
        "row": np.arange(rows.first, rows.first + len(rows), dtype=np.int64),
        "depth": rows.numbers("depth"),
        "absent": rows.numbers("encoding_absent").astype(np.int64),
        "indexed": np.full(len(rows), indexed),
    })


def _where_other(fetched: VarBytes, urls: VarBytes) -> VarBytes:
    """URLs as fetched, nothing where they are the page's own."""
    return VarBytes.from_list([b"" if one == other else one for one, other in zip(
        fetched.to_list(), urls.to_list(), strict=True)])
