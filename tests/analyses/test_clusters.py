"""The forest of clusters equals plain union-find on any edge list, however it is cut."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.graphs import clusters
from beam_reuse.analyses.graphs.clusters import Forest, ForestCoder, _Connect, cluster_rows
from beam_reuse.columnar import Block

EDGES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(0, 30)), max_size=60)


def block(edges: list[tuple[int, int, int]]) -> Block:
    algorithm, page, root = zip(*edges, strict=True) if edges else ((), (), ())
    return Block({"algorithm": np.array(algorithm, np.uint8), "page": np.array(page, np.uint64),
                  "root": np.array(root, np.uint64)})


def components(edges: list[tuple[int, int, int]]) -> set[tuple[int, int, int]]:
    """(algorithm, smallest page, page) of all components of two or more, grown edge by edge."""
    found = set()
    for algorithm in (0, 1):
        of_page: dict[int, set[int]] = defaultdict(set)
        for kind, a, b in edges:
            if kind == algorithm:
                merged = of_page[a] | of_page[b] | {a, b}
                for page in merged:
                    of_page[page] = merged
        found |= {(algorithm, min(pages), page) for pages in of_page.values()
                  if len(pages) > 1 for page in pages}
    return found


def rows(forest: Forest) -> set[tuple[int, int, int]]:
    return {
        row for found in cluster_rows(forest, 2)
        for row in zip(*(found.array(n).tolist() for n in ("algorithm", "cluster", "page")),
                       strict=True)}


@given(EDGES, st.lists(st.integers(0, 60), max_size=4), st.integers(1, 10))
def test_any_edge_list_cut_anywhere(
    edges: list[tuple[int, int, int]], cuts: list[int], patience: int,
) -> None:
    connect, before = _Connect(), clusters._WAITING
    bounds = [0, *sorted(cuts), len(edges)]
    forests = []
    try:
        clusters._WAITING = patience
        for low, high in pairwise(bounds):
            forest = connect.create_accumulator()
            for edge in edges[low:high]:
                forest = connect.add_input(forest, block([edge]))
            forests.append(ForestCoder().decode(ForestCoder().encode(forest)))
    finally:
        clusters._WAITING = before
    one_by_one = connect.create_accumulator()
    for forest in forests[::-1]:
        one_by_one = connect.merge_accumulators([one_by_one, forest])
    expected = components(edges)
    assert rows(connect.extract_output(connect.merge_accumulators(forests))) == expected
    assert rows(one_by_one) == expected
    assert len(one_by_one.links) <= len(expected)


def test_the_links_are_fewer_than_the_pages() -> None:
    """A clique is kept as a star."""
    forest = Forest()
    forest.add(block([(0, a, b) for a in range(100) for b in range(a)]))
    assert len(forest.links) == 99
    assert forest.links.array("root").max() == 0
