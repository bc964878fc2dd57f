"""What discovery does to blocks of files and chunks; no Beam.

A `place` is where something occurs first in a page: page number, part, row of the part, start
and end in it, big-endian, so that the smallest place has the smallest URL. A
`first` is time and page number: the smallest was seen first.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.candidates import CANDIDATES as CANDIDATE_ROWS
from beam_reuse.analyses.reuse.candidates import HASHES, KEY, candidates_in, hash_rows
from beam_reuse.analyses.reuse.label_kernels import (
    DIGEST,
    LABEL_ROWS,
    digest_column,
    digest_of,
    kind_words,
)
from beam_reuse.analyses.reuse.schemas import FREQUENCY_HISTOGRAM
from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.distinct import number_distinct
from beam_reuse.columnar.filters import RowFilter
from beam_reuse.columnar.matching import lookup, match_ranges
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    KIND,
    NUMBER,
    PAGE,
    PART,
    TEXT,
    TIME,
    UNSIGNED,
    columns,
    gives,
    less,
    lists,
    maybe,
    only,
    raw,
    same,
)
from beam_reuse.columnar.sums import exact_sum
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.pages.captures import earliest_first, timestamps_of
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.rows import ChunkRows, NumberedRows, numbered_rows
from beam_reuse.pages.sides import ONE_SIDE, Sides
from beam_reuse.pages.texts import ChunkTexts, text_columns
from beam_reuse.rows.results import Tagged

SAMPLES = 10
KINDS = ("file", "chunk")
CANDIDATES, OCCURRENCES = "candidates", "occurrences"
SUM_COUNTS = {"count": "sum"}
BY_HOST = {"domain": "any", "pages": "sum", "place": "min", "first": "min"}
_PLACE = np.dtype([("page", ">u8"), ("part", ">u4"), ("row", ">u4"), ("start", ">u4"),
                   ("end", ">u4")])
_FIRST = np.dtype([("time", ">u8"), ("page", ">u8")])
_OF_PAGES = ("sha1", "bytes", "host", "domain", "timestamp")
COUNTS = columns(HASHES, count=UNSIGNED)
TOTALS = columns(**dict.fromkeys(KINDS, UNSIGNED))
PLACES = columns(HASHES, host=FINGERPRINT, domain=FINGERPRINT, place=raw(_PLACE.itemsize),
                 first=raw(_FIRST.itemsize), pages=NUMBER)
LISTED = columns(HASHES, occurrences=NUMBER, pages=NUMBER, hosts=NUMBER, domains=NUMBER, page=PAGE,
                 first_timestamp=maybe(TIME), sample_urls=lists(PAGE), range=PART, row=NUMBER,
                 start=NUMBER, end=NUMBER)


def _of_sides(
    parts: pa.Schema, objects: Objects, sides: Sides = ONE_SIDE, *_: object,
) -> pa.Schema:
    return columns(COUNTS, **({"new": UNSIGNED} if sides.are_two else {}))


@gives(_of_sides)
def counts(
    parts: Block, objects: Objects, sides: Sides = ONE_SIDE, *among: RowFilter,
) -> Iterator[Block]:
    """The files and chunks of the parts that count, each once per batch with its occurrences; where
    there is a baseline, `new` are those on new pages. Only those that one of the filters `among`
    may hold, if any are given."""
    for counted in objects.chunks_of(parts, ("sha1",), places=False):
        pages = counted.rows.pages
        for kind, sha1 in ((LabelKind.CHUNK, counted.rows.sha1),
                           (LabelKind.FILE, objects.counted_files(pages))):
            found = _counted(kind, sha1)
            if among:
                found = found.take(np.logical_or.reduce(
                    [each.may_hold(found) for each in among]))
            if sides.are_two:
                new = np.uint64(sides.is_new_part(pages.part))
                found = found.with_columns(new=found.array("count") * new)
            yield found


@gives(HASHES, {OCCURRENCES: TOTALS})
def hashes(parts: Block, objects: Objects) -> Iterator[Block | Tagged]:
    """Kind and hash of all files and chunks of the parts that count, as often as they occur; tagged
    OCCURRENCES, how many these are."""
    for counted in objects.chunks_of(parts, ("sha1",), places=False):
        files = objects.counted_files(counted.rows.pages)
        yield hash_rows(LabelKind.CHUNK, counted.rows.sha1)
        yield hash_rows(LabelKind.FILE, files)
        numbers = (len(files), len(counted.rows.sha1))
        yield Tagged(OCCURRENCES, Block({
            name: np.array([number], np.uint64)
            for name, number in zip(KINDS, numbers, strict=True)}))


@gives(lambda rows: less(rows, "new"))
def on_new_pages(rows: Block) -> Block:
    """What occurs on new pages."""
    return rows.take(rows.array("new") > 0).without("new") if "new" in rows else rows


def _counted(kind: LabelKind, sha1: NDArray) -> Block:
    numbers, first = number_distinct(sha1)
    return hash_rows(kind, sha1[first]).with_columns(
        count=np.bincount(numbers, minlength=len(first)).astype(np.uint64))


@gives(same)
def of_kind(rows: Block, kind: LabelKind) -> Block:
    """The rows of one kind."""
    return rows.take(rows.array("kind") == kind)


@gives(TOTALS)
def occurrences(counts: Block) -> Block:
    """One row: all occurrences of files and of chunks."""
    return Block({
        name: np.array([exact_sum(counts.array("count")[counts.array("kind") == kind])], np.uint64)
        for kind, name in enumerate(KINDS)})


@gives(same)
def above(counts: Block, given: Sequence[int | None], total: Mapping[str, int]) -> Block:
    """Counts greater than the threshold of their kind: the one given, or the automatic one for
    `total` occurrences."""
    thresholds = np.array([
        auto_threshold(name, total[name]) if threshold is None else threshold
        for name, threshold in zip(KINDS, given, strict=True)], np.uint64)
    return counts.take(counts.array("count") > thresholds[counts.array("kind")])


@gives(columns(kind=KIND, occurrences=NUMBER, distinct=NUMBER))
def occurrence_rows(counts: Block) -> Iterator[Block]:
    """How many files and chunks of this block occur how often."""
    for kind in range(len(KINDS)):
        found, distinct = np.unique(
            counts.array("count")[counts.array("kind") == kind], return_counts=True)
        yield Block({"kind": np.full(len(found), kind, np.uint8),
                     "occurrences": found.astype(np.int64), "distinct": distinct})


@gives(FREQUENCY_HISTOGRAM.rows)
def histogram_table(rows: Block) -> Block:
    """Rows of `frequency_histogram`."""
    return rows.with_columns(kind=kind_words(rows))


@gives(PLACES, {CANDIDATES: CANDIDATE_ROWS})
def places(parts: Block, objects: Objects, frequent: Any) -> Iterator[Block | Tagged]:
    """One row per host and file or chunk that `frequent` may hold, as BY_HOST says; tagged
    CANDIDATES, which these are in each part."""
    for i in range(len(parts)):
        part = parts.slice(i, i + 1)
        seen = []
        for counted in objects.chunks_of(part, _OF_PAGES):
            for found in (_chunk_places(counted.rows, frequent),
                          _file_places(counted.rows.pages, objects, frequent)):
                number, first = number_distinct(found.array("sha1"))
                seen.append(found.select(KEY).take(first))
                yield _by_host(found, number)
        if seen:
            yield Tagged(CANDIDATES, candidates_in(part, seen))


def _chunk_places(chunks: ChunkRows, frequent: Any) -> Block:
    """One row per page and chunk that `frequent` may hold, at the chunk's first place."""
    hits = np.flatnonzero(frequent.may_hold(hash_rows(LabelKind.CHUNK, chunks.sha1)))
    page = np.searchsorted(chunks.offsets, hits, side="right") - 1
    number, _ = number_distinct(chunks.sha1[hits])
    # Chunks are in order of pages and places, so the first of a page and hash is its place.
    _, first = number_distinct(number * max(len(chunks.pages), 1) + page)
    hits, page = hits[first], page[first]
    return _places(chunks.pages, page, hash_rows(LabelKind.CHUNK, chunks.sha1[hits]),
                   chunks.start[hits], chunks.end[hits])


