"""What detection does to labels and to the pages of a part; no Beam.

`source` is the name of a label's source: the registered domain of its URL.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse import schemas
from beam_reuse.analyses.reuse.candidates import HASHES, KEY
from beam_reuse.analyses.reuse.matches import FOLDED, SCORED, fold
from beam_reuse.analyses.reuse.neighbourhood_kernels import (
    NEIGHBOUR_ROWS,
    REUSED_ROWS,
    neighbour_rows,
    prefixes_of,
    reused_rows,
)
from beam_reuse.analyses.reuse.owners import Owners
from beam_reuse.analyses.reuse.similar_kernels import SWEPT, sweep_rows
from beam_reuse.analyses.reuse.thresholds import is_above
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.distinct import (
    distinct_strings,
    find_rows,
    number_distinct,
)
from beam_reuse.columnar.filters import RowFilter
from beam_reuse.columnar.matching import match_ranges, pairs_of
from beam_reuse.columnar.schema import FLAG, KIND, NUMBER, PART, SHA1, TEXT, columns, gives, maybe
from beam_reuse.core.labels import LabelKind, evidence, source_name
from beam_reuse.core.shares import ratio, shares
from beam_reuse.pages.objects import CountedChunks, Objects
from beam_reuse.pages.rows import NumberedRows
from beam_reuse.pages.sides import Sides
from beam_reuse.rows.results import Tagged

MATCHED_FILES, PAGES, OLD_PAGES, NEIGHBOURS, REUSED, SWEEP = (
    "matched_files", "pages", "old pages", "neighbours", "reused", "sweep")
SOURCED = columns(HASHES, source_url=maybe(TEXT), source=maybe(TEXT), sources=NUMBER,
                  evidence=PART)
ONE_OF_EACH = {"source": "any", "sources": "max", "evidence": "min"}
BY_SOURCE = {"source_url": "min", "sources": "sum"}
CONFIRMED = columns(range=PART, kind=KIND, sha1=SHA1, label=SHA1, score=maybe(NUMBER),
                    source=maybe(TEXT), source_url=maybe(TEXT), sources=NUMBER, strongest=FLAG)
PAGE_ROWS = columns(url=TEXT, chunks=NUMBER, stop_chunks=NUMBER, matching=NUMBER,
                    own_matching=NUMBER, distinct_matching=NUMBER, file_match=FLAG,
                    share=maybe(NUMBER))


@gives(SOURCED)
def with_sources(labels: Block) -> Block:
    """What detection needs of label rows, with the name of their source, and 1 as the number of
    sources; no source, no name. `evidence` as `core.labels` has it."""
    urls, domains = labels.maybe("source_url"), labels.maybe("domains")
    some, which = distinct_strings(urls.values)
    names = Maybe.unless_empty(
        VarBytes.from_list(source_name(url).encode() for url in some.to_list()))
    return labels.select((*KEY, "source_url")).with_columns(
        source=names.take(which), sources=urls.valid.astype(np.int64),
        evidence=evidence(domains.values, domains.valid, urls.valid))


@gives(CONFIRMED)
def confirm(found: Block | None, labels: Block | None) -> Block | None:
    """Candidates that are labels: one row per part, hash and source; `sha1` is the hash in the
    page, `label` that of the label, `sources` how many it has. `strongest` marks the row with the
    strongest source of a label: on the fewest domains, then the smallest URL, an unknown one
    last. Labels are in order of `source` and `evidence`."""
    if found is None or labels is None:
        return None
    sources = np.add.reduceat(labels.array("sources"), labels.starts(KEY))
    labels = labels.take(labels.starts((*KEY, "source")))
    labels = labels.with_columns(unknown=~labels.maybe("source_url").valid)
    labels = labels.sort((*KEY, "evidence", "unknown", "source_url"))
    starts = labels.starts(KEY)
    strongest = np.zeros(len(labels), np.bool_)
    strongest[starts] = True
    sources = np.repeat(sources, np.diff(np.append(starts, len(labels))))
    left, right = pairs_of(*match_ranges(found, labels, KEY))
    return Block({
        "range": found.array("range")[left],
        "kind": labels.array("kind")[right],
        "sha1": found.array("own")[left], "label": labels.array("sha1")[right],
        "score": found.maybe("score").take(left),
        **{name: labels[name].take(right) for name in ("source", "source_url")},
        "sources": sources[right], "strongest": strongest[right],
    })


@dataclass(frozen=True)
class Labels:
    """The labels of one kind that occur in one part: `rows` sorted by the hash in the page,
    one per source; `first` has one row per hash, its strongest source, and the sources of its
    row i are rows starts[i]:starts[i + 1]; its source URL is sources[source[i]], empty if it is not
    known. A label with the hash itself goes before one that is only similar. `owners` says
    whose they are."""

    rows: Block
    first: Block
    starts: NDArray[np.int64]
    sources: VarBytes
    source: NDArray[np.int64]
    owners: Owners

    @staticmethod
    def of(confirmed: Block, kind: LabelKind) -> "Labels":
        rows = confirmed.take(confirmed.array("kind") == kind).sort(("sha1", "score"))
        starts = rows.starts(("sha1",))
        best = np.repeat(starts, np.diff(np.append(starts, len(rows))))
        known, score = rows.maybe("score").valid, rows.maybe("score").values
        rows = rows.take((known == known[best]) & (score == score[best]))
        first = rows.take(rows.array("strongest"))
        starts = np.append(rows.starts(("sha1",)), len(rows))
        return Labels(rows, first, starts, *distinct_strings(first.maybe("source_url").values),
                      Owners.of(rows, starts))

    def find(self, sha1: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which of the hashes are labels: their places, in order, and rows of `first`."""
        row = find_rows(self.first.array("sha1"), sha1)
        at = np.flatnonzero(row >= 0)
        return at, row[at]


