"""What becomes of rows of pairs: rows for each algorithm, tables, and pairs of sites."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.graphs import keep
from beam_reuse.analyses.graphs.clusters import EDGES
from beam_reuse.analyses.near_duplicates.definition import returned_by
from beam_reuse.analyses.near_duplicates.schemas import (
    IDENTITY_SETS,
    KEEP,
    NEAR_DUPLICATE_CLUSTERS,
    NEAR_DUPLICATES,
    SIMILAR,
    SITE_PAIRS,
)
from beam_reuse.analyses.near_duplicates.settings import ALGORITHMS, NearDuplicateSettings
from beam_reuse.columnar.block import Block, Maybe
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FINGERPRINT, KIND, NUMBER, PAGE, TEXT, columns, gives
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.rows import Rows

_NAMES = np.array([name.encode() for name in ALGORITHMS], object)
_REASONS = np.array([b"", b"identity", *(reason.encode() for reason in SIMILAR)], object)
FAMILY = len(ALGORITHMS)
"""The kind of edges that connect families."""

COUNTED_SITES = columns(algorithm=KIND, low=FINGERPRINT, high=FINGERPRINT, pairs=NUMBER)


def _flags(pairs: Block, settings: NearDuplicateSettings) -> dict[str, NDArray[np.bool_]]:
    return returned_by(pairs.array("b_similarity"), pairs.array("c_similarity"),
                       _same_site(pairs), settings)


def _same_site(pairs: Block) -> NDArray[np.bool_]:
    return np.asarray(pairs.array("site_a") == pairs.array("site_b"))


def returned(pairs: Block, settings: NearDuplicateSettings) -> Iterator[tuple[int, Block]]:
    """For each algorithm its number and the pairs it returns."""
    for number, flag in enumerate(_flags(pairs, settings).values()):
        yield number, pairs.take(flag)


@gives(keep.SETS)
def keep_edges(pairs: Block, settings: NearDuplicateSettings) -> Block:
    """The pairs by which pages are dropped, as edges of `graphs.keep`."""
    pairs = pairs.take(_flags(pairs, settings)[settings.keep_by])
    equal = ((pairs.array("b_similarity") == settings.supershingles)
             & (pairs.array("c_similarity") == settings.projection_bits))
    row = np.where(equal, np.uint8(keep.EQUAL), np.uint8(keep.EDGE))
    return Block({"set": pairs["page_a"], "page": pairs["page_b"],
                  "row": np.where(pairs.array("star") > 0, np.uint8(keep.STAR), row),
                  "order": np.zeros(len(pairs), np.uint64)})


@gives(EDGES)
def pair_edges(pairs: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """Pairs as edges of the algorithms that return them, and of families (FAMILY)."""
    by_algorithm = dict(returned(pairs, settings))
    by_algorithm[FAMILY] = by_algorithm[ALGORITHMS.index(settings.keep_by)]
    for number, rows in by_algorithm.items():
        yield Block({"kind": np.full(len(rows), number, np.uint8), "page": rows["page_b"],
                     "root": rows["page_a"]})


# Rows of tables.


def algorithm_names(numbers: NDArray) -> VarBytes:
    """Algorithms by name."""
    return VarBytes.from_list(_NAMES[numbers].tolist())


@gives(IDENTITY_SETS.rows)
def set_table(sets: Block) -> Block:
    """Rows of `identity_sets`."""
    return Block({"representative": sets["representative"], "url": sets["page"]})


@gives(columns(set=PAGE, page=PAGE))
def set_rows(sets: Block) -> Block:
    """Pages of identity sets, for analyses that follow."""
    return Block({"set": sets["representative"], "page": sets["page"]})


@gives(NEAR_DUPLICATES.rows)
def pair_table(pairs: Block, settings: NearDuplicateSettings) -> Block:
    """Rows of `near_duplicates`."""
    return Block({
        "url_a": pairs["page_a"], "url_b": pairs["page_b"],
        "b_similarity": pairs.array("b_similarity").astype(np.int64),
        "c_similarity": pairs.array("c_similarity").astype(np.int64),
        "same_site": _same_site(pairs), **_flags(pairs, settings),
    })


@gives(NEAR_DUPLICATE_CLUSTERS.rows)
def cluster_table(clusters: Block) -> Block:
    """Rows of `near_duplicate_clusters`."""
    return Block({"algorithm": algorithm_names(clusters.array("kind")),
                  "cluster": clusters["cluster"], "url": clusters["page"]})


@gives(KEEP.rows)
def keep_table(decided: Block, settings: NearDuplicateSettings) -> Block:
    """Rows of `keep`."""
    dropped = decided.array("reason") != keep.KEPT
    reasons = VarBytes.from_list(_REASONS[decided.array("reason")].tolist())
    proven = dropped & (settings.min_containment is not None)
    return Block({
        "url": decided["page"], "keep": ~dropped,
        "because_of": Maybe(decided.array("because"), dropped), "reason": Maybe(reasons, dropped),
        "containment": Maybe(decided.array("share"), proven)})


@gives(KEEP.rows)
def tokenless_table(pages: Block, settings: NearDuplicateSettings) -> Block:
    """Rows of `keep` for pages that are like no other."""
    return keep_table(pages.with_columns(
        because=pages["page"], reason=np.full(len(pages), keep.KEPT, np.uint8),
        share=np.ones(len(pages))), settings)


# Pairs of sites.


def site_pairs(pairs: Rows, sites: Rows, settings: NearDuplicateSettings) -> Rows:
    """Rows of `site_pairs`; `sites` has fingerprints of sites (`site`) and their names."""
    counted = pairs.map(sites_of_pairs, settings).reduce(
        ("algorithm", "low", "high"), {"pairs": "sum"})
    named = counted.map(each_site).join(sites, "site", with_name, other_reducing={"name": "min"})
    return named.group(("algorithm", "low", "high"), site_table, order="name")


@gives(COUNTED_SITES)
def sites_of_pairs(pairs: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """One row per pair and algorithm that returns it: the fingerprints of both sites."""
    for number, rows in returned(pairs, settings):
        a, b = rows.array("site_a"), rows.array("site_b")
        yield Block({
            "algorithm": np.full(len(rows), number, np.uint8), "low": np.minimum(a, b),
            "high": np.maximum(a, b), "pairs": np.ones(len(rows), np.int64),
        })


@gives(columns(COUNTED_SITES, site=FINGERPRINT))
def each_site(counted: Block) -> Iterator[Block]:
    """A row for each site of a pair of sites."""
    yield counted.with_columns(site=counted["low"])
    two = counted.take(counted.array("low") != counted.array("high"))
    yield two.with_columns(site=two["high"])


@gives(columns(COUNTED_SITES, name=TEXT))
def with_name(rows: Block | None, names: Block | None) -> Block | None:
    """Rows with the name of their site."""
    if rows is None:
        return None
    if names is None or (found := lookup(rows, names, ("site",))).min(initial=0) < 0:
        raise AssertionError("a site without a name")
    return rows.without("site").with_columns(name=names.strings("name").take(found))


@gives(SITE_PAIRS.rows)
def site_table(rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Rows of `site_pairs`: the smaller name first."""
    names, counted = rows.strings("name"), rows.take(starts)
    return Block({
        "algorithm": algorithm_names(counted.array("algorithm")), "site_a": names.take(starts),
        "site_b": names.take(starts + sizes - 1), "pairs": counted["pairs"]})
