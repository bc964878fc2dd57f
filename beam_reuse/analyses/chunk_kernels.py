"""What discovery does to blocks of chunks; no Beam.

A `place` is where a chunk stands first in a page: page number, part, row of the part, start
and end in the payload, big-endian, so that the smallest place has the smallest URL. A
`first` is time and page number: the smallest was seen first.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.matching import lookup, match_ranges
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.parts import NO_TIME
from beam_reuse.pages.rows import chunk_rows, numbered_rows

SAMPLES = 10
TEXT_CHARACTERS = 1000
PLACE_REDUCTIONS = {"domain": "min", "pages": "sum", "place": "min", "first": "min"}
_PLACE = np.dtype([("page", ">u8"), ("part", ">u4"), ("row", ">u4"), ("start", ">u4"),
                   ("end", ">u4")])
_FIRST = np.dtype([("time", ">u8"), ("page", ">u8")])
_SIGN = np.uint64(1 << 63)
_NEVER = np.uint64(2**64 - 1)


def chunk_hashes(parts: Block, settings: ChunkSettings) -> Iterator[Block]:
    """One row per chunk occurrence: its hash."""
    for chunks in chunk_rows(parts, settings):
        yield Block({"sha1": chunks.sha1})


def above(counts: Block, threshold: int) -> Block:
    """Counts greater than `threshold`."""
    return counts.take(counts.array("count") > threshold)


def above_auto(counts: Block, total: dict[str, int]) -> Block:
    """Counts greater than the automatic threshold for `total` occurrences."""
    return above(counts, auto_threshold(total["count"]))


def occurrence_rows(counts: Block) -> Block:
    """How many chunks of this block occur how often."""
    occurrences, distinct = np.unique(counts.array("count"), return_counts=True)
    return Block({"occurrences": occurrences.astype(np.int64), "distinct": distinct})


def histogram_table(rows: Block) -> Block:
    """Rows of `frequency_histogram`."""
    return rows.with_columns(kind=VarBytes.from_list([b"chunk"] * len(rows)))


def chunk_places(parts: Block, settings: ChunkSettings, frequent: Any) -> Iterator[Block]:
    """One row per page and chunk that `frequent` may hold, at the chunk's first place."""
    for chunks in chunk_rows(parts, settings, ("host", "domain", "timestamp")):
        hits = np.flatnonzero(frequent.may_hold(Block({"sha1": chunks.sha1})))
        if len(hits) == 0:
            continue
        pages = chunks.pages
        page = np.searchsorted(chunks.offsets, hits, side="right") - 1
        place = np.empty(len(hits), _PLACE)
        place["page"], place["part"], place["row"] = pages.number[page], pages.part, pages.row[page]
        place["start"], place["end"] = chunks.start[hits], chunks.end[hits]
        first = np.empty(len(hits), _FIRST)
        first["time"] = _sortable(pages.rows.numbers("timestamp"))[page]
        first["page"] = pages.number[page]
        rows = Block({
            "sha1": chunks.sha1[hits],
            "number": pages.number[page],
            "host": pages.rows.strings("host").hash64()[page],
            "domain": pages.rows.strings("domain").hash64()[page],
            "pages": np.ones(len(hits), np.int64),
            "place": place.view(f"V{_PLACE.itemsize}"),
            "first": first.view(f"V{_FIRST.itemsize}"),
        }).sort(("sha1", "place"))
        yield rows.take(rows.starts(("sha1", "number"))).without("number")


def chunk_spread(rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Rows of (chunk, host), sorted by chunk and place -> one row per chunk.

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


def with_occurrences(spread: Block | None, counts: Block | None, min_hosts: int) -> Block | None:
    """Chunks that are really frequent and on enough hosts, with their occurrences."""
    if spread is None or counts is None:
        return None
    found = lookup(spread, counts, ("sha1",))
    kept = (found >= 0) & (spread.array("hosts") >= min_hosts)
    occurrences = counts.array("count")[found[kept]].astype(np.int64)
    return spread.take(kept).with_columns(occurrences=occurrences)


def text_requests(listed: Block) -> Block:
    """Where the text of each chunk is to be read."""
    place = listed.array("place").view(_PLACE)
    return Block({
        "range": place["part"].astype(np.uint32), "sha1": listed["sha1"],
        **{name: place[name].astype(np.int64) for name in ("row", "start", "end")},
    })


def read_texts(
    requests: Block | None, parts: Block | None, settings: ChunkSettings,
) -> Iterator[Block]:
    """The first characters and the length of each requested chunk, from the payloads."""
    if requests is None or parts is None:
        return
    for i, (low, high) in enumerate(zip(*match_ranges(parts, requests, ("range",)), strict=True)):
        if low == high:
            continue
        wanted = requests.slice(int(low), int(high))
        rows, starts, ends = (wanted.array(name) for name in ("row", "start", "end"))
        texts: list[bytes] = [b""] * len(wanted)
        lengths = np.zeros(len(wanted), np.int64)
        for pages in numbered_rows(parts.slice(i, i + 1), ("payload", "charset")):
            payloads, charsets = pages.rows.batch.column("payload"), pages.rows.strings("charset")
            at = np.searchsorted(pages.row, rows)
            at[at == len(pages.row)] = 0
            for k in np.flatnonzero(pages.row[at] == rows):
                payload = payloads[int(at[k])].as_buffer()
                chunk = _normalised(bytes(payload[int(starts[k]) : int(ends[k])]), settings)
                lengths[k] = len(chunk)
                text = decode_text(chunk, charsets[int(at[k])].decode())[:TEXT_CHARACTERS]
                texts[k] = text.encode("utf-8", "replace")
        yield Block({"sha1": wanted["sha1"], "bytes": lengths, "text": VarBytes.from_list(texts)})


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
    return listed.with_columns(bytes=texts.array("bytes")[found],
                               text=texts.strings("text").take(found))


def with_urls(listed: Block | None, urls: Block | None) -> Block | None:
    """Rows of `frequent_chunks`."""
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


def _normalised(chunk: bytes, settings: ChunkSettings) -> bytes:
    """The bytes of a chunk that were hashed."""
    return b" ".join(chunk.split()) if settings.normalise == "whitespace" else chunk


def _found(listed: Block, others: Block | None, what: str) -> NDArray[np.int64]:
    """For each listed chunk the first row of `others`; a missing one is a defect, not data."""
    if others is not None:
        low, high = match_ranges(listed, others, ("sha1",))
        if np.all(low < high):
            return low
    raise AssertionError(f"a frequent chunk has lost its {what} on the way")


def _sortable(timestamps: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Times as unsigned numbers in the same order, unknown ones last."""
    return np.where(timestamps == NO_TIME, _NEVER, timestamps.view(np.uint64) ^ _SIGN)
