"""What pages have that is looked for on others: the keys by which containment is counted."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.containment import LISTS
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.schema import gives
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.grams import gram_sets
from beam_reuse.pages.rows import NumberedRows, numbered_rows

GRAM = 5
GRAMS, TOKENS = 0, 1
"""Kinds of lists: of grams, and for pages that have none, of tokens."""


@gives(LISTS)
def gram_lists(parts: Block, wanted: KeyFilter) -> Iterator[Block]:
    """The distinct GRAM-grams of the text of pages, or its distinct tokens, where a kind and a page
    are wanted. Row groups without such a page are not read. Some 20 ns per token."""
    for i in range(len(parts)):
        numbers, row = (parts.lists("pages")[i].array(name) for name in ("number", "row"))
        rows = row[_wanted(numbers, GRAMS, wanted) | _wanted(numbers, TOKENS, wanted)]
        if not len(rows):
            continue
        for pages in numbered_rows(parts.slice(i, i + 1), ("tokens",), rows):
            for kind, size in ((GRAMS, GRAM), (TOKENS, 1)):
                yield _lists(pages, kind, size, wanted)


def _wanted(numbers: NDArray, kind: int, wanted: KeyFilter) -> NDArray[np.bool_]:
    return wanted.may_hold(Block({"kind": np.full(len(numbers), kind, np.uint8),
                                  "page": numbers.astype(np.uint64)}))


def _lists(pages: NumberedRows, kind: int, size: int, wanted: KeyFilter) -> Block:
    some = np.flatnonzero(_wanted(pages.number, kind, wanted))
    offsets, tokens = pages.rows.lists("tokens").take(some).flat()
    keys, ends = gram_sets(frozen(tokens.astype(np.uint64, copy=False)), offsets, size)
    return Block({"kind": np.full(len(some), kind, np.uint8),
                  "page": pages.number[some].astype(np.uint64), "own": np.diff(ends),
                  "keys": Lists(ends, keys)})
