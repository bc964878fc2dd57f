"""What discovery does to blocks of files and chunks; no Beam.

A `place` is where something stands first in a page: page number, part, row of the part, start
and end in the payload, big-endian, so that the smallest place has the smallest URL. A
`first` is time and page number: the smallest was seen first.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.label_kernels import as_candidates, digest_of, no_digests, repeated
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.distinct import number_distinct
from beam_reuse.columnar.matching import lookup, match_ranges
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.part_columns import NO_TIME
from beam_reuse.pages.objects import Objects
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.pages.texts import chunk_bytes, chunk_text

SAMPLES = 10
CANDIDATES = "candidates"
PLACE_REDUCTIONS = {"domain": "min", "pages": "sum", "place": "min", "first": "min"}
_PLACE = np.dtype([("page", ">u8"), ("part", ">u4"), ("row", ">u4"), ("start", ">u4"),
                   ("end", ">u4")])
_FIRST = np.dtype([("time", ">u8"), ("page", ">u8")])
_SIGN = np.uint64(1 << 63)
_NEVER = np.uint64(2**64 - 1)
_OF_PAGES = ("host", "domain", "timestamp")


def chunk_counts(parts: Block, objects: Objects) -> Iterator[Block]:
    """The chunks of the parts that count, each once per batch with its occurrences."""
    for chunks in objects.chunks_of(parts, places=False):
        yield _counted(chunks.rows.sha1)


def file_counts(parts: Block, objects: Objects) -> Iterator[Block]:
    """The files of the parts that count, each once per batch with its occurrences."""
    for files in objects.files_of(parts):
        yield _counted(files.sha1[files.counts])


def _counted(sha1: NDArray) -> Block:
    numbers, first = number_distinct(sha1)
    return Block({"sha1": sha1[first],
                  "count": np.bincount(numbers, minlength=len(first)).astype(np.uint64)})


def above(counts: Block, threshold: int) -> Block:
    """Counts greater than `threshold`."""
    return counts.take(counts.array("count") > threshold)


def above_auto(counts: Block, kind: str, total: dict[str, int]) -> Block:
    """Counts greater than the automatic threshold for `total` occurrences."""
    return above(counts, auto_threshold(kind, total["count"]))


def occurrence_rows(counts: Block) -> Block:
    """How many hashes of this block occur how often."""
    occurrences, distinct = np.unique(counts.array("count"), return_counts=True)
    return Block({"occurrences": occurrences.astype(np.int64), "distinct": distinct})


def histogram_table(rows: Block, kind: str) -> Block:
    """Rows of `frequency_histogram`."""
    return rows.with_columns(kind=repeated(kind, len(rows)))


def chunk_places(parts: Block, objects: Objects, frequent: Any) -> Iterator[Any]:
    """One row per page and chunk that `frequent` may hold, at the chunk's first place; tagged
    CANDIDATES, which these are in each part."""
    seen = _Seen(LabelKind.CHUNK)
    for counted in objects.chunks_of(parts, _OF_PAGES):
        chunks = counted.rows
        hits = np.flatnonzero(frequent.may_hold(Block({"sha1": chunks.sha1})))
        page = np.searchsorted(chunks.offsets, hits, side="right") - 1
        number, distinct = number_distinct(chunks.sha1[hits])
        seen.add(chunks.pages.part, chunks.sha1[hits[distinct]])
        # Chunks stand page after page in order, so the first of a page and hash is its place.
        _, first = number_distinct(number * max(len(chunks.pages), 1) + page)
        hits, page, number = hits[first], page[first], number[first]
        yield _by_host(_places(chunks.pages, page, chunks.sha1[hits], chunks.start[hits],
                               chunks.end[hits]), number)
    yield from seen.candidates()


def file_places(parts: Block, objects: Objects, frequent: Any) -> Iterator[Any]:
    """One row per page whose file counts and `frequent` may hold: all of its bytes; tagged
    CANDIDATES, which these are in each part."""
    seen = _Seen(LabelKind.FILE)
    for files in objects.files_of(parts, ("bytes", *_OF_PAGES)):
        sha1 = files.sha1
        page = np.flatnonzero(files.counts & frequent.may_hold(Block({"sha1": sha1})))
        end = files.pages.rows.numbers("bytes")[page]
        number, distinct = number_distinct(sha1[page])
        seen.add(files.pages.part, sha1[page[distinct]])
        yield _by_host(_places(files.pages, page, sha1[page], np.zeros_like(end), end), number)
    yield from seen.candidates()


class _Seen:
    """Hashes of one kind that were seen in each part."""

    def __init__(self, kind: LabelKind) -> None:
        self.kind = kind
        self.hashes: dict[int, list[NDArray]] = {}

    def add(self, part: int, sha1: NDArray) -> None:
        self.hashes.setdefault(part, []).append(sha1)

    def candidates(self) -> Iterator[TaggedOutput]:
        """Each hash once per part, as rows that ask whether it is a label."""
        for part, held in self.hashes.items():
            sha1 = np.concatenate(held)
            sha1 = sha1[number_distinct(sha1)[1]]
            rows = Block({"kind": np.full(len(sha1), self.kind, np.uint8), "sha1": sha1})
            yield TaggedOutput(CANDIDATES, as_candidates(rows, part))


def _by_host(places: Block, number: NDArray[np.int64]) -> Block:
    """Places with the same hash (`number`) and host as one row, by PLACE_REDUCTIONS."""
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


def _places(pages: NumberedRows, page: NDArray, sha1: NDArray, start: NDArray,
            end: NDArray) -> Block:
    """Rows of places in the pages with the given row numbers."""
    place = np.empty(len(page), _PLACE)
    place["page"], place["part"], place["row"] = pages.number[page], pages.part, pages.row[page]
    place["start"], place["end"] = start, end
    first = np.empty(len(page), _FIRST)
    first["time"] = _sortable(pages.rows.numbers("timestamp"))[page]
    first["page"] = pages.number[page]
    return Block({
        "sha1": sha1,
        "number": pages.number[page],
        "host": pages.rows.strings("host").hash64()[page],
        "domain": pages.rows.strings("domain").hash64()[page],
        "pages": np.ones(len(page), np.int64),
        "place": place.view(f"V{_PLACE.itemsize}"),
        "first": first.view(f"V{_FIRST.itemsize}"),
    })


def spread(rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Rows of (hash, host), sorted by hash and place -> one row per hash.

    Every host's smallest place is its smallest URL, so the first ten of them are the
    samples and the first of all is where the text is taken.
    """
    group = np.repeat(np.arange(len(starts)), sizes)
    pairs = Block({"group": group, "domain": rows.array("domain")}).sort(("group", "domain"))
    domains = np.bincount(pairs.array("group")[pairs.starts(("group", "domain"))],
                          minlength=len(starts))
    by_first = Block({"group": group, "first": rows["first"]}).sort(("group", "first"))
    page = rows.array("place").view(_PLACE)["page"].astype(np.uint64)
    samples = [page[s : s + min(n, SAMPLES)].tobytes() for s, n in zip(starts, sizes, strict=True)]
    return Block({
        "sha1": rows.array("sha1")[starts],
        "pages": np.add.reduceat(rows.array("pages"), starts),
        "hosts": sizes.astype(np.int64),
        "domains": domains.astype(np.int64),
        "place": rows.array("place")[starts],
        "first": by_first.array("first")[starts],
        "samples": VarBytes.from_list(samples),
    })


