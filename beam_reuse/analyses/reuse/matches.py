"""Matched chunks on their way to their table: folded, one row for all matches of a page.

A page's URL travels once instead of with every match, and pages are sorted, not matches. Each
column of the table is a string of fixed-width values; source URLs are numbered within the page,
and scores stay behind where all of a block are null.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column, VarBytes
from beam_reuse.columnar.distinct import number_distinct
from beam_reuse.columnar.schema import NUMBER, PACKED, TEXT, columns
from beam_reuse.io.results.arrow_columns import NULL, Coded
from beam_reuse.io.results.table_writer import Folding

_ROWS = "matches"
_TYPES = {"position": "<u4", "start": "<u4", "end": "<u4", "sha1": "V20", "score": "<i8"}
FOLDED = columns(
    url=TEXT, matches=NUMBER, **dict.fromkeys(_TYPES, PACKED), source=PACKED, source_lengths=PACKED,
    source_urls=PACKED)


def fold(
    urls: VarBytes, page: NDArray[np.int64], columns: Mapping[str, NDArray], sources: VarBytes,
    source: NDArray[np.int64],
) -> Block:
    """The matches of pages, in order of page and position, as one row per page with any.

    `page[i]` is the page of match i, a row of `urls`; `source[i]` its source, of `sources`.
    """
    pages, starts = np.unique(page, return_index=True)
    ends = np.append(starts[1:], len(page))
    which = np.searchsorted(pages, page)
    pairs = which * max(len(sources), 1) + source
    local, one_of_each = number_distinct(pairs)  # in order of pages, as the matches are
    owner, named = np.divmod(pairs[one_of_each], max(len(sources), 1))
    first = np.searchsorted(owner, np.arange(len(pages) + 1))
    names = sources.take(named)
    folded = {name: _folded(columns[name].astype(kind, copy=False), starts, ends)
              for name, kind in _TYPES.items()}
    if (columns["score"] == NULL).all():
        folded["score"] = VarBytes.from_list([b""] * len(pages))
    return Block({
        "url": urls.take(pages), _ROWS: ends - starts, **folded,
        "source": _folded((local - first[which]).astype("<u4"), starts, ends),
        "source_lengths": _folded(names.lengths().astype("<u4"), first[:-1], first[1:]),
        "source_urls": VarBytes(names.offsets[first], names.data),
    })


def _folded(values: NDArray, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> VarBytes:
    """values[starts[i]:ends[i]] as string i; the slices touch."""
    bounds = np.append(starts, ends[-1:] if len(ends) else 0) * values.dtype.itemsize
    return VarBytes(bounds, np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8))


def unfold(block: Block, some: slice) -> Mapping[str, Column | Coded]:
    """Some rows of `matched_chunks`, of all those in a block of folded rows."""
    row = np.repeat(np.arange(len(block)), block.array(_ROWS))[some]
    lengths = _values(block, "source_lengths", "<u4")
    names = VarBytes.from_lengths(lengths.astype(np.int64), block.strings("source_urls").used())
    counts = block.strings("source_lengths").lengths() // 4
    first = np.cumsum(counts) - counts
    columns = {name: _values(block, name, kind)[some] for name, kind in _TYPES.items()
               if name != "score"}
    numbers, places = number_distinct(columns["sha1"])
    return columns | {
        "url": Coded(block.strings("url"), row),
        "sha1": Coded(columns["sha1"][places], numbers),
        "score": _scores(block)[some],
        "source_url": Coded(names, first[row] + _values(block, "source", "<u4")[some]),
    }


def _scores(block: Block) -> NDArray[np.int64]:
    """The scores of all rows; null for pages that come without."""
    rows = block.array(_ROWS)
    out = np.full(int(rows.sum()), NULL, np.int64)
    out[np.repeat(block.strings("score").lengths() > 0, rows)] = _values(
        block, "score", _TYPES["score"])
    return out


def _values(block: Block, name: str, kind: str) -> NDArray:
    return np.frombuffer(block.strings(name).used().tobytes(), kind)


MATCHES = Folding(_ROWS, unfold)