def _file_places(pages: NumberedRows, objects: Objects, frequent: Any) -> Block:
    """One row per page whose file counts and `frequent` may hold: all of its bytes."""
    files = hash_rows(LabelKind.FILE, pages.rows.numbers("sha1"))
    page = np.flatnonzero(objects.file_counts(pages) & frequent.may_hold(files))
    end = pages.rows.numbers("bytes")[page]
    return _places(pages, page, files.take(page), np.zeros_like(end), end)


def _places(pages: NumberedRows, page: NDArray, found: Block, start: NDArray,
            end: NDArray) -> Block:
    """Rows of places in the pages with the given row numbers."""
    place = np.empty(len(page), _PLACE)
    place["page"], place["part"], place["row"] = pages.number[page], pages.part, pages.row[page]
    place["start"], place["end"] = start, end
    first = np.empty(len(page), _FIRST)
    first["time"] = earliest_first(pages.rows.maybe("timestamp"))[page]
    first["page"] = pages.number[page]
    return found.with_columns(
        number=pages.number[page],
        host=pages.rows.strings("host").hash64()[page],
        domain=pages.rows.strings("domain").hash64()[page],
        place=place.view(f"V{_PLACE.itemsize}"),
        first=first.view(f"V{_FIRST.itemsize}"),
    )


