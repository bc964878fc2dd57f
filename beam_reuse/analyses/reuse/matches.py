"""Matched chunks on their way to their table: folded, one row for all matches of a page.

A page's URL travels once instead of with every match, and pages are sorted, not matches; so do the
source URLs of its matches.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column, Lists, Maybe, VarBytes
from beam_reuse.columnar.distinct import number_distinct
from beam_reuse.columnar.schema import FLAG, NUMBER, PART, SHA1, TEXT, columns, lists, maybe
from beam_reuse.io.results.folding import FoldedRows

MATCHES = FoldedRows({"source_url": "source"})
FOLDED = columns(
    url=TEXT, position=lists(PART), start=lists(PART), end=lists(PART), sha1=lists(SHA1),
    source=lists(PART), source_url=lists(maybe(TEXT)), sources=lists(NUMBER), own=lists(FLAG))
SCORED = columns(FOLDED, score=lists(maybe(NUMBER)))


def fold(
    urls: VarBytes, page: NDArray[np.int64], columns: Mapping[str, Column], sources: VarBytes,
    source: NDArray[np.int64],
) -> Block:
    """The matches of pages, in order of page and position, as one row per page with any.

    `page[i]` is the page of match i, a row of `urls`; `source[i]` its source, of `sources`, in
    which an unknown one is empty.
    """
    pages, starts = np.unique(page, return_index=True)
    bounds = np.append(starts, len(page))
    which = np.searchsorted(pages, page)
    pairs = which * max(len(sources), 1) + source
    local, one_of_each = number_distinct(pairs)  # in order of pages, as the matches are
    owner, named = np.divmod(pairs[one_of_each], max(len(sources), 1))
    first = np.searchsorted(owner, np.arange(len(pages) + 1))
    return Block({
        "url": urls.take(pages),
        **{name: Lists(bounds, values) for name, values in columns.items()},
        "source": Lists(bounds, (local - first[which]).astype(np.uint32)),
        "source_url": Lists(first, Maybe.unless_empty(sources.take(named))),
    })
