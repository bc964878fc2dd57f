"""Sampling and evaluation by their definitions: whole tables, dicts and sorts."""

import datetime
import math
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


# Near-duplicates: judged pairs are dicts with verdict (correct, incorrect, undecided), weight,
# same_site, b, c, combined, hybrid, and both similarities (None where not known).


def counts(pairs: Iterable[Row], weigh: bool) -> dict[str, Any]:
    """Pairs by verdict, and precision with and without the undecided."""
    sums: dict[str, Any] = {name: Fraction(0) for name in ("correct", "incorrect", "undecided")}
    for pair in pairs:
        sums[pair["verdict"]] += pair["weight"] if weigh else 1
    return {**sums, "precision": ratio(sums["correct"], sum(sums.values())),
            "decided": ratio(sums["correct"], sums["correct"] + sums["incorrect"])}


def ratio(part: Any, whole: Any) -> Fraction | None:
    return Fraction(part) / Fraction(whole) if whole else None


def correct(pairs: Iterable[Row], weigh: bool = False) -> Any:
    return counts(pairs, weigh)["correct"]


def pair_part(pairs: Sequence[Row], split: str, value: str) -> list[Row]:
    """The pairs of a part: `all`, a site (same, different), a B-similarity, `low-high` of C."""
    if split == "all":
        return list(pairs)
    if split == "site":
        return [p for p in pairs if p["same_site"] is (value == "same")]
    low, _, high = value.partition("-")
    return [p for p in pairs
            if p[split] is not None and int(low) <= p[split] <= int(high or low)]


def pair_sweep(pairs: Sequence[Row], thresholds: Iterable[int], weigh: bool) -> list[Any]:
    """At each threshold: counts of B-similar pairs with at least this C-similarity, and R."""
    of_b = [p for p in pairs if p["b"]]
    found = []
    for t in sorted(thresholds):
        kept = [p for p in of_b if p["c_similarity"] >= t]
        r = ratio(correct(kept, weigh), correct(of_b, weigh))
        found.append((t, {**counts(kept, weigh), "r": r}))
    return found


def pair_choice(pairs: Sequence[Row], least: Fraction, weigh: bool) -> int | None:
    """The threshold with the highest precision among those with an R of `least`."""
    thresholds = {p["c_similarity"] for p in pairs if p["b"]}
    best = None
    for t, found in pair_sweep(pairs, thresholds, weigh):
        if found["r"] is not None and found["r"] >= least:
            rank = found["precision"], found["r"], t
            best = rank if best is None or rank > best else best
    return best[2] if best else None


def calibrated(pairs: Sequence[Row], lowest: int, highest: int) -> int | None:
    """The largest threshold at which C returns as many correct pairs as B."""
    of_b = correct([p for p in pairs if p["b"]], True)
    if not of_b:
        return None
    for t in range(highest, lowest - 1, -1):
        if correct([p for p in pairs if p["c"] and p["c_similarity"] >= t], True) >= of_b:
            return t
    return None


# Rows of any table: (stratum, verdict) of what was judged, and the rows that each stratum has.


def score_interval(correct: int, judged: int, rows: int) -> tuple[float, float]:
    """All shares p of which a sample like this is no surprise: its distance from p is at most 1.96
    standard errors of a sample of `judged` of `rows` rows drawn where the share is p."""
    def surprising(p: float) -> bool:
        error = math.sqrt(p * (1 - p) / judged * (rows - judged) / max(rows - 1, 1))
        return abs(correct / judged - p) > 1.959963984540054 * error

    def end(outside: float) -> float:
        inside = correct / judged
        for _ in range(100):
            middle = (outside + inside) / 2
            outside, inside = (middle, inside) if surprising(middle) else (outside, middle)
        return inside

    return end(0.0), end(1.0)


def row_precision(judged: Sequence[tuple[str, str]], rows: Mapping[str, int]) -> dict[str, Any]:
    """The share of correct rows of all strata of which some are judged, and how far it may be off:
    each stratum by its own interval, errors added as squares."""
    names = {stratum for stratum, _ in judged}
    total = sum(rows[name] for name in names)
    value = below = above = 0.0
    for name in names:
        mine = [verdict for stratum, verdict in judged if stratum == name]
        share = mine.count("correct") / len(mine)
        low, high = score_interval(mine.count("correct"), len(mine), rows[name])
        part = rows[name] / total
        value += part * share
        below += (part * (share - low)) ** 2
        above += (part * (high - share)) ** 2
    return {"rows": total, "precision": value, "low": max(value - below ** 0.5, 0),
            "high": min(value + above ** 0.5, 1)}