def with_occurrences(places: Block | None, counts: Block | None, min_hosts: int) -> Block | None:
    """What is really frequent and on enough hosts, with its occurrences."""
    if places is None or counts is None:
        return None
    found = lookup(places, counts, ("sha1",))
    kept = (found >= 0) & (places.array("hosts") >= min_hosts)
    occurrences = counts.array("count")[found[kept]].astype(np.int64)
    return places.take(kept).with_columns(occurrences=occurrences)


def file_lengths(listed: Block) -> Block:
    """Listed files with their lengths."""
    place = listed.array("place").view(_PLACE)
    return listed.with_columns(bytes=place["end"].astype(np.int64))


def text_requests(listed: Block) -> Block:
    """Where the text of each chunk is to be read."""
    place = listed.array("place").view(_PLACE)
    return Block({
        "range": place["part"].astype(np.uint32), "sha1": listed["sha1"],
        **{name: place[name].astype(np.int64) for name in ("row", "start", "end")},
    })


def read_texts(
    requests: Block | None, parts: Block | None, settings: ChunkSettings, digest: bool,
) -> Iterator[Block]:
    """The first characters and the length of each requested chunk, from the payloads; its
    Nilsimsa digest, if asked for."""
    if requests is None or parts is None:
        return
    for i, (low, high) in enumerate(zip(*match_ranges(parts, requests, ("range",)), strict=True)):
        if low == high:
            continue
        wanted = requests.slice(int(low), int(high))
        rows, starts, ends = (wanted.array(name) for name in ("row", "start", "end"))
        texts: list[bytes] = [b""] * len(wanted)
        lengths, digests = np.zeros(len(wanted), np.int64), no_digests(len(wanted))
        for pages in numbered_rows(parts.slice(i, i + 1), ("payload", "charset"), np.sort(rows)):
            payloads, charsets = pages.rows.batch.column("payload"), pages.rows.strings("charset")
            at = np.searchsorted(pages.row, rows)
            at[at == len(pages.row)] = 0
            for k in np.flatnonzero(pages.row[at] == rows):
                payload = payloads[int(at[k])].as_buffer()
                chunk = chunk_bytes(bytes(payload[int(starts[k]) : int(ends[k])]), settings)
                lengths[k] = len(chunk)
                texts[k] = chunk_text(chunk, charsets[int(at[k])])
                if digest:
                    digests[k] = digest_of(chunk)
        yield Block({"sha1": wanted["sha1"], "bytes": lengths, "nilsimsa": digests,
                     "text": VarBytes.from_list(texts)})


