"""Components of edges equal plain union-find on any edge list, however it is cut."""

from collections import defaultdict
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.graphs import clusters
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from tests.rows.running import run

Edges = list[tuple[int, int, int]]
EDGES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(0, 30)), max_size=60)
NAMES = ("kind", "page", "root")


def block(edges: Edges) -> Block:
    kind, page, root = zip(*edges, strict=True) if edges else ((), (), ())
    return Block({"kind": np.array(kind, np.uint8), "page": np.array(page, np.uint64),
                  "root": np.array(root, np.uint64)})


def rows(found: Block) -> Edges:
    return list(zip(*(found.array(name).tolist() for name in NAMES), strict=True))


def components(edges: Edges) -> Edges:
    """(kind, page, smallest page) of all components of two or more, grown edge by edge."""
    found = set()
    for kind in {kind for kind, _, _ in edges}:
        of_page: dict[int, set[int]] = defaultdict(set)
        for other, a, b in edges:
            if other == kind:
                merged = of_page[a] | of_page[b] | {a, b}
                for page in merged:
                    of_page[page] = merged
        found |= {(kind, page, min(pages)) for pages in of_page.values()
                  if len(pages) > 1 for page in pages}
    return sorted(found)


@given(EDGES, st.lists(st.integers(0, 60), max_size=4), st.integers(1, 10))
def test_any_edge_list_cut_anywhere(edges: Edges, cuts: list[int], patience: int) -> None:
    bounds = [0, *sorted(cuts), len(edges)]
    slabs = [block(edges[low:high]) for low, high in pairwise(bounds)]
    expected = components(edges)
    links = [row for row in expected if row[1] != row[2]]
    with mock.patch.object(clusters, "_WAITING", patience):
        assert rows(clusters.connected(iter(slabs))) == links
        assert rows(clusters.connected(map(clusters.spanning, slabs[::-1]))) == links
        given = clusters._read_components([iter(slabs)], ())
        assert sorted(row for some in given for row in rows(some)) == expected


@pytest.mark.parametrize("shuffle", [
    {}, {"buckets": 1}, {"buckets": 3, "flush_bytes": 60, "bucket_budget": 200},
    {"buckets": 2, "flush_bytes": 1, "bucket_budget": 1}])
def test_components_of_rows(shuffle: dict[str, int]) -> None:
    """Kinds share buckets or have their own; what is held is reduced or not."""
    rng = np.random.default_rng(5)
    edges = [(int(kind), int(a), int(b)) for kind, a, b in np.column_stack([
        rng.integers(0, 4, 120), rng.integers(0, 70, 120), rng.integers(0, 70, 120)])]
    blocks = [block(edges[n::7]) for n in range(7)]
    found = run(Shuffle(Store("inline"), **shuffle),
                lambda plan: {"found": clusters.components(plan.rows(blocks))})
    assert sorted(row for some in found.rows["found"] for row in rows(some)) == components(edges)


def test_the_links_are_fewer_than_the_pages() -> None:
    """A clique becomes a star."""
    links = clusters.spanning(block([(0, a, b) for a in range(100) for b in range(a)]))
    assert len(links) == 99
    assert links.array("root").max() == 0
