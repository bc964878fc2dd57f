"""Near-duplicate pages: signatures, pairs, clusters, degrees, and what to keep.

Pages with the same tokens are one set, of which the smallest URL goes on. Pages that may be
similar share a key; keys are counted first, coarsely, so that rows of keys that stand once do
not travel. Similarities are verified where pages meet.
"""

from math import ceil, sqrt
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.graphs.clusters import ConnectPages, cluster_rows
from beam_reuse.analyses.graphs.keep import KeepPages
from beam_reuse.analyses.near_duplicates import candidates, comparisons, pair_rows, signatures
from beam_reuse.analyses.near_duplicates.degrees import CountDegrees
from beam_reuse.columnar import (
    MAIN,
    Block,
    CoarseCount,
    Fetch,
    GroupRows,
    JoinRows,
    MapBlocks,
    ProcessBuckets,
    PutAway,
    ReduceRows,
    Shuffle,
    SumColumns,
)
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.shuffle import of_each
from beam_reuse.columnar.sums import Sums
from beam_reuse.core.near_duplicates import key_masks
from beam_reuse.core.settings import ALGORITHMS, NearDuplicateSettings
from beam_reuse.pages.read_pages import Analysis, Pages

PAIR = ("page_a", "page_b")
_SAME = dict.fromkeys(("b_similarity", "c_similarity", "site_a", "site_b", "star"), "min")
_NOTED = ("pairs-not-compared-b", "pairs-not-compared-c", "pairs-not-listed")