def url_requests(listed: Block) -> Block:
    """The pages whose URLs a row shows: slot 0 is the first page seen, then the samples."""
    samples = listed.strings("samples")
    counts = samples.lengths() // 8
    offsets = np.cumsum(counts) - counts
    return Block({
        "page": np.concatenate([
            listed.array("first").view(_FIRST)["page"].astype(np.uint64),
            np.frombuffer(samples.data.tobytes(), np.uint64),
        ]),
        "sha1": np.concatenate([listed.array("sha1"), np.repeat(listed.array("sha1"), counts)]),
        "slot": np.concatenate([
            np.zeros(len(listed), np.int64),
            np.arange(counts.sum()) - np.repeat(offsets, counts) + 1,
        ]),
    })


def with_texts(listed: Block | None, texts: Block | None) -> Block | None:
    """Listed chunks with their text and length."""
    if listed is None:
        return None
    found = _found(listed, texts, "text")
    assert texts is not None
    return listed.with_columns(
        **{name: texts[name].take(found) for name in ("bytes", "text", "nilsimsa")})


def with_urls(listed: Block | None, urls: Block | None) -> Block | None:
    """Rows of `frequent_files` or `frequent_chunks`."""
    if listed is None:
        return None
    _found(listed, urls, "URL")
    assert urls is not None
    urls = urls.sort(("sha1", "slot"))
    names = urls.strings("url").to_list()
    ranges = list(zip(*match_ranges(listed, urls, ("sha1",)), strict=True))
    time = listed.array("first").view(_FIRST)["time"].astype(np.uint64)
    return listed.with_columns(
        first_url=VarBytes.from_list([names[low] for low, _ in ranges]),
        first_timestamp=np.where(time == _NEVER, NO_TIME, (time ^ _SIGN).view(np.int64)),
        sample_urls=VarBytes.from_list([b"\n".join(names[low + 1 : high]) for low, high in ranges]),
    )


def _found(listed: Block, others: Block | None, what: str) -> NDArray[np.int64]:
    """For each listed hash the first row of `others`; a missing one is a defect, not data."""
    if others is not None:
        low, high = match_ranges(listed, others, ("sha1",))
        if np.all(low < high):
            return low
    raise AssertionError(f"something frequent has lost its {what} on the way")


def _sortable(timestamps: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Times as unsigned numbers in the same order, unknown ones last."""
    return np.where(timestamps == NO_TIME, _NEVER, timestamps.view(np.uint64) ^ _SIGN)


def label_rows(listed: Block, kind: LabelKind) -> Block:
    """What was found as label rows: its source is the page it was first seen on."""
    return Block({
        "sha1": listed["sha1"], "kind": np.full(len(listed), kind, np.uint8),
        "source_url": listed["first_url"], "bytes": listed["bytes"],
        "text": listed["text"] if "text" in listed else repeated("", len(listed)),
        "nilsimsa": listed["nilsimsa"] if "nilsimsa" in listed else no_digests(len(listed)),
    })