@gives(lambda *args: SCORED if args[-1] else FOLDED, {
    MATCHED_FILES: schemas.MATCHED_FILES.rows, PAGES: PAGE_ROWS,
    OLD_PAGES: PAGE_ROWS, NEIGHBOURS: NEIGHBOUR_ROWS, REUSED: REUSED_ROWS, SWEEP: SWEPT})
def detect_in_parts(
    confirmed: Block | None, parts: Block | None, objects: Objects, owned: bool,
    sides: Sides, above: RowFilter | None, thresholds: tuple[int, ...],
) -> Iterator[Any]:
    """Everything detection says of the pages of these parts: folded rows of `matched_chunks`
    (see `matches`), and tagged ones of matched files, pages, neighbourhoods and what is reused
    there; of pages of a baseline no matches, OLD_PAGES in place of PAGES, and what is reused only
    in directories that may be `above` new pages. Of chunks that are only similar, those count whose
    score reaches the first of the thresholds; without thresholds there are none, and no scores.
    What is a page's own, if labels are `owned`, is among the matches and matched files and counts
    nowhere else."""
    if parts is None:
        return
    if confirmed is None:
        confirmed = _nothing()
    for i, (low, high) in enumerate(zip(*match_ranges(parts, confirmed, ("range",)), strict=True)):
        here = confirmed.slice(int(low), int(high))
        files, chunks = Labels.of(here, LabelKind.FILE), Labels.of(here, LabelKind.CHUNK)
        for counted in objects.chunks_of(parts.slice(i, i + 1), ("url", "domain", "sha1")):
            new = sides.is_new_part(counted.rows.pages.part)
            yield from _detect(counted, chunks, files, objects, owned, new,
                               None if new else above, thresholds)


def _nothing() -> Block:
    """No confirmed label at all."""
    return Block({
        "range": np.zeros(0, np.uint32), "kind": np.zeros(0, np.uint8),
        **{name: np.zeros(0, "V20") for name in ("sha1", "label")},
        **{name: Maybe.nulls(0) for name in ("source", "source_url")},
        "sources": np.zeros(0, np.int64), "strongest": np.zeros(0, np.bool_),
        "score": Maybe.nulls(0, np.int64),
    })


