"""Who is the likely original of each of many sets of pages: evidence after evidence narrows down
who is left. docs/origins.md has the definition."""

import numpy as np

from beam_reuse.kernels.compiled import kernel

CANONICAL, LINK, DATE, FIRST_CAPTURE, NONE = range(5)
NEVER = np.uint64(2**64 - 1)


@kernel
def _find(ordered: np.ndarray, order: np.ndarray, value: np.uint64) -> int:
    """The first row with this value, or -1; `ordered` are the values in their `order`."""
    at = np.searchsorted(ordered, value)
    return order[at] if at < len(ordered) and ordered[at] == value else -1


@kernel
def _leads(
    url: np.ndarray, canonical: np.ndarray, ordered: np.ndarray, order: np.ndarray,
) -> np.ndarray:
    """Where the canonical URL of each page leads, from page to page; 0 if it has none, or it leads
    in a circle. Linear, but for looking up URLs."""
    n = len(url)
    end = np.zeros(n, np.uint64)  # where one gets who comes to a page
    state = np.zeros(n, np.uint8)
    path = np.empty(n, np.int64)
    for row in range(n):
        length, at, found = 0, row, np.uint64(0)
        while state[at] == 0:
            state[at] = 1
            path[length] = at
            length += 1
            if canonical[at] == 0 or canonical[at] == url[at]:
                found = url[at]
                break
            after = _find(ordered, order, canonical[at])
            if after < 0:
                found = canonical[at]
                break
            at = after
        if state[at] == 2:
            found = end[at]
        for i in range(length):
            state[path[i]] = 2
            end[path[i]] = found
    out = np.zeros(n, np.uint64)
    for row in range(n):
        if canonical[row]:
            there = _find(ordered, order, canonical[row])
            out[row] = canonical[row] if there < 0 else end[there]
    return out


@kernel
def _by_canonical(
    url: np.ndarray, leads: np.ndarray, ordered: np.ndarray, order: np.ndarray, left: np.ndarray,
) -> np.uint64:
    """Leave only those in `left` that canonical URLs lead to most often, or, if these are several
    outside of the set, those that do not lead elsewhere. The one URL outside, if it is that; 0 if
    not, or if no page leads elsewhere."""
    n = len(url)
    votes = np.empty(n, np.uint64)
    count = 0
    for row in range(n):
        if leads[row] and leads[row] != url[row]:
            left[row] = False
            votes[count] = leads[row]
            count += 1
    votes = np.sort(votes[:count])
    most = 0
    for turn in range(2):  # the most votes; then who has them
        inside, outside, last, start = 0, 0, np.uint64(0), 0
        for end in range(1, count + 1):
            if end < count and votes[end] == votes[start]:
                continue
            if turn == 0:
                most = max(most, end - start)
            elif end - start == most:
                there = _find(ordered, order, votes[start])
                if there >= 0:
                    if not inside:
                        left[:] = False
                    inside += 1
                    left[there] = True
                else:
                    outside += 1
                    last = votes[start]
            start = end
    return last if not inside and outside == 1 else np.uint64(0)


@kernel
def _links(
    url: np.ndarray, host: np.ndarray, offsets: np.ndarray, targets: np.ndarray,
    ordered: np.ndarray, order: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """How many pages link to each from another host, by its first row; and for each page how many
    of the set it links to so."""
    linked, linking = np.zeros(len(url), np.int64), np.zeros(len(url), np.int64)
    for row in range(len(url)):
        for i in range(offsets[row], offsets[row + 1]):
            there = _find(ordered, order, targets[i])
            if there >= 0 and host[there] != host[row]:
                linked[there] += 1
                linking[row] += 1
    return linked, linking


@kernel
def _earliest(times: np.ndarray, left: np.ndarray) -> np.uint64:
    """Leave only those that are earliest, if some are later; their time."""
    first, last = NEVER, np.uint64(0)
    for row in range(len(times)):
        if left[row] and times[row] != NEVER:
            first, last = min(first, times[row]), max(last, times[row])
    if first < last:
        for row in range(len(times)):
            left[row] = left[row] and times[row] == first
    return first


@kernel
def _decide(
    url: np.ndarray, host: np.ndarray, canonical: np.ndarray, date: np.ndarray, time: np.ndarray,
    offsets: np.ndarray, targets: np.ndarray,
) -> tuple[int, int, int, int, int]:
    """Of one set: the row of the original (-1 if it is not in the set), the row of a page that
    names it (-1 if it is), the evidence, and how many agree and are against."""
    n = len(url)
    order = np.argsort(url, kind="mergesort")
    ordered = url[order]
    left = np.ones(n, np.bool_)
    leads = _leads(url, canonical, ordered, order)
    outside = _by_canonical(url, leads, ordered, order, left)
    copies = False
    for row in range(n):
        copies = copies or (leads[row] != 0 and leads[row] != url[row])
    if outside or (copies and left.sum() == 1):
        origin = -1 if outside else int(np.argmax(left))
        target = outside if outside else url[origin]
        agree = against = 0
        names = -1
        for row in range(n):
            agree += leads[row] == target
            against += leads[row] != 0 and leads[row] != target
            if outside and canonical[row] == outside:
                names = row
        return origin, names, CANONICAL, agree, against
    linked, linking = _links(url, host, offsets, targets, ordered, order)
    most = 0
    for row in range(n):
        if left[row]:
            most = max(most, linked[_find(ordered, order, url[row])])
    if most:
        for row in range(n):
            left[row] = left[row] and linked[_find(ordered, order, url[row])] == most
        if left.sum() == 1:
            against = -most
            for row in range(n):
                against += linking[row] > 0
            return int(np.argmax(left)), -1, LINK, most, against
    for evidence, times in ((DATE, date), (FIRST_CAPTURE, time)):
        first = _earliest(times, left)
        if left.sum() == 1:
            agree = against = 0
            for row in range(n):
                agree += times[row] != NEVER and times[row] > first
                against += times[row] < first
            return int(np.argmax(left)), -1, evidence, agree, against
    return -1, -1, NONE, 0, 0


@kernel
def decide_each(
    starts: np.ndarray, ends: np.ndarray, url: np.ndarray, host: np.ndarray, canonical: np.ndarray,
    date: np.ndarray, time: np.ndarray, offsets: np.ndarray, targets: np.ndarray,
) -> np.ndarray:
    """For each set, which has the rows from its start to its end: as `_decide`, a row each.

    `url`, `host` and `canonical` (0: none) are fingerprints, `date` and `time` numbers in the order
    of time (NEVER: not known); the page of a row links to targets[offsets[row]:offsets[row + 1]],
    each once. Cost: some 0.3 µs a page.
    """
    out = np.empty((len(starts), 5), np.int64)
    for i in range(len(starts)):
        a, b = starts[i], ends[i]
        origin, names, evidence, agree, against = _decide(
            url[a:b], host[a:b], canonical[a:b], date[a:b], time[a:b], offsets[a:b + 1], targets)
        out[i, 0] = origin + a if origin >= 0 else -1
        out[i, 1] = names + a if names >= 0 else -1
        out[i, 2], out[i, 3], out[i, 4] = evidence, agree, against
    return out
