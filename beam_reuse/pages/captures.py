"""Which capture of a URL is the page.

In rows of captures `key` is what the page will be called, and `age` minus the timestamp; a capture
without one is the oldest. Where one capture is kept they are sorted by `age` and `sha1`, where each
is kept by `sha1` before `age`: the first of equals counts.
"""

import datetime
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import NUMBER, PART, SHA1, TEXT, TIME, columns, gives
from beam_reuse.io.part_columns import NO_TIME
from beam_reuse.rows.results import Tagged

KEY = "key"
CAPTURES = columns(key=TEXT, age=TIME, sha1=SHA1, file=TEXT, offset=NUMBER, range=PART, row=NUMBER,
                   absent=NUMBER)
LATEST_FIRST = ("age", "sha1", "file", "offset")
BY_PAYLOAD = ("sha1", "age", "file", "offset")
DROPPED = "dropped"
DROPPED_CAPTURES = columns(CAPTURES, reason=TEXT)
OLDER, SAME = "older-capture", "same-capture"
_NO_STAMP = "0" * 14
_EPOCH = datetime.datetime(1970, 1, 1)


def ages(timestamps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sortable ages: the latest first, no timestamp last."""
    return np.where(timestamps == NO_TIME, np.iinfo(np.int64).max, -timestamps)


def capture_keys(urls: VarBytes, timestamps: NDArray[np.int64]) -> VarBytes:
    """`URL#YYYYMMDDhhmmss` for each capture; fourteen zeros where the time is not known."""
    pairs = zip(urls.to_list(), timestamps.tolist(), strict=True)
    return VarBytes.from_list([url + b"#" + _stamp(time).encode() for url, time in pairs])


@gives(CAPTURES, {DROPPED: DROPPED_CAPTURES})
def keep_latest(captures: Block, starts: NDArray[np.int64]) -> Iterator[Block | Tagged]:
    """The first capture of each key; the others are dropped as older captures."""
    first = np.zeros(len(captures), np.bool_)
    first[starts] = True
    yield captures.take(first)
    yield from _drop(captures.take(~first), OLDER)


@gives(CAPTURES, {DROPPED: DROPPED_CAPTURES})
def keep_each(captures: Block, starts: NDArray[np.int64]) -> Iterator[Block | Tagged]:
    """Every capture with a payload of its own; further payloads of a key get `~2`, `~3`."""
    distinct = captures.starts((KEY, "sha1"))
    kept = captures.take(distinct)
    group = np.searchsorted(starts, distinct, side="right")
    new = np.r_[True, group[1:] != group[:-1]]
    runs = np.flatnonzero(new)
    ordinal = np.arange(len(kept)) - np.repeat(runs, np.diff(np.r_[runs, len(kept)]))
    if ordinal.any():
        keys = kept.strings(KEY).to_list()
        for row in np.flatnonzero(ordinal):
            keys[row] += f"~{ordinal[row] + 1}".encode()
        kept = kept.with_columns(key=VarBytes.from_list(keys))
    yield kept
    again = np.ones(len(captures), np.bool_)
    again[distinct] = False
    yield from _drop(captures.take(again), SAME)


def _drop(captures: Block, reason: str) -> Iterator[Tagged]:
    if len(captures):
        reasons = VarBytes.from_list([reason.encode()] * len(captures))
        yield Tagged(DROPPED, captures.with_columns(reason=reasons))


def _stamp(microseconds: int) -> str:
    if microseconds == NO_TIME:
        return _NO_STAMP
    try:
        moment = _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return _NO_STAMP
    return f"{moment:%Y%m%d%H%M%S}".rjust(14, "0")
