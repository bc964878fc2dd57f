"""What experiments ask of a site and of the crawl around it, as Beam transforms.

The site comes back whole, as numbers; of the background only counts do, so it may be as large
as any crawl.
"""

from dataclasses import replace

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.reuse.detect import DetectReuse
from beam_reuse.analyses.reuse.detect_kernels import KEY
from beam_reuse.analyses.reuse.discover import CHUNKS, SHA1, CountObjects, KeepFrequent
from beam_reuse.analyses.reuse.neighbourhood_kernels import neighbourhood_table
from beam_reuse.analyses.reuse.thresholds import ThresholdOf
from beam_reuse.columnar import (
    Block,
    BuildKeyFilter,
    CountKeys,
    Fetch,
    MapBlocks,
    PutAway,
    ReduceRows,
)
from beam_reuse.core.settings import Settings, StopSettings
from beam_reuse.experiments import site_kernels as kernels
from beam_reuse.experiments.names import (
    BLIND,
    EXPERT,
    KEPT,
    KEPT_SAME,
    NEIGHBOURHOOD,
    PAGE,
    REMOVED,
    threshold_name,
)
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.read_pages import Analysis, Pages


class DescribeSite(Analysis):
    """Pages -> `site_pages` and `site_chunks`, as blocks."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, pages: Pages) -> dict[str, beam.PCollection]:
        objects = objects_of(self.settings, pages)
        parts = pages.parts | "FetchParts" >> Fetch(pages.shuffle)
        return {
            "site_pages": parts | "Pages" >> MapBlocks(kernels.site_pages, objects),
            "site_chunks": parts | "Chunks" >> MapBlocks(kernels.site_chunks, objects),
        }


class CountSite(Analysis):
    """Pages -> distinct `kind` and `sha1` of all files and chunks, with their `count`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, pages: Pages) -> beam.PCollection:
        return (
            pages.parts
            | "FetchParts" >> Fetch(pages.shuffle)
            | "Hashes" >> MapBlocks(kernels.hashes, objects_of(self.settings, pages))
            | "Count" >> CountKeys(pages.shuffle, KEY)
        )


class CountIn(Analysis):
    """(rows with `kind` and `sha1`, pages) -> `counts` of these hashes in the pages, and
    `numbers`: of all files and chunks there. A hash that does not occur has no row; a few that
    nobody asked for may have one. Cost: a filter travels, then only what passes it."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, given: tuple[beam.PCollection, Pages]) -> dict[str, beam.PCollection]:
        wanted, pages = given
        shuffle, objects = pages.shuffle, objects_of(self.settings, pages)
        asked = AsSingleton(wanted | "Wanted" >> BuildKeyFilter(shuffle, KEY))
        return {
            "counts": (
                pages.parts
                | "FetchParts" >> Fetch(shuffle, asked)
                | "Hashes" >> MapBlocks(kernels.hashes_in, objects, asked)
                | "Count" >> CountKeys(shuffle, KEY)
                | "CountTable" >> MapBlocks(kernels.count_table)
            ),
            "numbers": (
                pages.parts
                | "FetchPartsAgain" >> Fetch(shuffle)
                | "Totals" >> MapBlocks(kernels.totals, objects)
                | "SumTotals" >> ReduceRows(shuffle, ("what",), {"value": "sum"})
            ),
        }


class FindThresholds(Analysis):
    """(counts of the site, background pages) -> `numbers`: mean + one deviation of the share
    of matching chunks over the background's pages, and over its neighbourhoods, with the
    expert's and with blind labels. Blind ones are all that discovery finds in the background
    and in `blind_copies` copies of the site together."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, given: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        site, background = given
        shuffle = background.shuffle
        copies = site | "Copies" >> MapBlocks(
            kernels.chunk_counts, self.settings.experiment.blind_copies)
        around = background.parts | "Around" >> CountObjects(
            CHUNKS, objects_of(self.settings, background), background)
        together = (
            (copies, around) | "Both" >> beam.Flatten()
            | "Together" >> ReduceRows(shuffle, SHA1, {"count": "sum"})
        )
        labels = {
            EXPERT: site | "ChunksOfSite" >> MapBlocks(kernels.chunk_counts, 1),
            BLIND: together | "Frequent" >> KeepFrequent(
                CHUNKS, self.settings.discovery, shuffle),
        }
        found = []
        for name, rows in labels.items():
            detected = (
                (rows | f"Label {name}" >> MapBlocks(kernels.chunk_labels), background)
                | f"Detect {name}" >> DetectReuse(
                    self.settings.detection, self.settings.chunks, self.settings.stops))
            for level, table in ((PAGE, "page_reuse"), (NEIGHBOURHOOD, "neighbourhoods")):
                found.append(
                    detected[table]
                    | f"Threshold {level} {name}" >> ThresholdOf(None)
                    | f"Number {level} {name}" >> _AsNumber(threshold_name(level, name)))
        return found | "Thresholds" >> beam.Flatten()


