"""Sampling and evaluation by their definitions: whole tables, dicts and sorts."""

import datetime
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import xxhash

from beam_reuse.kernels.fingerprint import SEED

Row = Mapping[str, Any]


def word(value: Any) -> int:
    """The fingerprint of one value."""
    if value is None:
        return 0
    if isinstance(value, str):
        data = value.encode()
    elif isinstance(value, list):
        data = b"".join(struct.pack("<Q", word(item)) for item in value)
    elif isinstance(value, float):
        data = struct.pack("<d", value)
    elif isinstance(value, datetime.datetime):
        since = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        data = struct.pack("<q", since // datetime.timedelta(microseconds=1))
    else:
        data = struct.pack("<q", int(value))
    return xxhash.xxh64_intdigest(data, SEED)


def row_hash(row: Row, seed: int) -> int:
    words = [seed, *map(word, row.values())]
    return xxhash.xxh64_intdigest(struct.pack(f"<{len(words)}Q", *words), SEED)


def sample(rows: Iterable[Row], n: int, seed: int, stratum: Callable[[Row], Any],
           labels: Mapping[Any, str]) -> list[Row]:
    """One row after another from each stratum in turn, rows in the order of their hashes and
    strata in that of their labels', until there are n; then all in the order of their hashes."""
    strata: dict[Any, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row_hash(row, seed)):
        strata[stratum(row)].append(row)
    drawn: list[Row] = []
    turn = 0
    while len(drawn) < n and any(len(rows) > turn for rows in strata.values()):
        for name in sorted(strata, key=lambda name: row_hash({"label": labels[name]}, seed)):
            if turn < len(strata[name]) and len(drawn) < n:
                drawn.append(strata[name][turn])
        turn += 1
    return sorted(drawn, key=lambda row: row_hash(row, seed))


def confusion(pages: Sequence[tuple[bool, bool]]) -> dict[str, int]:
    """TP, FP, FN, TN of pairs (is positive, is flagged)."""
    names = {(True, True): "tp", (False, True): "fp", (True, False): "fn", (False, False): "tn"}
    counts = Counter(names[pair] for pair in pages)
    return {name: counts[name] for name in ("tp", "fp", "fn", "tn")}


def sweep(pages: Sequence[tuple[bool, Fraction]]) -> list[tuple[Fraction, dict[str, int]]]:
    """The confusion at 0 and at every share, by looking at every page each time."""
    thresholds = sorted({Fraction(0), *(share for _, share in pages)})
    return [(t, confusion([(positive, share > t) for positive, share in pages]))
            for t in thresholds]
