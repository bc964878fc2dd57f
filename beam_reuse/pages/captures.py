"""Which capture of a URL is the page.

In rows of captures `key` is what the page will be called, `age` as in `ages`, and `fetched` the URL
as fetched where that is another than the page's. Where one capture is kept they are sorted by `age`
and `sha1`, where each is kept by `sha1` before `age`: the first of equals counts.
"""

import datetime
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.schema import FLAG, NUMBER, PART, SHA1, TEXT, TIME, columns, gives, less
from beam_reuse.io.results import tables
from beam_reuse.pages.sides import Sides
from beam_reuse.rows.results import Tagged

KEY = "key"
CAPTURES = columns(key=TEXT, age=TIME, sha1=SHA1, file=TEXT, offset=NUMBER, range=PART, row=NUMBER,
                   absent=NUMBER, fetched=TEXT)
KEPT_CAPTURES = less(CAPTURES, "fetched")
LATEST_FIRST = ("age", "sha1", "file", "offset")
BY_PAYLOAD = ("sha1", "age", "file", "offset")
DROPPED, FETCHED_AGAIN = "dropped", "fetched again"
AGAIN = columns(url=TEXT, same=FLAG, age=TIME, old_age=TIME, range=PART, row=NUMBER, old_range=PART,
                old_row=NUMBER)
OLDER, SAME = "older-capture", "same-capture"
_NO_STAMP = "0" * 14
_SIGN = np.uint64(1 << 63)
_NEVER = np.uint64(2**64 - 1)
_EPOCH = datetime.datetime(1970, 1, 1)


def ages(timestamps: Maybe) -> NDArray[np.int64]:
    """Numbers in the order in which captures are looked at: the latest first, those without a
    timestamp last."""
    return np.where(timestamps.valid, -timestamps.values, np.iinfo(np.int64).max)


def times_of(age: NDArray[np.int64]) -> Maybe:
    """The timestamps of which `ages` has made these numbers."""
    known = age != np.iinfo(np.int64).max
    return Maybe(np.where(known, -age, 0), known)


def earliest_first(timestamps: Maybe) -> NDArray[np.uint64]:
    """Numbers in the order of time, those without a timestamp last."""
    return np.where(timestamps.valid, timestamps.values.view(np.uint64) ^ _SIGN, _NEVER)


def timestamps_of(order: NDArray[np.uint64]) -> Maybe:
    """The timestamps of which `earliest_first` has made these numbers."""
    return Maybe((order ^ _SIGN).view(np.int64), order != _NEVER)


def capture_keys(urls: VarBytes, timestamps: Maybe) -> VarBytes:
    """`URL#YYYYMMDDhhmmss` for each capture; fourteen zeros where the time is not known."""
    stamps = (_stamp(time) if known else _NO_STAMP for time, known in zip(
        timestamps.values.tolist(), timestamps.valid.tolist(), strict=True))
    return VarBytes.from_list([
        url + b"#" + stamp.encode() for url, stamp in zip(urls.to_list(), stamps, strict=True)])


@gives(KEPT_CAPTURES, {DROPPED: tables.SKIPPED.rows, FETCHED_AGAIN: AGAIN})
def keep_latest(
    captures: Block, starts: NDArray[np.int64], sides: Sides,
) -> Iterator[Block | Tagged]:
    """The first capture of each key; the others are dropped as older captures. FETCHED_AGAIN: new
    pages that a baseline has, too, each with its latest capture there."""
    first = np.zeros(len(captures), np.bool_)
    first[starts] = True
    yield captures.take(first).without("fetched")
    older = captures.take(~first)
    yield from _drop(older, OLDER, older.strings(KEY), sides)
    if sides.are_two:
        yield Tagged(FETCHED_AGAIN, _fetched_again(captures, starts, sides))


def _fetched_again(captures: Block, starts: NDArray[np.int64], sides: Sides) -> Block:
    new = sides.new_parts(captures.array("range"))
    old = np.flatnonzero(~new)
    at = np.searchsorted(old, starts)
    ends = np.append(starts[1:], len(captures))
    there = at < len(old)
    there[there] = old[at[there]] < ends[there]
    there &= new[starts]
    latest, before = captures.take(starts[there]), captures.take(old[at[there]])
    return Block({
        "url": latest[KEY], "same": latest.array("sha1") == before.array("sha1"),
        "age": latest["age"], "old_age": before["age"], "range": latest["range"],
        "row": latest["row"], "old_range": before["range"], "old_row": before["row"]})


@gives(KEPT_CAPTURES, {DROPPED: tables.SKIPPED.rows, FETCHED_AGAIN: AGAIN})
def keep_each(
    captures: Block, starts: NDArray[np.int64], sides: Sides,
) -> Iterator[Block | Tagged]:
    """Every capture with a payload of its own; further payloads of a key get `~2`, `~3`."""
    distinct = captures.starts((KEY, "sha1"))
    kept = captures.take(distinct).without("fetched")
    group = np.searchsorted(starts, distinct, side="right")
    new = np.r_[True, group[1:] != group[:-1]]
    runs = np.flatnonzero(new)
    ordinal = np.arange(len(kept)) - np.repeat(runs, np.diff(np.r_[runs, len(kept)]))
    if ordinal.any():
        keys = kept.strings(KEY).to_list()
        for row in np.flatnonzero(ordinal):
            keys[row] += f"~{ordinal[row] + 1}".encode()
        kept = kept.with_columns(key=VarBytes.from_list(keys))
    names = kept.strings(KEY)
    yield kept.sort((KEY,)) if ordinal.any() else kept  # `~10` before `~2`
    again = np.ones(len(captures), np.bool_)
    again[distinct] = False
    stays = np.searchsorted(distinct, np.flatnonzero(again)) - 1
    yield from _drop(captures.take(again), SAME, names.take(stays), sides)


def _drop(
    captures: Block, reason: str, because_of: VarBytes, sides: Sides,
) -> Iterator[Tagged]:
    """What is dropped of the new crawl."""
    new = np.flatnonzero(sides.new_parts(captures.array("range")))
    captures, because_of = captures.take(new), because_of.take(new)
    if n := len(captures):
        reasons = VarBytes.from_list([reason.encode()] * n)
        stays = Maybe(because_of, np.ones(n, np.bool_))
        yield Tagged(DROPPED, skipped(captures, reasons, stays))


def skipped(captures: Block, reasons: VarBytes, because_of: Maybe) -> Block:
    """Captures that became no page, as rows of the table `skipped`."""
    urls = [fetched or key.partition(b"#")[0] for fetched, key in zip(
        captures.strings("fetched").to_list(), captures.strings(KEY).to_list(), strict=True)]
    return Block({
        "file": captures["file"], "offset": captures["offset"], "url": VarBytes.from_list(urls),
        "reason": reasons, "because_of": because_of,
    })


def _stamp(microseconds: int) -> str:
    try:
        moment = _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return _NO_STAMP
    return f"{moment:%Y%m%d%H%M%S}".rjust(14, "0")