def _by_host(places: Block, number: NDArray[np.int64]) -> Block:
    """Places with the same hash (`number`) and host as one row, by BY_HOST."""
    hosts, host = np.unique(places.array("host"), return_inverse=True)
    key = number * max(len(hosts), 1) + host
    order = np.lexsort((places.array("number"), key))
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    first = places.array("first").view(_FIRST)
    oldest = np.lexsort((first["page"], first["time"], key))[starts]
    rows = places.take(order[starts]).without("number")
    return rows.with_columns(
        first=places.array("first")[oldest],
        pages=np.diff(np.append(starts, len(order))).astype(np.int64),
    )


@gives(lambda places, counts, _: columns(LISTED, **(
    {"new": UNSIGNED} if "new" in counts.names else {})))
def listed(places: Block | None, counts: Block | None, min_hosts: int) -> Block | None:
    """Rows of (hash, host) and the counts of what is frequent -> what is really frequent and on
    enough hosts, one row each, with the part, row, start and end of its smallest place, and the
    first `page` seen.

    Every host's smallest place is its smallest URL, so the first ten of them are the
    samples and the first of all is where the text is taken.
    """
    if places is None or counts is None:
        return None
    places = places.sort((*KEY, "place"))
    found = lookup(places, counts, KEY)
    rows = places.with_columns(occurrences=counts.array("count")[found].astype(np.int64))
    known = [*KEY, "occurrences"]
    if "new" in counts:
        rows = rows.with_columns(new=counts.array("new")[found])
        known.append("new")
    starts = rows.starts(KEY)
    hosts = np.diff(np.append(starts, len(rows)))
    enough = (found[starts] >= 0) & (hosts >= min_hosts)
    rows, hosts = rows.take(np.repeat(enough, hosts)), hosts[enough]
    starts = np.cumsum(hosts) - hosts
    group = np.repeat(np.arange(len(hosts)), hosts)
    first = Block({"group": group, "first": rows["first"]}).sort(("group", "first")).array("first")
    time = first[starts].view(_FIRST)["time"].astype(np.uint64)
    place = rows.array("place").view(_PLACE)
    samples = place["page"][np.arange(len(rows)) - starts[group] < SAMPLES].astype(np.uint64)
    return rows.select(known).take(starts).with_columns(
        pages=np.add.reduceat(rows.array("pages"), starts) if len(starts) else starts,
        hosts=hosts, domains=_distinct_per_group(group, rows.array("domain"), len(starts)),
        page=first[starts].view(_FIRST)["page"].astype(np.uint64),
        first_timestamp=timestamps_of(time),
        sample_urls=Lists.from_lengths(np.minimum(hosts, SAMPLES), samples),
        range=place["part"][starts].astype(np.uint32),
        **{name: place[name][starts].astype(np.int64) for name in ("row", "start", "end")})


