"""Finding labels and their sources in a compact list, in a process that stays small.

Rows and names are read from the file a few at a time, never through the mapping, so that
memory does not grow with the list or with what was found in it.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1
from beam_reuse.core.labels import LabelKind
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.layout import NO_SOURCE, ROW, unpack_labels
from beam_reuse.kernels.byte_rows import byte_rows
from beam_reuse.kernels.sorted_hashes import find_in_ranges

ROWS_AT_ONCE = 64
RUN_ROWS = 1 << 16
_KEPT_NAMES = 1 << 16
_KEPT_RUNS = 1 << 10
_LOW = np.int64(0xFFFFFFFF)


@dataclass(frozen=True)
class Hits:
    """Which of the hashes that were asked for are labels.

    `at`: their places among those asked, ascending; `sources`: the strongest source of each, None
    if it has none; `numbers`: how many sources; `own`: whether one of them is on the domain of who
    asked; `by_domain`: for each registered domain, how many of the others have a source there.
    """

    at: NDArray[np.int64]
    sources: list[str | None]
    numbers: list[int]
    own: list[bool]
    by_domain: dict[str, int]


class LabelLookup:
    """Answers from one compact list. Memory: the list's filter and index, 2.5 bytes a label,
    and what was found lately, up to some 20 MB."""

    def __init__(self, labels: CompactList) -> None:
        self._labels = labels
        self._rows_start = labels.layout.sections["rows"].start
        self._names_start = labels.layout.sections["names"].start
        self._name = lru_cache(_KEPT_NAMES)(self._read_name)
        self._long_run = lru_cache(_KEPT_RUNS)(self._read_long_run)
        self._domain = lru_cache(_KEPT_RUNS)(self._find_domain)

    def find(self, hashes: NDArray, kind: LabelKind, owner: str = "") -> Hits:
        """The labels of `kind` (or of any) among `hashes` ('V20'), exactly. `owner` is the domain
        of who asks, if any.

        Cost: some 30 ns per hash that is no label, some 3 µs per one that is. A hash with
        thousands of sources takes longer the first time.
        """
        at, low, high = self._labels.hashes.ranges(hashes)
        if not len(at):
            return _NOTHING
        runs = [
            _Run(self._read_rows(a, b)) if b - a <= ROWS_AT_ONCE
            else self._long_run(hashes[i].tobytes(), a, b)
            for i, a, b in zip(at.tolist(), low.tolist(), high.tolist(), strict=True)
        ]
        pieces = [run.rows for run in runs]
        bounds = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(piece) // ROW.itemsize for piece in pieces], out=bounds[1:])
        rows = np.frombuffer(b"".join(pieces), ROW)
        first, end = find_in_ranges(byte_rows(rows), bounds[:-1], bounds[1:], byte_rows(hashes), at)
        if not (first < end).any():
            return _NOTHING
        hits = self._hits(at, rows, first, end, kind, self._domain(owner))
        longer = {int(at[i]): run.numbers[kind] for i, run in enumerate(runs) if run.numbers}
        numbers = [longer.get(place, number)
                   for place, number in zip(hits.at.tolist(), hits.numbers, strict=True)]
        return replace(hits, numbers=numbers)

    def _hits(self, at: NDArray[np.int64], rows: NDArray, first: NDArray[np.int64],
              end: NDArray[np.int64], kind: LabelKind, owner: int) -> Hits:
        """Hits from candidates: rows first[i] to end[i] - 1 have the hash at[i]; `owner` is the
        number of a domain."""
        lengths = end - first
        which = np.repeat(np.arange(len(at)), lengths)
        row = np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths - first, lengths)
        sources, kinds = unpack_labels(rows["label"][row])
        fits = (kinds == kind) | (kinds == LabelKind.ANY)
        which, sources = which[fits], sources[fits].astype(np.int64)
        hit, strongest = np.unique(which, return_index=True)
        known = sources != NO_SOURCE
        domains = self._labels.domains[sources[known]].astype(np.int64)
        own = np.zeros(len(at), np.bool_)
        own[which[known][domains == owner]] = True
        several = np.unique(which[known] << 32 | sources[known]) >> 32
        pairs = np.unique((which[known] << 32 | domains)[~own[which[known]]])
        numbers, counts = np.unique(pairs & _LOW, return_counts=True)
        return Hits(
            at[hit], [self._name(number) for number in sources[strongest].tolist()],
            np.bincount(several, minlength=len(at))[hit].tolist(), own[hit].tolist(),
            {str(self._name(number)): count
             for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)})

    def _find_domain(self, domain: str) -> int:
        """The number of a name, or -1 if there is none such."""
        wanted = domain.encode()
        names = range(self._labels.layout.names)
        place = bisect_left(names, wanted, key=self._name_bytes)
        return place if domain and place in names and self._name_bytes(place) == wanted else -1

    def _read_rows(self, low: int, high: int) -> bytes:
        return self._labels.file.read(
            self._rows_start + low * ROW.itemsize, (high - low) * ROW.itemsize)

    def _read_name(self, number: int) -> str | None:
        if number == NO_SOURCE:
            return None
        return self._name_bytes(number).decode("utf-8", "replace")

    def _name_bytes(self, number: int) -> bytes:
        low, high = self._labels.name_offsets[number:number + 2].tolist()
        return self._labels.file.read(self._names_start + low, high - low)

    def _read_long_run(self, sha1: bytes, low: int, high: int) -> "_Run":
        """The rows of one hash among very many, of these only the first of each kind and
        domain: all that matters here, since rows are sorted, but for how many sources there are."""
        first = low + bisect_left(
            range(low, high), sha1,
            key=lambda row: self._read_rows(row, row + 1)[:SHA1.itemsize])
        kept: dict[int, bytes] = {}
        labels = [np.zeros(0, np.uint32)]
        for at in range(first, high, RUN_ROWS):
            rows = np.frombuffer(self._read_rows(at, min(at + RUN_ROWS, high)), ROW)
            same = (byte_rows(rows["sha1"]) == np.frombuffer(sha1, np.uint8)).all(axis=1)
            count = len(rows) if same.all() else int(np.argmin(same))
            sources, kinds = unpack_labels(rows["label"][:count])
            domains = np.full(count, NO_SOURCE, np.int64)
            known = sources != NO_SOURCE
            domains[known] = self._labels.domains[sources[known]]
            keys, places = np.unique(domains << 2 | kinds, return_index=True)
            labels.append(rows["label"][:count].astype(np.uint32))
            for key, place in zip(keys.tolist(), places.tolist(), strict=True):
                kept.setdefault(key, rows[place].tobytes())
            if count < len(rows):
                break
        return _Run(b"".join(sorted(kept.values())), _sources_by_kind(np.concatenate(labels)))


@dataclass(frozen=True)
class _Run:
    """Some rows, and for each kind how many sources the hash has there, if these are not all."""

    rows: bytes
    numbers: Mapping[LabelKind, int] = field(default_factory=dict)


def _sources_by_kind(labels: NDArray[np.uint32]) -> dict[LabelKind, int]:
    """How many distinct sources a hash with these labels has as each kind."""
    sources, kinds = unpack_labels(labels)
    known = sources != NO_SOURCE
    return {kind: len(np.unique(sources[known & ((kinds == kind) | (kinds == LabelKind.ANY))]))
            for kind in (LabelKind.FILE, LabelKind.CHUNK)}


_NOTHING = Hits(np.zeros(0, np.int64), [], [], [], {})
