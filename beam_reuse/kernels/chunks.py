"""Where chunks begin, and their hashes: loops over the raw bytes of one page."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.sha1 import DIGEST_BYTES, sha1_into

_LESS_THAN, _NEWLINE, _RETURN, _SPACE = 0x3C, 0x0A, 0x0D, 0x20


@kernel
def _is_white(byte: np.uint8) -> bool:
    """One of the six bytes 09-0D and 20."""
    return bool(byte == _SPACE or 9 <= byte <= 13)


@kernel
def _grow(values: np.ndarray, used: int) -> np.ndarray:
    """The same values with room for at least one more."""
    if used < len(values):
        return values
    larger = np.empty(2 * len(values), values.dtype)
    larger[:used] = values
    return larger


@kernel
def tag_starts(data: np.ndarray, tags: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """0 and every position above 0 where one of `tags` starts, then `len(data)`.

    `tags` holds one lower-case name per row, padded with zeros; a byte after the name that
    is set in `ends` (256 booleans) makes it a tag. One pass.
    """
    size = len(data)
    bounds = np.empty(16 + size // 256, np.int64)
    bounds[0] = 0
    used = 1
    for at in range(1, size):
        if data[at] != _LESS_THAN:
            continue
        for tag in range(tags.shape[0]):
            i = 0
            while i < tags.shape[1] and tags[tag, i] and at + 1 + i < size:
                byte = data[at + 1 + i]
                if 0x41 <= byte <= 0x5A:
                    byte += np.uint8(0x20)
                if byte != tags[tag, i]:
                    break
                i += 1
            named = i == tags.shape[1] or tags[tag, i] == 0
            if named and at + 1 + i < size and ends[data[at + 1 + i]]:
                bounds = _grow(bounds, used)
                bounds[used] = at
                used += 1
                break
    bounds = _grow(bounds, used)
    bounds[used] = size
    return bounds[:used + 1].copy()


@kernel
def paragraph_starts(data: np.ndarray) -> np.ndarray:
    """0 and the start of every line that is not blank and follows one that is; `len(data)`.

    A line ends at `\\n`, `\\r\\n` or `\\r`; a blank one holds white space only. One pass.
    """
    size = len(data)
    bounds = np.empty(16 + size // 256, np.int64)
    bounds[0] = 0
    used = 1
    line = 0
    blank_before = False
    blank = True
    at = 0
    while at < size:
        byte = data[at]
        at += 1
        if byte in (_NEWLINE, _RETURN):
            if byte == _RETURN and at < size and data[at] == _NEWLINE:
                at += 1
            blank_before = blank
            blank = True
            line = at
        elif blank and not _is_white(byte):
            blank = False
            if blank_before and line > 0:
                bounds = _grow(bounds, used)
                bounds[used] = line
                used += 1
    bounds = _grow(bounds, used)
    bounds[used] = size
    return bounds[:used + 1].copy()


@kernel
def _squeeze(data: np.ndarray, start: int, end: int, out: np.ndarray) -> int:
    """Copy `data[start:end]` to `out` with each run of white space as one space and none at
    the ends; the number of bytes written."""
    used = 0
    pending = False
    for at in range(start, end):
        byte = data[at]
        if _is_white(byte):
            pending = used > 0
        else:
            if pending:
                out[used] = _SPACE
                used += 1
                pending = False
            out[used] = byte
            used += 1
    return used


@kernel
def hash_chunks(
    data: np.ndarray, bounds: np.ndarray, squeeze: bool
) -> tuple[np.ndarray, np.ndarray]:
    """SHA-1 (rows of 20 bytes) and length of each `data[bounds[i]:bounds[i+1]]`, after its
    white space is squeezed if asked. Memory: one copy of the longest chunk."""
    count = len(bounds) - 1
    digests = np.empty((count, DIGEST_BYTES), np.uint8)
    lengths = np.empty(count, np.int64)
    longest = 0
    for i in range(count):
        longest = max(longest, bounds[i + 1] - bounds[i])
    clean = np.empty(longest, np.uint8)
    state = np.empty(5, np.uint32)
    words = np.empty(80, np.uint32)
    tail = np.empty(128, np.uint8)
    for i in range(count):
        start, end = bounds[i], bounds[i + 1]
        if squeeze:
            used = _squeeze(data, start, end, clean)
            sha1_into(digests[i], clean, 0, used, state, words, tail)
            lengths[i] = used
        else:
            sha1_into(digests[i], data, start, end, state, words, tail)
            lengths[i] = end - start
    return digests, lengths