def _distinct_per_group(group: NDArray[np.int64], values: NDArray, groups: int) -> NDArray:
    """How many distinct values each group has."""
    pairs = Block({"group": group, "value": values}).sort(("group", "value"))
    return np.bincount(pairs.array("group")[pairs.starts(("group", "value"))], minlength=groups)


@gives(lambda listed, _: columns(less(listed, "page"), first_url=TEXT))
def with_first_url(listed: Block | None, names: Block | None) -> Block | None:
    """Listed files and chunks with the URL of the page on which they were seen first."""
    if listed is None:
        return None
    assert names is not None, "a page without a name"
    found = lookup(listed, names, ("page",))
    assert found.min(initial=0) >= 0, "a page without a name"
    return listed.without("page").with_columns(first_url=names.strings("url").take(found))


@gives(lambda listed, *_: columns(listed, bytes=NUMBER, text=TEXT, nilsimsa=maybe(raw(32))))
def described(
    listed: Block | None, parts: Block | None, settings: ChunkSettings, digest: bool,
) -> Iterator[Block]:
    """Listed files and chunks with their lengths and the first characters of chunks, read from
    the pages of these parts; the Nilsimsa digests of chunks, if asked for."""
    if listed is None:
        return
    assert parts is not None, "something frequent in a part that does not exist"
    for i, (low, high) in enumerate(zip(*match_ranges(parts, listed, ("range",)), strict=True)):
        if low < high:
            yield _described(listed.slice(low, high), parts.slice(i, i + 1), settings, digest)


def _described(listed: Block, part: Block, settings: ChunkSettings, digest: bool) -> Block:
    rows, starts, ends = (listed.array(name) for name in ("row", "start", "end"))
    chunks = np.flatnonzero(listed.array("kind") == LabelKind.CHUNK)
    texts: list[bytes] = [b""] * len(listed)
    lengths, digests = ends - starts, np.zeros(len(listed), DIGEST)
    for pages in numbered_rows(part, text_columns(settings), np.sort(rows[chunks])):
        of_pages = ChunkTexts.of(pages.rows, settings)
        at = np.searchsorted(pages.row, rows)
        at[at == len(pages.row)] = 0
        for k in chunks[pages.row[at[chunks]] == rows[chunks]]:
            chunk = of_pages.hashed(int(at[k]), int(starts[k]), int(ends[k]))
            lengths[k] = len(chunk)
            texts[k] = of_pages.shown(int(at[k]), chunk)
            if digest:
                digests[k] = digest_of(chunk)
    return listed.with_columns(
        bytes=lengths, text=VarBytes.from_list(texts), nilsimsa=digest_column(digests))


@gives(only(LABEL_ROWS, *KEY, "source_url", "domains"))
def sources(named: Block) -> Block:
    """What was found and where it was first captured, as detection reads labels."""
    return named.select(KEY).with_columns(
        source_url=Maybe.unless_empty(named.strings("first_url")),
        domains=Maybe(named.array("domains"), np.ones(len(named), np.bool_)))


@gives(LABEL_ROWS)
def label_rows(described: Block) -> Block:
    """What was found as label rows: its source is the page it was first captured on."""
    return sources(described).with_columns(
        bytes=Maybe(described["bytes"], np.ones(len(described), np.bool_)),
        text=Maybe.unless_empty(described.strings("text")), nilsimsa=described["nilsimsa"])
