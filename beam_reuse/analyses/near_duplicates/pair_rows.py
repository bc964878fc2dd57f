"""What becomes of rows of pairs: rows for each algorithm, sites, and names in place of numbers."""

from collections.abc import Iterator

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.columnar import Block, JoinRows, MapBlocks, ReduceRows, Shuffle
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.near_duplicates import returned_by
from beam_reuse.core.settings import ALGORITHMS, NearDuplicateSettings
from beam_reuse.pages.names import NamesOfPages, with_names
from beam_reuse.pages.read_pages import Analysis, Pages

PAIRS, SETS, CLUSTERS, KEEP = (
    "near_duplicates", "identity_sets", "near_duplicate_clusters", "keep")
TABLES = (PAIRS, SETS, CLUSTERS, KEEP)
_NAMES = np.array([name.encode() for name in ALGORITHMS], object)


def _flags(pairs: Block, settings: NearDuplicateSettings) -> dict[str, NDArray[np.bool_]]:
    return returned_by(pairs.array("b_similarity"), pairs.array("c_similarity"),
                       same_site(pairs), settings)


def same_site(pairs: Block) -> NDArray[np.bool_]:
    """Whether both pages of each pair are of one site."""
    return np.asarray(pairs.array("site_a") == pairs.array("site_b"))


def returned(
    pairs: Block, settings: NearDuplicateSettings
) -> Iterator[tuple[int, Block]]:
    """For each algorithm its number and the pairs it returns."""
    for number, flag in enumerate(_flags(pairs, settings).values()):
        yield number, pairs.take(flag)


def algorithm_names(numbers: NDArray) -> VarBytes:
    """Algorithms by name."""
    return VarBytes.from_list(_NAMES[numbers].tolist())


def with_algorithm(rows: Block) -> Block:
    """Rows with the name of their algorithm in place of its number."""
    return rows.with_columns(algorithm=algorithm_names(rows.array("algorithm")))