class CountFlagged(Analysis):
    """Pages -> `numbers`: labels, the threshold, neighbourhoods in all and flagged ones, of
    blind detection with stop chunks removed, with all of them kept, and with all of them kept
    but flagged by the threshold of the first."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, pages: Pages) -> beam.PCollection:
        shuffle = pages.shuffle
        removed = pages | REMOVED >> _DetectBlindly(self.settings)
        kept = pages | KEPT >> _DetectBlindly(replace(self.settings, stops=nothing_stops()))
        threshold = AsSingleton(removed["threshold"])
        same = (
            kept["neighbourhoods"]
            | "Park" >> PutAway(shuffle)
            | "Unpark" >> Fetch(shuffle, threshold)
            | "FlagAlike" >> MapBlocks(neighbourhood_table, threshold)
        )
        found = []
        for name, labels, above, judged in (
            (REMOVED, removed["labels"], removed["threshold"], removed["neighbourhoods"]),
            (KEPT, kept["labels"], kept["threshold"], kept["neighbourhoods"]),
            (KEPT_SAME, kept["labels"], removed["threshold"], same),
        ):
            found += [
                above | f"Threshold: {name}" >> _AsNumber(f"threshold {name}"),
                labels | f"Labels: {name}" >> MapBlocks(kernels.number_of_labels, name),
                judged | f"Flagged: {name}" >> MapBlocks(kernels.judged, name),
            ]
        return (
            found | "All" >> beam.Flatten()
            | "Sum" >> ReduceRows(shuffle, ("what",), {"value": "sum"})
        )


class _DetectBlindly(Analysis):
    """Pages -> `labels`, what discovery finds; `neighbourhoods`; and the `threshold` above
    which these are flagged."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings

    @no_annotations
    def expand(self, pages: Pages) -> dict[str, beam.PCollection]:
        settings = self.settings
        labels = (
            pages.parts
            | "Count" >> CountObjects(CHUNKS, objects_of(settings, pages), pages)
            | "Frequent" >> KeepFrequent(CHUNKS, settings.discovery, pages.shuffle)
        )
        neighbourhoods = (
            (labels | "Label" >> MapBlocks(kernels.chunk_labels), pages)
            | "Detect" >> DetectReuse(settings.detection, settings.chunks, settings.stops)
        )["neighbourhoods"]
        threshold = neighbourhoods | "Threshold" >> ThresholdOf(
            settings.detection.neighbourhood_threshold)
        return {"labels": labels, "neighbourhoods": neighbourhoods, "threshold": threshold}


class _AsNumber(beam.PTransform):
    """An integer -> a row of `numbers`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def expand(self, number: beam.PCollection) -> beam.PCollection:
        return number | beam.Map(kernels.number_row, self.name).with_output_types(Block)


def objects_of(settings: Settings, pages: Pages) -> Objects:
    return Objects.of(settings.chunks, settings.stops, pages.spill)


def nothing_stops() -> StopSettings:
    """Settings under which every chunk counts."""
    return StopSettings(0, (), builtin=False)
