"""How many near-duplicates pages have, as if no equal pages had been collapsed."""

from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.pair_rows import returned
from beam_reuse.columnar import Block, JoinRows, MapBlocks, ReduceRows, Shuffle
from beam_reuse.columnar.matching import lookup
from beam_reuse.core.settings import ALGORITHMS, NearDuplicateSettings


class CountDegrees(beam.PTransform):
    """{'pairs': rows of pairs, 'pages': blocks with a row per representative} -> rows of
    `near_duplicate_degrees`.

    Two pages are adjacent for an algorithm if they are of one class, or if it returns the first
    pages of their classes as a pair. So a page's degree is the size of its class, less one, and
    the sizes of the classes next to it.
    """

    def __init__(self, shuffle: Shuffle, settings: NearDuplicateSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(self, given: dict[str, beam.PCollection]) -> beam.PCollection:
        shuffle, pairs = self.shuffle, given["pairs"]
        classes = pairs | "Classes" >> MapBlocks(class_members) | "Sizes" >> ReduceRows(
            shuffle, ("page",), {"more": "sum"})
        edges = pairs | "Edges" >> MapBlocks(edges_of, self.settings)
        degrees = {"left": edges, "right": classes} | "SizesNear" >> JoinRows(
            shuffle, ("page",), with_sizes)
        return (
            (degrees, classes | "Own" >> MapBlocks(own_sizes))
            | "Degrees" >> ReduceRows(shuffle, ("algorithm", "page"),
                                      {"degree": "sum", "more": "sum"})
            | "Histogram" >> MapBlocks(histogram)
            | "Merge" >> _Merge(given["pages"], shuffle)
        )


class _Merge(beam.PTransform):
    """Parts of histograms and the pages they are of -> the histogram."""

    def __init__(self, pages: beam.PCollection, shuffle: Shuffle) -> None:
        super().__init__()
        self.pages, self.shuffle = pages, shuffle

    def expand(self, parts: beam.PCollection) -> beam.PCollection:
        return (
            (parts, self.pages | "NoDegree" >> MapBlocks(without_degree))
            | "Sum" >> ReduceRows(self.shuffle, ("algorithm", "degree"), {"pages": "sum"})
            | "NotEmpty" >> MapBlocks(not_empty)
        )


def class_members(pairs: Block) -> Block:
    """One for each page that is not the first of its class."""
    stars = pairs.take(pairs.array("star") == 1)
    return Block({"page": stars["page_a"], "more": np.ones(len(stars), np.int64)})


def edges_of(pairs: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """Pairs of different classes, from either side, for each algorithm that returns them."""
    for number, rows in returned(pairs.take(pairs.array("star") == 0), settings):
        algorithm = np.full(len(rows), number, np.uint8)
        for page, other in (("page_a", "page_b"), ("page_b", "page_a")):
            yield Block({"algorithm": algorithm, "page": rows[page], "other": rows[other]})


def with_sizes(edges: Block | None, classes: Block | None) -> Block | None:
    """What the class `page` adds to the degree of the class `other`: its size."""
    if edges is None:
        return None
    size = np.ones(len(edges), np.int64)
    if classes is not None:
        found = lookup(edges, classes, ("page",))
        size += np.where(found >= 0, classes.array("more")[found], 0)
    return _added(edges.array("algorithm"), edges.array("other"), size, np.zeros_like(size))


def own_sizes(classes: Block) -> Iterator[Block]:
    """What classes add to the degree of their own pages, and how many these are beyond one."""
    more = classes.array("more")
    for number in range(len(ALGORITHMS)):
        yield _added(np.full(len(more), number, np.uint8), classes.array("page"), more, more)


def _added(algorithm: NDArray, page: NDArray, degree: NDArray, more: NDArray) -> Block:
    return Block({"algorithm": algorithm, "page": page, "degree": degree, "more": more})


def histogram(classes: Block) -> Iterator[Block]:
    """How many pages have which degree; they no longer count as pages without any."""
    pages = classes.array("more") + 1
    yield Block({"algorithm": classes["algorithm"], "degree": classes["degree"], "pages": pages})
    yield Block({"algorithm": classes["algorithm"], "degree": np.zeros(len(pages), np.int64),
                 "pages": -pages})


def without_degree(pages: Block) -> Block:
    """All pages as if they had no near-duplicate."""
    count = len(ALGORITHMS)
    return Block({"algorithm": np.arange(count, dtype=np.uint8),
                  "degree": np.zeros(count, np.int64),
                  "pages": np.full(count, len(pages), np.int64)})


def not_empty(rows: Block) -> Block:
    """Degrees that some page has."""
    return rows.take(rows.array("pages") > 0)
