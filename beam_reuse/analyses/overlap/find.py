"""All-pairs overlap: exact copies, overlapping pages and hosts, and what a crawler can save.

Pages with the same lines are one set, of which the smallest URL goes on. Fingerprints are counted
first, coarsely, so that those on one page do not travel. All chunkings, of pages and of hosts, are
grouped at once; see `iceberg` for how pairs are counted.
"""

from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.overlap import copies, naming, postings, reading, reports
from beam_reuse.analyses.overlap.iceberg import SHIPPED, CountPairs
from beam_reuse.analyses.overlap.servers import RelateServers
from beam_reuse.columnar import (
    MAIN,
    Block,
    Fetch,
    JoinRows,
    MapBlocks,
    ProcessBuckets,
    ReduceRows,
)
from beam_reuse.columnar.repeats import FindRepeats
from beam_reuse.columnar.shuffle import ForLater
from beam_reuse.core.overlap import chunkings_of, page_threshold, server_threshold
from beam_reuse.core.settings import OverlapSettings
from beam_reuse.pages.read_pages import Analysis, Pages

SERVERS = "servers"


class FindOverlap(Analysis):
    """Pages -> `exact_copies`, `page_overlap`, `server_overlap`, `replicas`, `skippable`,
    `crawl_savings` and `popular_collections`, as blocks; `noted`: names and numbers of pages
    without lines, of fingerprints and those left out, of pairs made and kept; `measured`: the
    rows of pairs that were shuffled, which depend on how blocks were cut.

    Exact, but for fingerprints on more than `max_df` pages (or hosts), which pair nobody. Cost: a
    row of 17 bytes per page and fingerprint that another page has, too, and as many at most for
    hosts; some 5 ns per pair and pass.
    """

    def __init__(self, settings: OverlapSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or OverlapSettings()

    @no_annotations
    def expand(self, pages: Pages) -> dict[str, beam.PCollection]:
        shuffle, settings = pages.shuffle, self.settings
        read = (
            pages.parts
            | "FetchParts" >> Fetch(shuffle)
            | "Read" >> MapBlocks(reading.page_rows, settings, outputs=(
                reading.KEYS, reading.LINELESS, reading.HOSTS, reading.TOTALS))
        )
        copied = read[MAIN] | "ExactSets" >> ProcessBuckets(
            shuffle, ("whole",), copies.copy_rows, order=("page",))
        posted = (pages, read[reading.KEYS], copied) | "Post" >> _PostFingerprints(settings)
        thresholds = tuple(
            rule(chunking, settings) for chunking in chunkings_of(settings)
            for rule in (page_threshold, server_threshold))
        counted = {"postings": posted[MAIN], "sample": posted[postings.SAMPLE]} | (
            "CountPairs" >> CountPairs(shuffle, thresholds, settings.method == "iceberg"))
        overlapping = counted[MAIN] | "Overlaps" >> MapBlocks(_by_side, outputs=(SERVERS,))
        pairs = overlapping[MAIN]
        related = {
            "pairs": overlapping[SERVERS], "copies": copied,
            "hosts": (read[reading.HOSTS], posted["alone"], posted["shared"]),
        } | "Servers" >> RelateServers(shuffle, settings)
        skipped = {
            "left": related["copies"], "right": pairs | "Drop" >> reports.DropOverlapping(shuffle),
        } | "Skip" >> JoinRows(shuffle, ("centre",), reports.skipped_rows,
                               len(settings.chunkings), outputs=(reports.SKIPPED,))
        named = ({
            naming.PAIRS: pairs,
            naming.COPIES: skipped[MAIN],
            reports.SKIPPED: skipped[reports.SKIPPED],
            naming.COPIED: copied | "AcrossHosts" >> MapBlocks(reports.copied_rows)
            | "EachHost" >> ReduceRows(shuffle, ("centre", "host"), {"first": "min", "own": "max"}),
        }, pages) | "Names" >> naming.NamePages(settings)
        return {
            "page_overlap": named[naming.PAIRS],
            "exact_copies": named[naming.COPIES],
            "server_overlap": related["server_overlap"],
            "replicas": {"pairs": pairs, "copies": copied, "pages": read[reading.TOTALS]}
            | "Replicas" >> reports.CountReplicas(shuffle, settings),
            "skippable": named[naming.SKIPPABLE],
            "crawl_savings": {
                "totals": read[reading.TOTALS], "skippable": named[naming.SKIPPABLE],
            } | "Savings" >> reports.SumSavings(shuffle, settings),
            "popular_collections": ({
                "copied": named[naming.COPIED], "prefixes": posted[reading.PREFIXES],
            }, pages) | "Collections" >> reports.FindCollections(settings),
            "noted": _noted(read[reading.LINELESS], posted, overlapping),
            "measured": counted[SHIPPED] | "Shipped" >> beam.Map(_shipped)
            .with_output_types(tuple[str, int]),
        }


class _PostFingerprints(Analysis):
    """(pages, keys of all fingerprints, rows of copies) -> postings, and what else is learnt of
    fingerprints on the way."""

    def __init__(self, settings: OverlapSettings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, given: tuple[Pages, beam.PCollection, beam.PCollection]) -> dict[str, Any]:
        pages, keys, copied = given
        shuffle, settings = pages.shuffle, self.settings
        heavy = AsSingleton(
            keys | "Repeated" >> FindRepeats(shuffle, ("key",), shuffle.counter_bits(2, 27)))
        roles = AsSingleton(copied | "Roles" >> copies.FindRoles(shuffle))
        rows = (
            pages.parts
            | "Later" >> ForLater()
            | "FetchParts" >> Fetch(shuffle, heavy, roles)
            | "Fingerprint" >> MapBlocks(
                reading.fingerprint_rows, settings, heavy, roles, outputs=(
                    reading.HOSTS, reading.FINGERPRINTS, reading.PREFIXES))
        )
        posted = rows[MAIN] | "Postings" >> ProcessBuckets(
            shuffle, postings.KEY, postings.postings, settings, order=("unit",),
            outputs=(reading.HOSTS, reading.FINGERPRINTS, postings.SAMPLE))
        return {
            MAIN: posted[MAIN], postings.SAMPLE: posted[postings.SAMPLE],
            "alone": rows[reading.HOSTS], "shared": posted[reading.HOSTS],
            reading.PREFIXES: rows[reading.PREFIXES],
            "counts_alone": rows[reading.FINGERPRINTS], "counts": posted[reading.FINGERPRINTS],
        }


def _noted(
    lineless: beam.PCollection, posted: dict[str, Any], overlapping: dict[str, Any],
) -> beam.PCollection:
    return (
        lineless | "CountLineless" >> beam.Map(_lineless).with_output_types(tuple[str, int]),
        posted["counts_alone"] | "CountAlone" >> beam.FlatMap(_alone)
        .with_output_types(tuple[str, int]),
        posted["counts"] | "CountShared" >> beam.FlatMap(_shared)
        .with_output_types(tuple[str, int]),
        overlapping[MAIN] | "CountPages" >> beam.Map(_kept).with_output_types(tuple[str, int]),
        overlapping[SERVERS] | "CountHosts" >> beam.Map(_kept).with_output_types(tuple[str, int]),
    ) | "Noted" >> beam.Flatten()


def _by_side(pairs: Block) -> Any:
    """Pairs of pages, and those of hosts (SERVERS), by chunking."""
    tag = pairs.array("tag")
    rows = pairs.without("tag", "unit_a", "unit_b").with_columns(
        chunking=(tag // 2).astype(np.uint8))
    for side, (a, b) in enumerate((("page_a", "page_b"), ("host_a", "host_b"))):
        mine = rows.with_columns(**{a: pairs["unit_a"], b: pairs["unit_b"]}).take(tag % 2 == side)
        yield mine if side == 0 else beam.pvalue.TaggedOutput(SERVERS, mine)


def _lineless(pages: Block) -> tuple[str, int]:
    return "no-lines", len(pages)


def _alone(counts: Block) -> list[tuple[str, int]]:
    alone = int(counts.array("alone").sum())
    return [("overlap-fingerprints", alone), ("overlap-occurrences", alone)]


def _shared(counts: Block) -> list[tuple[str, int]]:
    return [(name, int(counts.array(name).sum())) for name in counts.names]


def _kept(pairs: Block) -> tuple[str, int]:
    return "overlap-pairs-kept", len(pairs)


def _shipped(rows: int) -> tuple[str, int]:
    return "overlap-pairs-shuffled", rows
