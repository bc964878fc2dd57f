"""Each experiment from numbers to what is shown: tables, figures and a few lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.errors import UserError
from beam_reuse.core.shares import ONE, given_threshold
from beam_reuse.declaring.settings import Settings
from beam_reuse.experiments import figures, names, papers, reports, tables
from beam_reuse.experiments.inject import Injection, found_chunks
from beam_reuse.experiments.loading import JudgedHashes
from beam_reuse.experiments.mutate import KnownChunks, Mutation, mutate
from beam_reuse.experiments.tables import Row, Threshold
from beam_reuse.experiments.tolerance import mutation_counts
from beam_reuse.experiments.vectors import Background, Site
from beam_reuse.io.results.tables import TableSchema


@dataclass(frozen=True)
class Results:
    """What an experiment gives: rows of tables, contents of figures by file name, lines."""

    tables: Mapping[TableSchema, Sequence[Row]]
    figures: Mapping[str, bytes]
    lines: Sequence[str]


def conduct_inject(
    site: Site, background: Background, settings: Settings, name: str,
) -> Results:
    """Copies of the site in the background; `name` says in figures which site it is."""
    _require_pages(site)
    how = Injection(settings.discovery, settings.experiment.partial)
    rows = tables.inject_rows(site, background, settings.experiment.copies, how)
    title = f"{name}: {'partial' if how.partial else 'whole'} copies"
    return Results({tables.INJECT: rows}, dict(figures.inject_figure(rows, title)),
                   [*reports.site_lines(site), *reports.inject_lines(rows)])


def conduct_mutate(
    site: Site, background: Background, settings: Settings, numbers: Mapping[str, int],
    name: str,
) -> Results:
    """Mutations of the site. `numbers` hold the background's thresholds, if there are any."""
    _require_pages(site)
    asked, chunks = settings.experiment, site.chunks
    copies = Injection(settings.discovery)
    blind, blind_threshold = found_chunks(site, background, asked.blind_copies, copies)
    known = {names.EXPERT: np.ones(chunks.distinct, np.bool_), names.BLIND: blind}
    thresholds = detection_thresholds(settings, numbers)
    labels = {
        name: KnownChunks(mask, int(thresholds[names.PAGE, name].value * ONE))
        for name, mask in known.items()
    }
    mutations = mutation_counts([Fraction(str(x)) for x in asked.multiples], chunks.mean)
    rows: list[Row] = []
    tolerances: list[Row] = []
    drawn: dict[str, bytes] = {}
    for way in asked.ways:
        steps = mutate(chunks, labels, Mutation(way, mutations, asked.runs, asked.seed))
        points = tables.mutate_rows(way, steps, chunks.mean)
        tolerated = tables.tolerance_rows(way, steps, chunks.mean, thresholds)
        drawn |= figures.mutate_figure(way, points, tolerated, name)
        rows += points
        tolerances += tolerated
    lines = [
        *reports.site_lines(site),
        *reports.label_lines(int(blind.sum()), chunks.distinct, asked.blind_copies,
                             blind_threshold),
        *reports.tolerance_lines(tolerances),
    ]
    return Results({tables.MUTATE: rows, tables.TOLERANCES: tolerances}, drawn, lines)


def detection_thresholds(
    settings: Settings, numbers: Mapping[str, int],
) -> dict[tuple[str, str], Threshold]:
    """The thresholds by level and labels: given, else from the background, else the papers'."""
    detection = settings.detection
    levels = ((names.PAGE, detection.page_threshold, papers.PAGE_THRESHOLD),
              (names.NEIGHBOURHOOD, detection.neighbourhood_threshold,
               papers.NEIGHBOURHOOD_THRESHOLD))
    found = {}
    for level, given, published in levels:
        for labels in (names.EXPERT, names.BLIND):
            name = names.threshold_name(level, labels)
            share, source = (
                (given_threshold(given), "given") if given is not None
                else (numbers[name], "background") if name in numbers
                else (given_threshold(published), "papers"))
            found[level, labels] = Threshold(Fraction(share, ONE), source)
    return found


def conduct_thresholds(
    judged: Mapping[str, JudgedHashes], numbers: Mapping[str, int], settings: Settings,
) -> Results:
    """Rates of judged labels against the threshold, and the effect of stop chunks."""
    if not judged:
        raise UserError("--bad and --benign: the lists hold no hash. Give hashes that people "
                        "have judged, one per line or as a table with a column sha1.")
    used = {
        "file": _used("file", settings.discovery.file_threshold, numbers[names.ALL_FILES]),
        "chunk": _used("chunk", settings.discovery.chunk_threshold, numbers[names.ALL_CHUNKS]),
    }
    by_kind = {
        kind: tables.threshold_rows(kind, found.bad, found.benign)
        for kind, found in sorted(judged.items())
    }
    effect = tables.effect_rows(numbers, (names.REMOVED, names.KEPT, names.KEPT_SAME))
    rows = [row for found in by_kind.values() for row in found]
    return Results(
        {tables.THRESHOLDS: rows, tables.STOP_CHUNK_EFFECT: effect},
        dict(figures.thresholds_figure(by_kind, used)),
        [*reports.rate_lines(by_kind, used), *reports.effect_lines(effect)],
    )


def _used(kind: str, given: int | None, total: int) -> int:
    return auto_threshold(kind, total) if given is None else given


def _require_pages(site: Site) -> None:
    if not site.chunks.pages:
        raise UserError("SITE has no page with a chunk that counts: nothing to copy or mutate. "
                        "Check what was given, and --status, --content-types, --stop-chunks.")
