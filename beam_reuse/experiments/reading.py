"""What experiments ask of a site and of the crawl around it.

The site comes back whole, as numbers; of the background only counts do, so it may be as large
as any crawl. All of an experiment is one plan.
"""

from dataclasses import dataclass, replace

from beam_reuse.analyses.reuse.candidates import KEY
from beam_reuse.analyses.reuse.detect import DetectReuse
from beam_reuse.analyses.reuse.discover import keep_frequent
from beam_reuse.analyses.reuse.discover_kernels import SUM_COUNTS, occurrences
from beam_reuse.analyses.reuse.labels import listed_labels
from beam_reuse.analyses.reuse.neighbourhood_kernels import flagged
from beam_reuse.analyses.reuse.thresholds import threshold_of
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import TEXT, columns
from beam_reuse.core.settings import StopSettings
from beam_reuse.declaring.settings import Settings
from beam_reuse.experiments import names
from beam_reuse.experiments import site_kernels as kernels
from beam_reuse.pages.analysis import Found
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.pages import Pages
from beam_reuse.rows import Plan, Rows, Value


@dataclass(frozen=True)
class AskSite:
    """Pages of a site, and perhaps those of its background -> `site_pages` and `site_chunks`; with
    a background `occurrences` of the site's hashes in it, and `numbers`: of all files and chunks
    there, and the thresholds that follow from it, if asked for."""

    settings: Settings
    thresholds: bool

    def find(self, pages: Pages, background: Pages | None = None) -> Found:
        objects = objects_of(self.settings, pages)
        tables = {
            "site_pages": pages.rows(kernels.site_pages, objects),
            "site_chunks": pages.rows(kernels.site_chunks, objects),
        }
        if background is None:
            return Found(tables)
        site = pages.rows(kernels.counted, objects)
        around = background.rows(kernels.counted, objects_of(self.settings, background))
        numbers = around.tagged(kernels.TOTALS)
        if self.thresholds:
            numbers += _thresholds(site, around, background, self.settings)
        return Found({**tables, "occurrences": _counts_of(site, background, self.settings),
                      "numbers": _summed(numbers)})


@dataclass(frozen=True)
class AskJudged:
    """Pages -> `occurrences` of hashes on lists, and `numbers`: of all files and chunks; labels,
    the threshold, neighbourhoods in all and flagged ones, of blind detection with stop chunks
    removed, with all of them kept, and with all of them kept but flagged by the threshold of the
    first."""

    settings: Settings
    lists: tuple[str, ...]

    def find(self, pages: Pages) -> Found:
        raw = replace(self.settings, stops=nothing_stops())
        listed = listed_labels(pages.plan, self.lists, details=False)
        removed, kept = (_detect_blindly(pages, settings) for settings in (self.settings, raw))
        same = replace(
            kept, threshold=removed.threshold,
            neighbourhoods=kept.neighbourhoods.map(flagged, removed.threshold))
        numbers = kept.counted.tagged(kernels.TOTALS)
        for name, blind in ((names.REMOVED, removed), (names.KEPT, kept), (names.KEPT_SAME, same)):
            numbers += blind.labels.map(kernels.number_of_labels, name)
            numbers += blind.neighbourhoods.map(kernels.judged, name)
            numbers += _number(pages.plan, f"threshold {name}", blind.threshold)
        return Found({"occurrences": _counts_of(listed, pages, raw), "numbers": _summed(numbers)})


def _counts_of(wanted: Rows, pages: Pages, settings: Settings) -> Rows:
    """How often the files and chunks `wanted` occur in the pages. One that does not occur has no
    row; a few that nobody asked for may have one. Cost: a filter travels, then only what passes."""
    found = pages.rows(kernels.counted_of, objects_of(settings, pages), wanted.keys(KEY))
    return found.reduce(KEY, SUM_COUNTS).map(kernels.count_table)


def _thresholds(site: Rows, around: Rows, background: Pages, settings: Settings) -> Rows:
    """Mean + one deviation of the share of matching chunks over the background's pages, and over
    its neighbourhoods, with the expert's and with blind labels. Blind ones are all that discovery
    finds in the background and in `blind_copies` copies of the site together."""
    together = site.map(kernels.chunks_times, settings.experiment.blind_copies) + around.map(
        kernels.chunks_times, 1)
    numbers = background.plan.nothing()
    for name, labels in (
        (names.EXPERT, site),
        (names.BLIND, _frequent(together, settings)),
    ):
        tables = _detect(background, labels, settings).tables
        for level, table in ((names.PAGE, "page_reuse"), (names.NEIGHBOURHOOD, "neighbourhoods")):
            numbers += _number(background.plan, names.threshold_name(level, name),
                               threshold_of(tables[table], None))
    return numbers


@dataclass(frozen=True)
class _Blind:
    """Blind detection: all that was `counted`, the `labels` of these, and what was found."""

    counted: Rows
    labels: Rows
    neighbourhoods: Rows
    threshold: Value | int


def _detect_blindly(pages: Pages, settings: Settings) -> _Blind:
    counted = pages.rows(kernels.counted, objects_of(settings, pages))
    labels = _frequent(counted.map(kernels.chunks_times, 1), settings)
    found = _detect(pages, labels, settings)
    return _Blind(counted, labels, found.tables["neighbourhoods"],
                  found.values[names.NEIGHBOURHOOD])


def _frequent(found: Rows, settings: Settings) -> Rows:
    return keep_frequent(
        found.reduce(KEY, SUM_COUNTS), found.map(occurrences), settings.discovery)


def _detect(pages: Pages, hashes: Rows, settings: Settings) -> Found:
    """What is found of chunks of which only the hashes are known."""
    detect = DetectReuse(settings.detection, settings.chunks, settings.stops)
    return detect.find(pages, hashes.map(kernels.chunk_labels))


def _number(plan: Plan, name: str, value: Value | int) -> Rows:
    """A row of `numbers`."""
    named = plan.rows([Block({"what": VarBytes.from_list([name.encode()])})], name,
                      columns(what=TEXT))
    return named.map(kernels.with_value, value)


def _summed(numbers: Rows) -> Rows:
    return numbers.reduce("what", {"value": "sum"})


def objects_of(settings: Settings, pages: Pages) -> Objects:
    return Objects.of(settings.chunks, settings.stops, pages.spill)


def nothing_stops() -> StopSettings:
    """Settings under which every chunk counts."""
    return StopSettings(0, (), builtin=False)
