"""Where chunks begin, and their hashes: loops over the bytes, or the text, of one page."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.sha1 import DIGEST_BYTES, sha1_into

_LESS_THAN, _NEWLINE, _RETURN, _SPACE = 0x3C, 0x0A, 0x0D, 0x20


@kernel
def _is_white(byte: np.uint8) -> bool:
    """One of the six bytes 09-0D and 20."""
    return bool(byte == _SPACE or 9 <= byte <= 13)


@kernel
def _ends_line(byte: np.uint8) -> bool:
    return bool(byte in (_NEWLINE, _RETURN))


@kernel
def tag_starts(data: np.ndarray, tags: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """0 and every position above 0 where one of `tags` starts, then `len(data)`.

    `tags` holds one lower-case name per row, padded with zeros; a byte after the name that
    is set in `ends` (256 booleans) makes it a tag.
    """
    bounds = np.empty(16 + len(data) // 128, np.int64)
    count = _find_tags(data, tags, ends, bounds)
    if count > len(bounds):
        bounds = np.empty(count, np.int64)
        _find_tags(data, tags, ends, bounds)
    return bounds[:count].copy()


@kernel
def paragraph_starts(data: np.ndarray) -> np.ndarray:
    """0 and the start of every line that is not blank and follows one that is; `len(data)`.

    A line ends at `\\n`, `\\r\\n` or `\\r`; a blank one holds white space only.
    """
    bounds = np.empty(16 + len(data) // 128, np.int64)
    count = _find_paragraphs(data, bounds)
    if count > len(bounds):
        bounds = np.empty(count, np.int64)
        _find_paragraphs(data, bounds)
    return bounds[:count].copy()


@kernel
def _put(bounds: np.ndarray, count: int, at: int) -> int:
    """Store a bound if there is room for it; the number of bounds so far."""
    if count < len(bounds):
        bounds[count] = at
    return count + 1


@kernel
def _find_tags(data: np.ndarray, tags: np.ndarray, ends: np.ndarray, bounds: np.ndarray) -> int:
    """Number of bounds; as many as there is room for go to `bounds`."""
    initial = np.zeros(256, np.bool_)
    for tag in range(tags.shape[0]):
        initial[tags[tag, 0]] = initial[tags[tag, 0] - 0x20] = True
    count = _put(bounds, 0, 0)
    for at in range(1, len(data) - 2):
        if data[at] == _LESS_THAN and initial[data[at + 1]]:
            for tag in range(tags.shape[0]):
                if _is_tag(data, at + 1, tags, tag, ends):
                    count = _put(bounds, count, at)
                    break
    return _put(bounds, count, len(data))


@kernel
def _is_tag(data: np.ndarray, at: int, tags: np.ndarray, tag: int, ends: np.ndarray) -> bool:
    """Is the name in row `tag`, in any case, at `at`, with an end of a name after it?"""
    for i in range(tags.shape[1]):
        letter = tags[tag, i]
        if letter == 0:
            break
        if at >= len(data) or data[at] | 0x20 != letter or data[at] < 0x30:
            return False
        at += 1
    return at < len(data) and ends[data[at]]


@kernel
def _find_paragraphs(data: np.ndarray, bounds: np.ndarray) -> int:
    """Number of bounds; as many as there is room for go to `bounds`."""
    count = _put(bounds, 0, 0)
    size = len(data)
    blank_before = False
    at = 0
    while at < size:
        line = at
        while at < size and _is_white(data[at]) and not _ends_line(data[at]):
            at += 1
        blank = at == size or _ends_line(data[at])
        if blank_before and not blank:
            count = _put(bounds, count, line)
        blank_before = blank
        for at in range(at, size):  # noqa: B020
            if _ends_line(data[at]):
                break
        at += 1
        if at < size and data[at - 1] == _RETURN and data[at] == _NEWLINE:
            at += 1
    return _put(bounds, count, len(data))


@kernel
def squeeze_white(data: np.ndarray, start: int, end: int, out: np.ndarray) -> int:
    """Copy `data[start:end]` to `out` with each run of white space as one space and none at
    the ends; the number of bytes that count. Without branches: text mispredicts them."""
    used = 0
    after_white = True
    for at in range(start, end):
        byte = data[at]
        white = _is_white(byte)
        out[used] = _SPACE if white else byte
        used += not (white and after_white)
        after_white = white
    return used - 1 if used and after_white else used


@kernel
def join_chunks(text: np.ndarray, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The chunks of a text, which begin at 0 and at `cuts`, with their white space squeezed and a
    line feed behind each; and where each begins there, then the end. Those without text are left
    out."""
    joined = np.empty(len(text) + len(cuts) + 2, np.uint8)
    bounds = np.zeros(len(cuts) + 2, np.int64)
    used = count = start = 0
    for i in range(len(cuts) + 1):
        end = cuts[i] if i < len(cuts) else len(text)
        length = squeeze_white(text, start, end, joined[used:])
        if length:
            joined[used + length] = _NEWLINE
            used += length + 1
            count += 1
            bounds[count] = used
        start = end
    return joined[:used].copy(), bounds[:count + 1].copy()


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
    clean = np.empty(longest + 1, np.uint8)
    state = np.empty(5, np.uint32)
    words = np.empty(80, np.uint32)
    tail = np.empty(128, np.uint8)
    for i in range(count):
        used = bounds[i + 1] - bounds[i]
        if squeeze:
            used = squeeze_white(data, bounds[i], bounds[i + 1], clean)
        else:
            for j in range(used):
                clean[j] = data[bounds[i] + j]
        sha1_into(digests, i, clean, used, state, words, tail)
        lengths[i] = used
    return digests, lengths
