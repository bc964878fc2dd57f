"""Nilsimsa in plain Python: lists, dicts and the definition, one trigram after another."""

import re
from collections import Counter
from collections.abc import Sequence

WHITE_RUN = re.compile(rb"[\t\n\v\f\r ]+")


def permutation() -> list[int]:
    """The 256 values TRAN: a small generator that takes the next free value on a clash."""
    table: list[int] = []
    value = 0
    for _ in range(256):
        value = 2 * ((53 * value + 1) % 256)
        if value > 255:
            value -= 255
        while value in table:
            value = (value + 1) % 256
        table.append(value)
    return table


TRAN = permutation()


def trigrams(data: bytes) -> list[tuple[int, int, int, int]]:
    """(first, second, third byte, number of the pattern) of all trigrams of a chunk.

    Every byte makes trigrams with two of the four before it: one pattern as soon as there are
    two bytes before, two more with three, five more with four.
    """
    found = []
    for at, last in enumerate(data):
        before = [data[at - back] if at >= back else None for back in range(5)]
        _, b1, b2, b3, b4 = before
        if b2 is not None:
            found.append((last, b1, b2, 0))
        if b3 is not None:
            found += [(last, b1, b3, 1), (last, b2, b3, 2)]
        if b4 is not None:
            found += [(last, b1, b4, 3), (last, b2, b4, 4), (last, b3, b4, 5),
                      (b4, b1, last, 6), (b4, b3, last, 7)]
    return found


def accumulator(a: int, b: int, c: int, pattern: int) -> int:
    """Which of the 256 counters a trigram belongs to."""
    return ((TRAN[(a + pattern) % 256] ^ (TRAN[b] * (2 * pattern + 1)) % 256)
            + TRAN[c ^ TRAN[pattern]]) % 256


def digest(data: bytes) -> bytes:
    """32 bytes; counter i is bit i of them as one big-endian number."""
    found = trigrams(data)
    counts = Counter(accumulator(*trigram) for trigram in found)
    number = sum(1 << i for i, count in counts.items() if 256 * count > len(found))
    return number.to_bytes(32, "big")


def normalised(chunk: bytes) -> bytes:
    return WHITE_RUN.sub(b" ", chunk).strip(b" ")


def score(a: bytes, b: bytes) -> int:
    differing = int.from_bytes(a, "big") ^ int.from_bytes(b, "big")
    return 128 - bin(differing).count("1")


def best(labels: Sequence[tuple[bytes, int]], query: bytes, threshold: int) -> tuple[int, int]:
    """(row, score) of the label (digest, row) most like `query`, the smallest row among
    equals; (-1, -129) if none reaches `threshold`. Digests of zeros never match."""
    scored = [(-score(label, query), row) for label, row in labels if any(label) and any(query)]
    if not scored or -min(scored)[0] < threshold:
        return -1, -129
    worst, row = min(scored)
    return row, -worst
