"""Clusters: connected components of pairs, as a combiner of spanning forests."""

from collections.abc import Iterable, Iterator

import apache_beam as beam
import numpy as np
from apache_beam.coders import registry
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.columnar import Block
from beam_reuse.columnar.coders import OwnCoder
from beam_reuse.columnar.combine import CombineBlocks
from beam_reuse.columnar.runs import slices
from beam_reuse.columnar.shuffle import Several, Shuffle
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.union_find import components

_WAITING = 1 << 16
_OUTPUT_BYTES = 8 << 20
_NO_LINKS = Block({
    "algorithm": np.zeros(0, np.uint8), "page": np.zeros(0, np.uint64),
    "root": np.zeros(0, np.uint64),
})


class Forest:
    """What edges connect, for several algorithms at once: `links` has one row per algorithm and
    page that is connected with a smaller one, its `root` the smallest of all.

    Edges are rows of `algorithm`, `page` and `root`, in any order; they wait until they are worth
    a pass. Memory: one row per connected page, and twice that while edges wait.
    """

    def __init__(self, links: Block = _NO_LINKS) -> None:
        self._links = links
        self._waiting: list[Block] = []
        self._rows = 0
        self._members: dict[int, tuple[NDArray[np.uint64], NDArray[np.uint64]]] = {}

    def add(self, edges: Block) -> None:
        self._waiting.append(edges.select(_NO_LINKS.names))
        self._rows += len(edges)
        if self._rows > max(_WAITING, len(self._links)):
            self._settle()

    @property
    def links(self) -> Block:
        """The links, sorted by algorithm and page."""
        if self._waiting:
            self._settle()
        return self._links

    def _settle(self) -> None:
        edges = Block.concat([self._links, *self._waiting])
        algorithm = edges.array("algorithm")
        self._links = Block.concat([
            _NO_LINKS, *(_connected(edges.take(algorithm == a)) for a in np.unique(algorithm))])
        self._waiting, self._rows, self._members = [], 0, {}

    def members(self, algorithm: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """All connected pages, in order, and their roots."""
        links = self.links
        if algorithm not in self._members:
            links = links.take(links.array("algorithm") == algorithm)
            root = links.array("root")
            roots = np.unique(root)
            page = np.concatenate([links.array("page"), roots])
            order = np.argsort(page)
            self._members[algorithm] = page[order], np.concatenate([root, roots])[order]
        return self._members[algorithm]


def _connected(edges: Block) -> Block:
    """The links of edges of one algorithm."""
    ends = np.concatenate([edges.array("page"), edges.array("root")])
    pages, which = np.unique(ends, return_inverse=True)
    left, right = np.split(which.astype(np.int64), 2)
    root = components(len(pages), frozen(left), frozen(right))
    at = np.flatnonzero(root != np.arange(len(pages)))
    return Block({"algorithm": np.full(len(at), edges.array("algorithm")[0]),
                  "page": pages[at], "root": pages[root[at]]})


class ForestCoder(OwnCoder):
    """A Forest as its links."""

    kind = Forest

    def encode(self, value: Forest) -> bytes:
        return value.links.to_bytes()

    def decode(self, encoded: bytes) -> Forest:
        return Forest(Block.from_bytes(encoded))


registry.register_coder(Forest, ForestCoder)


class ConnectPages(beam.PTransform):
    """Edges -> one Forest, for AsSingleton. Forests of bundles are merged, each with fewer
    edges than pages."""

    def __init__(self, shuffle: Shuffle) -> None:
        super().__init__()
        self.shuffle = shuffle

    @no_annotations
    def expand(self, edges: Several) -> beam.PCollection:
        return edges | "Connect" >> CombineBlocks(
            _Connect(), Forest, shuffle=self.shuffle)


class _Connect(beam.CombineFn):
    def create_accumulator(self) -> Forest:
        return Forest()

    def add_input(self, forest: Forest, edges: Block) -> Forest:
        forest.add(edges)
        return forest

    def merge_accumulators(self, accumulators: Iterable[Forest]) -> Forest:
        out = Forest()
        for forest in accumulators:
            out.add(forest.links)
        return out

    def extract_output(self, forest: Forest) -> Forest:
        return forest


def cluster_rows(forest: Forest, algorithms: int) -> Iterator[Block]:
    """`algorithm`, `cluster` (its smallest page) and `page`, of all connected pages."""
    for algorithm in range(algorithms):
        page, root = forest.members(algorithm)
        yield from slices([Block({
            "algorithm": np.full(len(page), algorithm, np.uint8), "cluster": root, "page": page,
        })], _OUTPUT_BYTES)