def _detect(
    counted: CountedChunks, labels: Labels, files: Labels, objects: Objects, owned: bool, new: bool,
    above: RowFilter | None, thresholds: tuple[int, ...],
) -> Iterator[Any]:
    chunks, pages = counted.rows, counted.rows.pages
    names = pages.urls()
    at, label = labels.find(chunks.sha1)
    page = np.searchsorted(chunks.offsets, at, side="right") - 1
    own = _own(labels, label, page, pages, owned)
    scores = {}
    if thresholds:
        score = labels.first.maybe("score").take(label)
        if new:
            yield Tagged(SWEEP, sweep_rows(score.take(~own), page[~own], thresholds))
        strong = ~score.valid | (score.values >= thresholds[0])
        at, label, page, own = at[strong], label[strong], page[strong], own[strong]
        scores = {"score": score.take(strong)}
    if new:
        yield fold(names, page, {
            **{name: column[at].astype(np.uint32, copy=False) for name, column in (
                ("position", counted.position), ("start", chunks.start), ("end", chunks.end))},
            "sha1": labels.first.array("label")[label], "own": own,
            "sources": labels.first.array("sources")[label], **scores,
        }, labels.sources, labels.source[label])
    matched = _matched_files(pages, files, objects, owned)
    if new:
        yield Tagged(MATCHED_FILES, matched.without("page"))
    file_match = np.zeros(len(pages), np.bool_)
    file_match[matched.array("page")[~matched.array("own")]] = True
    own_matching = np.bincount(page[own], minlength=len(pages)).astype(np.int64)
    page, label = page[~own], label[~own]
    pair = page * max(len(labels.first), 1) + label
    numbers, first = number_distinct(pair)
    occurrences = np.bincount(numbers, minlength=len(first))
    page_of, label_of = np.divmod(pair[first], max(len(labels.first), 1))
    whole = np.diff(chunks.offsets)
    matching = np.bincount(page, minlength=len(pages)).astype(np.int64)
    share = shares(matching, whole)
    yield Tagged(PAGES if new else OLD_PAGES, Block({
        "url": names, "chunks": whole, "stop_chunks": counted.stopped, "matching": matching,
        "own_matching": own_matching,
        "distinct_matching": np.bincount(page_of, minlength=len(pages)).astype(np.int64),
        "file_match": file_match, "share": Maybe(share, share >= 0),
    }))
    prefixes = prefixes_of(pages.rows.strings("url"))
    yield Tagged(NEIGHBOURS, neighbour_rows(
        prefixes, whole, matching, own_matching, share, new))
    yield Tagged(REUSED, reused_rows(prefixes.only(above), page_of, label_of, occurrences,
                                     labels.rows, labels.starts))


def _own(labels: Labels, label: NDArray[np.int64], page: NDArray[np.int64], pages: NumberedRows,
         owned: bool) -> NDArray[np.bool_]:
    """Whether page[i] has label[i] from its own domain."""
    if not owned or not len(label):
        return np.zeros(len(label), np.bool_)
    return labels.owners.own(label, page, labels.owners.number(pages))


def _matched_files(
    pages: NumberedRows, files: Labels, objects: Objects, owned: bool,
) -> Block:
    """Rows of `matched_files`, with the numbers of their pages here."""
    at, file = files.find(pages.rows.numbers("sha1"))
    counts = objects.file_counts(pages)[at]
    at, file = at[counts], file[counts]
    own = _own(files, file, at, pages, owned)
    return Block({
        "page": at, "url": pages.urls().take(at), "sha1": files.first.array("sha1")[file],
        "source_url": files.first["source_url"].take(file),
        "sources": files.first.array("sources")[file], "own": own,
    })


@gives(columns(PAGE_ROWS, schemas.PAGE_REUSE.rows))
def page_table(rows: Block, min_chunks: int, min_matching: int, threshold: int) -> Block:
    """Rows of `page_reuse`."""
    chunks, matching = rows.array("chunks"), rows.array("matching")
    return rows.with_columns(
        contains=Maybe.unless_nan(ratio(matching, chunks)),
        flagged=is_above(rows, threshold) & (chunks >= min_chunks)
        & (rows.array("distinct_matching") >= min_matching),
    )
