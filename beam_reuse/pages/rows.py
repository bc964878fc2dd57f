"""From numbered parts to blocks: what an analysis reads of the pages.

A row of a block of *numbered parts* stands for one part: `path`, `numbers` (for each page of
the part its page number as int64, -1 where it is not a page of this run) and `names` (the pages'
keys joined by line feeds where they differ from the URL, else empty). Its pages are cut into
chunks by the settings of this run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import gives
from beam_reuse.core.pages import Kind
from beam_reuse.io.part_columns import NO_NUMBER, PageRows
from beam_reuse.io.parts import read_part
from beam_reuse.io.results.tables import PAGES

CHUNK_COLUMNS = ("chunk_sha1", "chunk_start", "chunk_end", "chunk_length")
_AS_STORED = (
    "fetched_url", "host", "ip", "site", "domain", "timestamp", "status", "content_type",
    "charset", "bytes", "sha1", "crawl", "file", "offset", "record_length", "record_id",
)
# Counts of a page's text, and what the table calls them.
_COUNTS = {"token_count": "tokens", "line_count": "lines"}


@dataclass(frozen=True)
class NumberedRows:
    """Neighbouring pages of one part, those of this run only, with their numbers.

    `part` and `row` say where each page lies, for whoever needs its payload later.
    """

    rows: PageRows
    number: NDArray[np.int64]
    names: list[bytes] | None
    part: int
    row: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.number)

    def urls(self) -> VarBytes:
        """What the pages are called: their URLs, or the keys of their captures."""
        return self.rows.strings("url") if self.names is None else VarBytes.from_list(self.names)


def numbered_rows(
    parts: Block, columns: Sequence[str], wanted: NDArray[np.int64] | None = None,
) -> Iterator[NumberedRows]:
    """`columns` of all pages of the parts that belong to this run, some row groups at a time; with
    `wanted`, rows in order, only of row groups that have one of them."""
    paths, all_numbers, all_names = (parts.strings(n) for n in ("path", "numbers", "names"))
    for i in range(len(parts)):
        numbers = np.frombuffer(all_numbers[i], np.int64)
        names = all_names[i].split(b"\n") if len(all_names[i]) else None
        for rows in read_part(paths[i].decode(), columns, wanted):
            here = slice(rows.first, rows.first + len(rows))
            number = numbers[here]  # shorter than the part if its last pages are dropped
            kept = np.flatnonzero(number >= 0)
            if len(kept) == 0:
                continue
            group_names = [names[rows.first + k] for k in kept] if names else None
            if len(kept) < len(rows):
                rows = PageRows(rows.batch.take(pa.array(kept)), rows.first)
            yield NumberedRows(rows, number[kept], group_names,
                               int(parts.array("range")[i]), kept + here.start)


@dataclass(frozen=True)
class ChunkRows:
    """The chunks of pages, page after page: page i has rows offsets[i] to offsets[i + 1].
    Columns that were not asked for are None."""

    pages: NumberedRows
    offsets: NDArray[np.int64]
    sha1: NDArray
    start: Any
    end: Any
    length: Any

    def take(self, kept: NDArray[np.int64], offsets: NDArray[np.int64]) -> "ChunkRows":
        """The chunks at `kept`, with the offsets they then have."""
        places = (
            column if column is None else column[kept]
            for column in (self.start, self.end, self.length))
        return ChunkRows(self.pages, offsets, self.sha1[kept], *places)

    def per_chunk(self, values: NDArray) -> NDArray:
        """A value of each page, repeated for each of its chunks."""
        return np.repeat(values, np.diff(self.offsets))


def chunk_rows(
    parts: Block, columns: Sequence[str] = (), needed: Sequence[str] = CHUNK_COLUMNS,
) -> Iterator[ChunkRows]:
    """Chunks of all pages of the parts, with further `columns` of their pages; of the chunks only
    the columns `needed` and the hashes are read."""
    read = dict.fromkeys(["chunk_sha1", *needed, *columns])
    for pages in numbered_rows(parts, list(read)):
        offsets, sha1 = pages.rows.lists("chunk_sha1")
        start, end, length = (
            pages.rows.lists(name)[1] if name in needed else None for name in CHUNK_COLUMNS[1:])
        yield ChunkRows(pages, offsets, sha1, start, end, length)


@gives(PAGES.rows)
def page_table(parts: Block, text: bool) -> Iterator[Block]:
    """The rows of the table `pages`; without `text`, without counts of it."""
    labels = np.array([kind.label.encode() for kind in Kind], object)
    for pages in numbered_rows(parts, ("url", "kind", "chunk_count", *_AS_STORED, *_COUNTS)):
        rows = pages.rows
        yield Block({
            "url": pages.urls(), **{name: _column(rows, name) for name in _AS_STORED},
            "kind": VarBytes.from_list(labels[rows.numbers("kind")].tolist()),
            "chunks": rows.numbers("chunk_count"),
            **{of: rows.numbers(name) if text else np.full(len(pages), NO_NUMBER)
               for name, of in _COUNTS.items()},
        })


def _column(rows: PageRows, name: str) -> NDArray | VarBytes:
    kind = rows.batch.schema.field(name).type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return rows.strings(name)
    return rows.numbers(name)
