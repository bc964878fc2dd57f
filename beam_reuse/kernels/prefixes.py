"""Directory prefixes of canonical URLs: loops over the bytes of many URLs."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.fingerprint import fingerprint

_SLASH, _QUERY, _COLON, _OPEN, _CLOSE, _MARK = 0x2F, 0x3F, 0x3A, 0x5B, 0x5D, 0x23
ROBOTS_TXT = b"/robots.txt"
_ROBOTS_TXT = np.frombuffer(ROBOTS_TXT, np.uint8)


@kernel
def _host_start(data: np.ndarray, start: int, end: int) -> int:
    """The byte after `://`."""
    for at in range(start, end - 2):
        if data[at] == _COLON and data[at + 1] == _SLASH and data[at + 2] == _SLASH:
            return at + 3
    return end


@kernel
def _host_end(data: np.ndarray, start: int, end: int) -> int:
    """Where the host's name ends: at its port or its path. An address in brackets holds
    colons of its own."""
    at = start
    if at < end and data[at] == _OPEN:
        while at < end and data[at] != _CLOSE:
            at += 1
    while at < end and data[at] != _COLON and data[at] != _SLASH:
        at += 1
    return at


@kernel
def _path_start(data: np.ndarray, start: int, end: int) -> int:
    at = start
    while at < end and data[at] != _SLASH:
        at += 1
    return at


@kernel
def directory_prefixes(
    offsets: np.ndarray, data: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each URL its prefixes, the host's first: (URL number, depth, offsets, bytes).

    URL i is `data[offsets[i]:offsets[i + 1]]`, canonical: scheme, `://`, host, perhaps a port,
    a path that starts with `/`, perhaps a query. Two passes: one counts, one writes.
    """
    count = size = 0
    for i in range(len(offsets) - 1):
        host = _host_start(data, offsets[i], offsets[i + 1])
        host_end = _host_end(data, host, offsets[i + 1])
        path = _path_start(data, host_end, offsets[i + 1])
        for at in range(path, offsets[i + 1]):
            if data[at] == _QUERY:
                break
            if data[at] == _SLASH:
                count += 1
                size += host_end - host + at + 1 - path
    url = np.empty(count, np.int64)
    depth = np.empty(count, np.int64)
    out_offsets = np.zeros(count + 1, np.int64)
    out = np.empty(size, np.uint8)
    row = to = 0
    for i in range(len(offsets) - 1):
        host = _host_start(data, offsets[i], offsets[i + 1])
        host_end = _host_end(data, host, offsets[i + 1])
        path = _path_start(data, host_end, offsets[i + 1])
        level = 0
        for at in range(path, offsets[i + 1]):
            if data[at] == _QUERY:
                break
            if data[at] == _SLASH:
                level += 1
                url[row] = i
                depth[row] = level
                for j in range(host, host_end):
                    out[to] = data[j]
                    to += 1
                for j in range(path, at + 1):
                    out[to] = data[j]
                    to += 1
                row += 1
                out_offsets[row] = to
    return url, depth, out_offsets, out


@kernel
def _path_end(data: np.ndarray, start: int, end: int) -> int:
    """Where the query begins, or the mark that follows the URL in the key of a capture."""
    at = start
    while at < end and data[at] != _QUERY and data[at] != _MARK:
        at += 1
    return at


@kernel
def _same_bytes(data: np.ndarray, a: int, a_end: int, b: int, b_end: int) -> bool:
    same = a_end - a == b_end - b
    at = 0
    while same and a + at < a_end:
        same = data[a + at] == data[b + at]
        at += 1
    return same


@kernel
def _directory_end(data: np.ndarray, start: int, end: int) -> int:
    """The byte after the last slash before the query."""
    last = start
    for at in range(start, end):
        if data[at] == _QUERY:
            break
        if data[at] == _SLASH:
            last = at + 1
    return last


@kernel
def enter_directory(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Which canonical URLs lie in another directory than the URL before them, or are the first."""
    out = np.ones(len(offsets) - 1, np.bool_)
    before = 0
    for i in range(len(out)):
        end = _directory_end(data, offsets[i], offsets[i + 1])
        if i:
            out[i] = not _same_bytes(data, offsets[i - 1], before, offsets[i], end)
        before = end
    return out


@kernel
def are_cut(
    offsets: np.ndarray, data: np.ndarray, max_depth: int, max_repeats: int
) -> np.ndarray:
    """Which canonical URLs are of no pages; see `urls.cut_reason`. Components of a
    path are told apart by 64-bit fingerprints."""
    out = np.zeros(len(offsets) - 1, np.bool_)
    for i in range(len(out)):
        host = _host_start(data, offsets[i], offsets[i + 1])
        path = _path_start(data, _host_end(data, host, offsets[i + 1]), offsets[i + 1])
        end = _path_end(data, path, offsets[i + 1])
        out[i] = end - path == len(_ROBOTS_TXT) and np.all(data[path:end] == _ROBOTS_TXT)
        slashes = 0
        for at in range(path, end):
            slashes += data[at] == _SLASH
        if max_depth and slashes > max_depth:
            out[i] = True
        if out[i] or not max_repeats or slashes < max_repeats:
            continue
        components = np.empty(slashes, np.uint64)
        count, start = 0, path + 1
        for at in range(path + 1, end + 1):
            if (at == end and start < end) or (at < end and data[at] == _SLASH):
                components[count] = fingerprint(data, start, at)
                count, start = count + 1, at + 1
        components = np.sort(components[:count])
        for last in range(max_repeats - 1, count):
            out[i] |= components[last] == components[last - max_repeats + 1]
    return out
