"""How many near-duplicates pages have, as if no equal pages had been collapsed."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.pair_rows import algorithm_names, returned
from beam_reuse.analyses.near_duplicates.schemas import NEAR_DUPLICATE_DEGREES
from beam_reuse.analyses.near_duplicates.settings import ALGORITHMS, NearDuplicateSettings
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import KIND, NUMBER, PAGE, columns, gives
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Rows

DEGREES = columns(algorithm=KIND, degree=NUMBER, pages=NUMBER)


def degrees(
    pairs: Rows, stars: Rows, members: Rows, settings: NearDuplicateSettings, sides: Sides,
) -> Rows:
    """Rows of `near_duplicate_degrees`, of all representatives that are new.

    Two pages are adjacent for an algorithm if they are of one class, or if it returns the first
    pages of their classes as a pair. So a page's degree is the size of its class, less one, and
    the sizes of the classes next to it.
    """
    added = pairs.map(edges_of, settings).join(
        stars.map(class_members, sides), "page", added_degrees,
        other_reducing={"more": "sum", "new": "sum"})
    some = added.group(("algorithm", "page"), histogram, sides,
                       reducing={"degree": "sum", "new": "sum"})
    return (some + members.map(without_degree, sides)).group(
        ("algorithm", "degree"), degree_table, reducing={"pages": "sum"})


@gives(columns(page=PAGE, more=NUMBER, new=NUMBER))
def class_members(stars: Block, sides: Sides) -> Block:
    """One for each page that is not the first of its class, and for each of these that is new."""
    return Block({"page": stars["page_a"], "more": np.ones(len(stars), np.int64),
                  "new": sides.new(stars.array("page_b")).astype(np.int64)})


@gives(columns(algorithm=KIND, page=PAGE, other=PAGE))
def edges_of(pairs: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """Pairs of different classes, from either side, for each algorithm that returns them."""
    for number, rows in returned(pairs.take(pairs.array("star") == 0), settings):
        algorithm = np.full(len(rows), number, np.uint8)
        for page, other in (("page_a", "page_b"), ("page_b", "page_a")):
            yield Block({"algorithm": algorithm, "page": rows[page], "other": rows[other]})


@gives(columns(algorithm=KIND, page=PAGE, degree=NUMBER, new=NUMBER))
def added_degrees(edges: Block | None, classes: Block | None) -> Iterator[Block]:
    """What classes add to the degree of their own pages, and how many of these beside the first are
    new; what the class `page` adds to the degree of the class `other`: its size."""
    if classes is not None:
        more, new = classes.array("more"), classes.array("new")
        for number in range(len(ALGORITHMS)):
            yield _added(np.full(len(more), number, np.uint8), classes.array("page"), more, new)
    if edges is not None:
        size = np.ones(len(edges), np.int64)
        if classes is not None:
            found = lookup(edges, classes, ("page",))
            size += np.where(found >= 0, classes.array("more")[found], 0)
        yield _added(edges.array("algorithm"), edges.array("other"), size, np.zeros_like(size))


def _added(algorithm: NDArray, page: NDArray, degree: NDArray, new: NDArray) -> Block:
    return Block({"algorithm": algorithm, "page": page, "degree": degree, "new": new})


@gives(DEGREES)
def histogram(
    classes: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], sides: Sides,
) -> Iterator[Block]:
    """How many new pages have which degree; they no longer count as pages without any."""
    pages = classes.array("new") + sides.new(classes.array("page"))
    yield Block({"algorithm": classes["algorithm"], "degree": classes["degree"], "pages": pages})
    yield Block({"algorithm": classes["algorithm"], "degree": np.zeros(len(pages), np.int64),
                 "pages": -pages})


@gives(DEGREES)
def without_degree(members: Block, sides: Sides) -> Block:
    """All representatives that are new, as if they had no near-duplicate."""
    count = len(ALGORITHMS)
    page = members.array("page")
    pages = int(((members.array("set") == page) & sides.new(page)).sum())
    return Block({"algorithm": np.arange(count, dtype=np.uint8),
                  "degree": np.zeros(count, np.int64), "pages": np.full(count, pages, np.int64)})


@gives(NEAR_DUPLICATE_DEGREES.rows)
def degree_table(rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Rows of `near_duplicate_degrees`: degrees that some page has."""
    rows = rows.take(rows.array("pages") > 0)
    return rows.with_columns(algorithm=algorithm_names(rows.array("algorithm")))