class FindNearDuplicates(Analysis):
    """Pages -> `identity_sets`, `near_duplicates`, `near_duplicate_clusters`,
    `near_duplicate_degrees`, `site_pairs` and `keep`, as blocks, and `noted`: pairs of a name
    and how many pages have no tokens, and how many pairs were not compared or not listed.

    Exact where no group of candidates has more than `max_group` pages: then every pair that
    reaches a threshold is returned, save that of more than MOST_EQUAL pages of one site with both
    signatures equal each is paired with the smallest only, which is compared for all. Cost: some
    55 ns per token; a row of some 120 bytes per page and key that it shares with another.
    """

    def __init__(self, settings: NearDuplicateSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or NearDuplicateSettings()

    @no_annotations
    def expand(self, pages: Pages) -> dict[str, beam.PCollection]:
        shuffle, settings = pages.shuffle, self.settings
        signed = (
            pages.parts
            | "FetchParts" >> Fetch(shuffle)
            | "Sign" >> MapBlocks(signatures.signature_rows, settings,
                                  outputs=(signatures.TOKENLESS, signatures.SITES))
        )
        unique = signed[MAIN] | "IdentitySets" >> ProcessBuckets(
            shuffle, ("identity",), signatures.identity_sets, order=("page",),
            outputs=(signatures.MEMBERS, signatures.SETS))
        similar = unique[MAIN] | "Compare" >> FindPairs(shuffle, settings)
        pairs, sets = similar["pairs"], unique[signatures.SETS]
        forest = (
            pairs | "PairEdges" >> MapBlocks(pair_rows.pair_edges, settings),
            sets | "SetEdges" >> MapBlocks(pair_rows.set_edges),
        ) | "Connect" >> ConnectPages(shuffle)
        keep_by = ALGORITHMS.index(settings.keep_by)
        kept = {
            "members": unique[signatures.MEMBERS] | "ParkMembers" >> PutAway(shuffle),
            "edges": (pairs | "KeptBy" >> MapBlocks(_pairs_of, keep_by, settings)
                      | "ParkEdges" >> PutAway(shuffle)),
            "forest": forest,
        } | "Keep" >> KeepPages(shuffle, keep_by)
        tokenless = signed[signatures.TOKENLESS] | "KeepTokenless" >> MapBlocks(_kept)
        named = ({
            pair_rows.PAIRS: (pairs,),
            pair_rows.SETS: (sets,),
            pair_rows.CLUSTERS: (forest | "Clusters" >> beam.FlatMap(
                cluster_rows, len(ALGORITHMS)).with_output_types(Block),),
            pair_rows.KEEP: (*kept, tokenless),
        }, pages) | "Names" >> pair_rows.NameRows(settings)
        return {
            **named,
            "near_duplicate_degrees": {"pairs": pairs, "pages": unique[MAIN]}
            | "Degrees" >> CountDegrees(shuffle, settings)
            | "DegreeTable" >> MapBlocks(pair_rows.with_algorithm),
            "site_pairs": {"pairs": pairs, "sites": signed[signatures.SITES]}
            | "SitePairs" >> pair_rows.CountSitePairs(shuffle, settings),
            "noted": (
                similar["skipped"],
                signed[signatures.TOKENLESS] | "CountTokenless" >> beam.Map(_tokenless)
                .with_output_types(tuple[str, int]),
            ) | "Noted" >> beam.Flatten(),
        }


class FindPairs(beam.PTransform):
    """Signatures of pages that are all different -> `pairs`, each once; `skipped`: names
    and numbers of pairs left out."""

    def __init__(self, shuffle: Shuffle, settings: NearDuplicateSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(self, rows: beam.PCollection) -> dict[str, beam.PCollection]:
        shuffle, settings = self.shuffle, self.settings
        parked = rows | "Park" >> PutAway(shuffle)
        counted = (
            parked
            | "Unpark" >> Fetch(shuffle)
            | "Keys" >> MapBlocks(candidates.counted_keys, settings)
            | "CountKeys" >> CoarseCount(
                shuffle, ("key",), shuffle.counter_bits(1, 26), settings.max_group + 1)
        )
        shared, crowded = (
            AsSingleton(counted | name >> beam.Map(filtered).with_output_types(HeavyKeys))
            for name, filtered in (("SharedKeys", candidates.repeated),
                                   ("CrowdedKeys", candidates.crowded)))
        fresh = (
            parked
            | "UnparkAgain" >> Fetch(shuffle, shared, crowded)
            | "KeyRows" >> MapBlocks(candidates.candidate_rows, settings, shared, crowded,
                                     outputs=(candidates.CLASSES, candidates.LEADERS))
        )
        equal = fresh[candidates.CLASSES] | "Classes" >> ProcessBuckets(
            shuffle, ("equal",), candidates.equal_classes, settings, shared, crowded,
            order=("page",),
            outputs=(candidates.STARS, candidates.LEADERS, comparisons.SKIPPED))
        by_key = (fresh[MAIN], equal[MAIN]) | "Groups" >> ProcessBuckets(
            shuffle, ("key",), comparisons.key_groups, settings, order=("page",),
            outputs=(comparisons.SKIPPED,))
        pairs = [by_key[MAIN], equal[candidates.STARS]]
        skipped = [by_key[comparisons.SKIPPED], equal[comparisons.SKIPPED]]
        if key_masks(settings) is None:
            leaders = (fresh[candidates.LEADERS], equal[candidates.LEADERS])
            tiles = leaders | "AllPairs" >> CompareAll(shuffle, settings)
            pairs += [tiles["pairs"], tiles["crowds"]]
            skipped.append(tiles["skipped"])
        return {
            "pairs": tuple(pairs) | "DistinctPairs" >> ReduceRows(shuffle, PAIR, _SAME),
            "skipped": skipped | "AllSkipped" >> beam.Flatten()
            | "SkippedBy" >> MapBlocks(_skipped_columns)
            | "SumSkipped" >> SumColumns(_NOTED)
            | "NameSkipped" >> beam.FlatMap(_items).with_output_types(tuple[str, int]),
        }


class CompareAll(beam.PTransform):
    """Pages that are compared -> `pairs` that are similar by C, where no keys promise
    to find them all: every page with every other, in tiles. Pages in one crowd (more than
    `max_group` pages that agree in a wide piece) are compared by the rule for crowds alone.

    Quadratic: see docs/definitions.md for the cost of a pair.
    """

    def __init__(self, shuffle: Shuffle, settings: NearDuplicateSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(
        self, leaders: tuple[beam.PCollection, beam.PCollection]
    ) -> dict[str, beam.PCollection]:
        shuffle, settings = self.shuffle, self.settings
        parked = of_each(leaders, PutAway(shuffle))
        heavy = AsSingleton(
            parked
            | "Unpark" >> Fetch(shuffle)
            | "WidePieces" >> MapBlocks(comparisons.wide_keys, settings)
            | "CountPieces" >> CoarseCount(
                shuffle, ("key",), shuffle.counter_bits(1, 26), settings.max_group + 1)
            | "Crowded" >> beam.Map(candidates.crowded).with_output_types(HeavyKeys)
        )
        crowds = (
            parked
            | "UnparkAgain" >> Fetch(shuffle, heavy)
            | "CrowdRows" >> MapBlocks(comparisons.wide_rows, settings, heavy)
            | "Crowds" >> ProcessBuckets(
                shuffle, ("key",), comparisons.crowd_groups, settings, order=("page",),
                outputs=(comparisons.CROWDED, comparisons.SKIPPED))
        )
        of_page = crowds[comparisons.CROWDED] | "CrowdsOfPage" >> ReduceRows(
            shuffle, ("page",), {"crowds": "sum"})
        tiles = (
            {"left": parked | "UnparkLeaders" >> Fetch(shuffle), "right": of_page}
            | "WithCrowds" >> JoinRows(shuffle, ("page",), comparisons.with_crowds)
            | "Deal" >> MapBlocks(comparisons.tile_rows, ceil(sqrt(2 * shuffle.buckets)))
        )
        return {
            "pairs": tiles | "Tiles" >> GroupRows(
                shuffle, ("tile",), comparisons.compare_tiles, settings, order=("side", "page")),
            "crowds": crowds[MAIN],
            "skipped": crowds[comparisons.SKIPPED],
        }


def _pairs_of(pairs: Block, algorithm: int, settings: NearDuplicateSettings) -> Block:
    returned = dict(pair_rows.returned(pairs, settings))
    return returned[algorithm].select((*PAIR, "star"))


def _kept(pages: Block) -> Block:
    return pages.with_columns(because=pages["page"])


def _tokenless(pages: Block) -> tuple[str, int]:
    return "no-tokens", len(pages)


def _skipped_columns(rows: Block) -> Block:
    by, pairs = rows.array("by"), rows.array("pairs")
    return Block({name: pairs * (by == number) for number, name in enumerate(_NOTED)})


def _items(sums: Sums) -> Any:
    return list(sums.items())
