"""What overlap reads of the pages of parts: fingerprints, hosts and addresses. No Beam.

Hosts are known by 64-bit hashes of their names.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.plainest import declared_names
from beam_reuse.analyses.overlap import definition as overlap
from beam_reuse.analyses.overlap.definition import Chunking, Ragged, chunkings_of
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    NUMBER,
    PAGE,
    TEXT,
    UNSIGNED,
    columns,
    gives,
    lists,
)
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.pages.sides import Sides
from beam_reuse.pages.texts import page_texts
from beam_reuse.rows import Count, Tagged

KEYS, HOSTS, DECLARED = "keys", "hosts", "declared"
NAME = 255
"""The kind of a host row with the name, of which `value` is 1 if pages are new; of others the kind
is the number of a chunking, and `value` how many fingerprints of the host they count."""
HOST_ROWS = columns(unit=FINGERPRINT, kind=KIND, value=UNSIGNED, name=TEXT)


def _pages(parts: pa.Schema, settings: OverlapSettings, sides: Sides) -> pa.Schema:
    keys = [each.name for each in chunkings_of(settings) if each.unit != overlap.WHOLE]
    return columns(page=PAGE, whole=FINGERPRINT, host=FINGERPRINT, name=TEXT,
                   address=FINGERPRINT, url=TEXT, bytes=NUMBER, named=FINGERPRINT,
                   canonical=FINGERPRINT,
                   **dict.fromkeys(keys, lists(FINGERPRINT)))


@gives(_pages, {KEYS: columns(key=FINGERPRINT), HOSTS: HOST_ROWS,
                DECLARED: columns(named=FINGERPRINT)})
def page_rows(
    parts: Block, settings: OverlapSettings, sides: Sides,
) -> Iterator[Block | Tagged | Count]:
    """Pages with lines. `whole` is the fingerprint of all lines, `address` that of the IP address,
    0 if it is unknown, and a column for each other chunking has the page's distinct fingerprints
    (`page_keys`). `named` and `canonical` are hashes of its URL and of another that it declares
    canonical, or 0. KEYS: all fingerprints; HOSTS: names; DECLARED: URLs declared canonical.
    """
    chunkings = chunkings_of(settings)
    for pages in numbered_rows(parts, _columns(
            chunkings, "host", "ip", "url", "bytes", "declared_canonical")):
        lines = pages.rows.lists("lines").flat()
        some = np.diff(lines[0]) > 0
        new = sides.is_new_part(pages.part)
        yield Count("no-lines", int((~some).sum()) if new else 0)
        names, address = pages.rows.strings("host"), pages.rows.strings("ip")
        named, canonical = declared_names(
            pages.rows.strings("url"), pages.rows.strings("declared_canonical"))
        rows = Block({
            "page": pages.number.astype(np.uint64), "whole": overlap.whole_fingerprints(lines),
            "host": names.hash64(), "name": names,
            "address": np.where(address.lengths() > 0, address.hash64(), np.uint64(0)),
            "url": pages.urls(), "named": named, "canonical": canonical,
            "bytes": pages.rows.numbers("bytes"), **{
                each.name: Lists(*fingerprints(pages, each))
                for each in chunkings if each.unit != overlap.WHOLE},
        })
        rows = rows if some.all() else rows.take(some)
        yield Tagged(HOSTS, _names(rows, new))
        declared = rows.array("canonical")
        yield Tagged(DECLARED, Block({"named": np.unique(declared[declared > 0])}))
        yield from (Tagged(KEYS, each) for each in all_keys(rows, settings))
        yield rows


@gives(columns(key=FINGERPRINT))
def all_keys(pages: Block, settings: OverlapSettings) -> Iterator[Block]:
    """The fingerprints of pages, of each chunking."""
    for each in chunkings_of(settings):
        yield Block({"key": page_keys(pages, each)[1]})


def page_keys(pages: Block, chunking: Chunking) -> Ragged:
    """The distinct fingerprints of each page, in order of value."""
    if chunking.unit == overlap.WHOLE:
        return np.arange(len(pages) + 1), pages.array("whole")
    return pages.lists(chunking.name).flat()


def _columns(chunkings: Sequence[Chunking], *more: str) -> list[str]:
    needed = (name for chunking in chunkings for name in chunking.columns)
    return list(dict.fromkeys(["lines", *needed, *more]))


def fingerprints(pages: NumberedRows, chunking: Chunking) -> Ragged:
    """The distinct fingerprints of each page by a chunking that cuts it."""
    lines = pages.rows.lists("lines").flat()
    if chunking.unit == "lines":
        return overlap.line_groups(lines, chunking)
    if chunking.unit == "words":
        return overlap.line_groups(pages.rows.lists("tokens").flat(), chunking)
    if chunking.unit == overlap.PARAGRAPH:
        return overlap.paragraph_groups(lines, pages.rows.lists("paragraphs").flat())
    some = np.diff(lines[0]) > 0
    texts = [b""] * len(pages)
    for at, text in zip(np.flatnonzero(some), page_texts(pages.rows, some), strict=True):
        texts[at] = text
    return overlap.sentence_groups(texts)


def _names(pages: Block, new: bool) -> Block:
    """The name of each host."""
    return distinct(Block({
        "unit": pages["host"], "kind": np.full(len(pages), NAME, np.uint8),
        "value": np.full(len(pages), new, np.uint64), "name": pages["name"],
    }), ("unit",))


def host_counts(hosts: NDArray[np.uint64], counts: NDArray[np.int64], chunking: int) -> Block:
    """Host rows that count fingerprints by a chunking; a host may be there several times."""
    host, which = np.unique(hosts, return_inverse=True)
    return Block({
        "unit": host, "kind": np.full(len(host), chunking, np.uint8),
        "value": sums(which, counts, len(host)).astype(np.uint64),
        "name": VarBytes.from_list([b""] * len(host)),
    })


def distinct(rows: Block, keys: Sequence[str]) -> Block:
    """One row for each value of the keys."""
    ordered = rows.sort(keys)
    return ordered.take(ordered.starts(keys))


def sums(which: NDArray, values: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """The sum of the values (or rows of them) of each group."""
    out = np.zeros((groups, *values.shape[1:]), np.int64)
    np.add.at(out, which, values)
    return out


def size_names(chunkings: int) -> tuple[str, ...]:
    """Columns that say how many fingerprints a unit has, one for each chunking."""
    return tuple(f"size_{number}" for number in range(chunkings))


def size_columns(sizes: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
    """Those columns, of sizes in a row for each chunking."""
    return dict(zip(size_names(len(sizes)), sizes, strict=True))
