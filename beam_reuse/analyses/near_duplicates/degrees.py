"""How many near-duplicates pages have, as if no equal signatures had been collapsed."""

from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.candidates import Sameness
from beam_reuse.analyses.near_duplicates.pair_rows import returned
from beam_reuse.columnar import Block, JoinRows, MapBlocks, ReduceRows, Shuffle
from beam_reuse.columnar.matching import lookup
from beam_reuse.core.settings import ALGORITHMS, NearDuplicateSettings

_SAMENESS = {"b": Sameness.B, "c": Sameness.C, "combined": Sameness.BOTH, "hybrid": Sameness.BOTH}
_CLASS = ("same", "page")


class CountDegrees(beam.PTransform):
    """{'pairs': rows of pairs, 'members': `same`, `page` and `leader` of collapsed pages, 'pages':
    blocks with a row per representative} -> rows of `near_duplicate_degrees`.

    Two pages are adjacent for an algorithm if they are of one collapsed class, or if it returns
    a pair of pages of their classes. So a page's degree is the size of its class, less one, and
    the sizes of all distinct classes next to it.
    """

    def __init__(self, shuffle: Shuffle, settings: NearDuplicateSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(self, given: dict[str, beam.PCollection]) -> beam.PCollection:
        shuffle, members = self.shuffle, given["members"]
        edges = given["pairs"] | "Edges" >> MapBlocks(edges_of, self.settings)
        for turn in ("First", "Second"):
            edges = {"left": edges, "right": members} | f"Class of {turn}" >> JoinRows(
                shuffle, _CLASS, with_leader)
        classes = members | "ClassSizes" >> MapBlocks(class_members) | "Sizes" >> ReduceRows(
            shuffle, _CLASS, {"more": "sum"})
        distinct = (
            edges
            | "BothWays" >> MapBlocks(both_ways)
            | "Distinct" >> ReduceRows(shuffle, ("same", "page", "algorithm", "other"), {})
        )
        degrees = {"left": distinct, "right": classes} | "SizesNear" >> JoinRows(
            shuffle, _CLASS, with_sizes)
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


def edges_of(pairs: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """One row per pair and algorithm that returns it, with the kind of its classes."""
    for number, rows in returned(pairs, settings):
        yield Block({
            "same": np.full(len(rows), _SAMENESS[ALGORITHMS[number]], np.uint8),
            "page": rows["page_a"], "other": rows["page_b"],
            "algorithm": np.full(len(rows), number, np.uint8),
        })


def with_leader(edges: Block | None, members: Block | None) -> Block | None:
    """Edges turned round, with the leader of `page` in its place."""
    if edges is None:
        return None
    page = edges.array("page")
    if members is not None:
        found = lookup(edges, members, _CLASS)
        page = np.where(found >= 0, members.array("leader")[found], page)
    return edges.with_columns(page=edges["other"], other=page)


def class_members(members: Block) -> Block:
    """One for each page that is not the leader of its class."""
    return Block({"same": members["same"], "page": members["leader"],
                  "more": np.ones(len(members), np.int64)})


def both_ways(edges: Block) -> Iterator[Block]:
    """Edges between different classes, from either side."""
    between = edges.take(edges.array("page") != edges.array("other"))
    yield between
    yield between.with_columns(page=between["other"], other=between["page"])


def with_sizes(edges: Block | None, classes: Block | None) -> Block | None:
    """What the class `page` adds to the degree of the class `other`: its size."""
    if edges is None:
        return None
    size = np.ones(len(edges), np.int64)
    if classes is not None:
        found = lookup(edges, classes, _CLASS)
        size += np.where(found >= 0, classes.array("more")[found], 0)
    return _added(edges.array("algorithm"), edges.array("other"), size, np.zeros_like(size))


def own_sizes(classes: Block) -> Iterator[Block]:
    """What classes add to the degree of their own pages, and how many these are beyond one."""
    more = classes.array("more")
    for number, name in enumerate(ALGORITHMS):
        at = np.flatnonzero(classes.array("same") == _SAMENESS[name])
        yield _added(np.full(len(at), number, np.uint8), classes.array("page")[at], more[at],
                     more[at])


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
