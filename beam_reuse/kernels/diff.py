"""The shortest edit script between two sequences of fingerprints.

A box (a stretch of each sequence) is cut in two on a shortest path, each part again, so that
memory stays linear. The cut is found by Myers' O(ND) search from both ends; where there are
too many edits for it, by Hirschberg's rule with rows of bits, 64 cells at a time.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel

# A cut halves the edits or the length of a box, so this many can never wait.
_MOST_BOXES = 256
_FEW_EDITS = 256
_ALL, _NONE, _ONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0), np.uint64(1)


@kernel
def _reach(
    a: np.ndarray, b: np.ndarray, box: np.ndarray, here: np.ndarray, d: int, k: int, forward: bool,
) -> tuple[int, int]:
    """Where the furthest path of `d` edits on diagonal `k` steps on to the diagonal, and where
    it ends after all that is equal there; `here` holds the furthest ends for d - 1 edits."""
    n, m = box[1] - box[0], box[3] - box[2]
    middle = len(here) // 2
    if k == -d or (k != d and here[middle + k - 1] < here[middle + k + 1]):
        start = here[middle + k + 1]
    else:
        start = here[middle + k - 1] + 1
    x, y = start, start - k
    while x < n and y < m:
        i, j = (box[0] + x, box[2] + y) if forward else (box[1] - 1 - x, box[3] - 1 - y)
        if a[i] != b[j]:
            break
        x += 1
        y += 1
    return start, x


@kernel
def _cut(
    a: np.ndarray, b: np.ndarray, box: np.ndarray, ahead: np.ndarray, back: np.ndarray,
) -> tuple[int, int, int, int]:
    """A stretch (x, y) to (u, v) of equal values in the middle of a shortest path through `box`,
    relative to its corner; half the edits lie on either side. The box begins and ends with
    values that differ. All -1 if the path has more edits than are worth searching."""
    n, m = box[1] - box[0], box[3] - box[2]
    most = n + m if n < 2 else _FEW_EDITS + np.int64(np.sqrt(float(n) * float(m)) / 32)
    middle = len(ahead) // 2
    skew = n - m
    ahead[middle + 1] = 0
    back[middle + 1] = 0
    for d in range(most + 1):
        low, high = -(d - 2 * max(0, d - m)), d - 2 * max(0, d - n)
        for k in range(low, high + 1, 2):
            start, end = _reach(a, b, box, ahead, d, k, True)
            ahead[middle + k] = end
            other = skew - k
            if skew % 2 and -d < other < d and end + back[middle + other] >= n:
                return start, start - k, end, end - k
        for k in range(low, high + 1, 2):
            start, end = _reach(a, b, box, back, d, k, False)
            back[middle + k] = end
            other = skew - k
            if skew % 2 == 0 and -d <= other <= d and end + ahead[middle + other] >= n:
                return n - end, m - (end - k), n - start, m - (start - k)
    return -1, -1, -1, -1


@kernel
def _common(
    places: np.ndarray, first: np.ndarray, last: np.ndarray, box: np.ndarray, forward: bool,
) -> np.ndarray:
    """Lengths of the longest common subsequence of the box's stretch of a with the first 0, 1, ...
    values of its stretch of b; both from their ends if not `forward`."""
    m = box[3] - box[2]
    row = np.full(m // 64 + 1, _ALL, np.uint64)
    equal = np.zeros(m // 64 + 1, np.uint64)
    for step in range(box[1] - box[0]):
        i = box[0] + step if forward else box[1] - 1 - step
        for at in range(first[i], last[i]):
            if box[2] <= places[at] < box[3]:
                j = places[at] - box[2] if forward else box[3] - 1 - places[at]
                equal[j // 64] |= _ONE << np.uint64(j % 64)
        carry = _NONE
        for word in range(len(row)):
            kept = row[word] & equal[word]
            total = row[word] + kept
            over = total < kept
            total += carry
            carry = _ONE if over or total < carry else _NONE
            row[word] = total | (row[word] ^ kept)
        equal[:] = _NONE
    out = np.zeros(m + 1, np.int64)
    for j in range(m):
        out[j + 1] = out[j] + (row[j // 64] >> np.uint64(j % 64) & _ONE == _NONE)
    return out


@kernel
def _cut_half(
    places: np.ndarray, first: np.ndarray, last: np.ndarray, box: np.ndarray,
) -> tuple[int, int]:
    """A point on a shortest path through `box` with half of a before it, relative to its
    corner."""
    half = (box[1] - box[0]) // 2
    before, behind = box.copy(), box.copy()
    before[1] = behind[0] = box[0] + half
    ahead = _common(places, first, last, before, True)
    back = _common(places, first, last, behind, False)
    return half, int(np.argmax(ahead + back[::-1]))


@kernel
def edit_masks(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which values of `a` are deleted and which of `b` inserted by a shortest edit script.

    Exact: what is left of both is one longest common subsequence. Time near n + m + D² for few
    edits D, and never much above n * m / 64; memory linear.
    """
    places = np.argsort(b, kind="mergesort")
    ordered = b[places]
    first = np.searchsorted(ordered, a, side="left")
    last = np.searchsorted(ordered, a, side="right")
    deleted = np.zeros(len(a), np.bool_)
    inserted = np.zeros(len(b), np.bool_)
    ahead = np.zeros(2 * (len(a) + len(b)) + 5, np.int64)
    back = np.zeros(2 * (len(a) + len(b)) + 5, np.int64)
    boxes = np.zeros((_MOST_BOXES, 4), np.int64)
    box = np.array([0, len(a), 0, len(b)], np.int64)
    boxes[0] = box
    waiting = 1
    while waiting:
        waiting -= 1
        box[:] = boxes[waiting]
        while box[0] < box[1] and box[2] < box[3] and a[box[0]] == b[box[2]]:
            box[0] += 1
            box[2] += 1
        while box[0] < box[1] and box[2] < box[3] and a[box[1] - 1] == b[box[3] - 1]:
            box[1] -= 1
            box[3] -= 1
        if box[0] == box[1] or box[2] == box[3]:
            deleted[box[0]:box[1]] = True
            inserted[box[2]:box[3]] = True
            continue
        x, y, u, v = _cut(a, b, box, ahead, back)
        if x < 0:
            x, y = _cut_half(places, first, last, box)
            u, v = x, y
        boxes[waiting, 0], boxes[waiting, 1] = box[0], box[0] + x
        boxes[waiting, 2], boxes[waiting, 3] = box[2], box[2] + y
        boxes[waiting + 1, 0], boxes[waiting + 1, 1] = box[0] + u, box[1]
        boxes[waiting + 1, 2], boxes[waiting + 1, 3] = box[2] + v, box[3]
        waiting += 2
    return deleted, inserted