def pair_edges(pairs: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """Pairs as edges of the algorithms that return them."""
    for number, rows in returned(pairs, settings):
        yield _edges(number, rows.array("page_b"), rows.array("page_a"))


def set_edges(sets: Block) -> Iterator[Block]:
    """Members of sets as edges of every algorithm."""
    others = sets.take(sets.array("page") != sets.array("representative"))
    for number in range(len(ALGORITHMS)):
        yield _edges(number, others.array("page"), others.array("representative"))


def _edges(number: int, page: NDArray, root: NDArray) -> Block:
    return Block({"algorithm": np.full(len(page), number, np.uint8), "page": page, "root": root})


class CountSitePairs(beam.PTransform):
    """{'pairs': rows of pairs, 'sites': fingerprints and names of sites} -> `site_pairs`."""

    def __init__(self, shuffle: Shuffle, settings: NearDuplicateSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(self, given: dict[str, beam.PCollection]) -> beam.PCollection:
        counted = (
            given["pairs"]
            | "Sites" >> MapBlocks(sites_of_pairs, self.settings)
            | "Count" >> ReduceRows(self.shuffle, ("algorithm", "site", "other"), {"pairs": "sum"})
        )
        names = given["sites"] | "Names" >> ReduceRows(self.shuffle, ("site",), {"name": "min"})
        for turn in ("first", "second"):
            counted = {"left": counted, "right": names} | f"Name of {turn}" >> JoinRows(
                self.shuffle, ("site",), with_site, turn)
        return counted | "Table" >> MapBlocks(site_table)


def sites_of_pairs(pairs: Block, settings: NearDuplicateSettings) -> Iterator[Block]:
    """One row per pair and algorithm that returns it: the fingerprints of both sites."""
    for number, rows in returned(pairs, settings):
        a, b = rows.array("site_a"), rows.array("site_b")
        yield Block({
            "algorithm": np.full(len(rows), number, np.uint8), "site": np.minimum(a, b),
            "other": np.maximum(a, b), "pairs": np.ones(len(rows), np.int64),
        })


def with_site(rows: Block | None, names: Block | None, turn: str) -> Block | None:
    """Rows turned round, with the name of `site` in the column `turn`."""
    if rows is None:
        return None
    if names is None or (found := lookup(rows, names, ("site",))).min(initial=0) < 0:
        raise AssertionError("a site without a name")
    named = {turn: names.strings("name").take(found)}
    return rows.with_columns(site=rows["other"], other=rows["site"], **named)


def site_table(rows: Block) -> Block:
    """Rows of `site_pairs`: the smaller name first."""
    both = VarBytes.concat([rows.strings("first"), rows.strings("second")])
    n = len(rows)
    rank = np.empty(2 * n, np.int64)
    rank[Block({"name": both}).sort_order(("name",))] = np.arange(2 * n)
    turned = rank[:n] > rank[n:]
    at = np.arange(n)
    return with_algorithm(rows.select(("algorithm", "pairs"))).with_columns(
        site_a=both.take(np.where(turned, at + n, at)),
        site_b=both.take(np.where(turned, at, at + n)))


class NameRows(Analysis):
    """({'near_duplicates': rows of pairs, 'identity_sets': representatives and pages,
    'near_duplicate_clusters', 'keep': pages and what they are dropped for}, each of one or more
    PCollections, pages) -> the tables of these names, with URLs.

    All travel as rows of two page numbers and two others, so that names are joined twice in all.
    """

    def __init__(self, settings: NearDuplicateSettings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(
        self, inputs: tuple[dict[str, tuple[beam.PCollection, ...]], Pages]
    ) -> dict[str, beam.PCollection]:
        found, pages = inputs
        folds = zip(TABLES, (fold_pairs, fold_sets, fold_clusters, fold_keep), strict=True)
        rows = tuple(
            each | f"Fold {name} {n}" >> MapBlocks(fold)
            for name, fold in folds for n, each in enumerate(found[name]))
        asked = tuple(each | f"Asked {n}" >> MapBlocks(both_pages) for n, each in enumerate(rows))
        names = (asked, pages) | "Names" >> NamesOfPages()
        join = JoinRows(pages.shuffle, ("page",), with_names)
        first = {"left": rows, "right": names} | "First" >> join | "Turn" >> MapBlocks(turned)
        second = {"left": first, "right": names} | "Second" >> join
        tables = second | "Tables" >> MapBlocks(unfold, self.settings, outputs=TABLES)
        return {name: tables[name] for name in TABLES}


def _folded(table: str, page: NDArray, other: NDArray, one: NDArray, two: NDArray) -> Block:
    return Block({
        "table": np.full(len(page), TABLES.index(table), np.uint8), "page": page, "other": other,
        "one": one.astype(np.uint16), "two": two.astype(np.uint16),
    })


def fold_pairs(pairs: Block) -> Block:
    one = pairs.array("b_similarity") * np.uint16(2) + same_site(pairs)
    return _folded(PAIRS, pairs.array("page_a"), pairs.array("page_b"), one,
                   pairs.array("c_similarity"))


def fold_sets(sets: Block) -> Block:
    nothing = np.zeros(len(sets))
    return _folded(SETS, sets.array("representative"), sets.array("page"), nothing, nothing)


def fold_clusters(clusters: Block) -> Block:
    return _folded(CLUSTERS, clusters.array("cluster"), clusters.array("page"),
                   clusters.array("algorithm"), np.zeros(len(clusters)))


def fold_keep(decided: Block) -> Block:
    page, because = decided.array("page"), decided.array("because")
    return _folded(KEEP, page, because, page == because, np.zeros(len(page)))


def both_pages(rows: Block) -> Iterator[Block]:
    """All pages that are to be named."""
    yield rows.select(("page",))
    yield Block({"page": rows["other"]})


def turned(rows: Block) -> Block:
    """Rows with their first page named, ready for the second."""
    return rows.with_columns(page=rows["other"], first=rows["url"]).without("other", "url")


def unfold(rows: Block, settings: NearDuplicateSettings) -> Iterator[TaggedOutput]:
    """The rows of each table."""
    for number, (name, table) in enumerate(zip(
            TABLES, (_pair_table, _set_table, _cluster_table, _keep_table), strict=True)):
        yield TaggedOutput(name, table(rows.take(rows.array("table") == number), settings))


def _pair_table(rows: Block, settings: NearDuplicateSettings) -> Block:
    one, c = rows.array("one").astype(np.int64), rows.array("two").astype(np.int64)
    b, same = one // 2, one % 2 == 1
    return Block({
        "url_a": rows["first"], "url_b": rows["url"], "b_similarity": b, "c_similarity": c,
        "same_site": same, **returned_by(b, c, same, settings),
    })


def _set_table(rows: Block, settings: NearDuplicateSettings) -> Block:
    return Block({"representative": rows["first"], "url": rows["url"]})


def _cluster_table(rows: Block, settings: NearDuplicateSettings) -> Block:
    return Block({"algorithm": algorithm_names(rows.array("one")), "cluster": rows["first"],
                  "url": rows["url"]})


def _keep_table(rows: Block, settings: NearDuplicateSettings) -> Block:
    kept = rows.array("one") == 1
    because = rows.strings("url")
    lengths = np.where(kept, 0, because.lengths())
    data = because.take(~kept).used()
    return Block({"url": rows["first"], "keep": kept,
                  "because_of": VarBytes.from_lengths(lengths, data)})
