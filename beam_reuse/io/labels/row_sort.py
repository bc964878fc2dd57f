"""Labels as sorted rows of a compact list, for lists larger than memory."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1
from beam_reuse.core.labels import source_name
from beam_reuse.io.labels.batches import evidence_of, hashes_of, kinds_of
from beam_reuse.io.labels.hash_order import sorted_distinct
from beam_reuse.io.labels.layout import NO_SOURCE, ROW, pack_labels, unpack_labels
from beam_reuse.kernels.byte_rows import byte_rows

HELD_ROWS = 1 << 20
_PARTITION_BITS = 6
_NAMES_AT_ONCE = 1 << 16
NAMES = pa.large_string()
_BY_LABEL = np.dtype([("sha1", SHA1), ("label", ">u4"), ("domains", ">u4")])


class SortedLabels:
    """Labels put in in any order and taken out as sorted, distinct rows; a context manager.

    Memory: some 150 MB for a million rows, and the distinct sources; what is more is in
    temporary files, in 64 ranges of hashes.
    """

    def __init__(self) -> None:
        self._held: list[pa.RecordBatch] = []
        self._count = 0
        self._files: list[IO[bytes]] = []
        self._stack = ExitStack()
        self._sources = pa.array([], NAMES)

    def __enter__(self) -> "SortedLabels":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Put in the labels of a batch (see `batches`)."""
        self._held.append(batch.select(["sha1", "kind", "source_url", "domains"]))
        self._count += batch.num_rows
        if self._count >= HELD_ROWS:
            self._put_away(self._take_rows())

    def take(self) -> tuple[pa.Array, NDArray[np.uint32], Iterator[NDArray]]:
        """The names (sources and their registered domains) in the order of their UTF-8 bytes,
        for each the number of its domain, and the rows (ROW) in pieces, sorted and distinct."""
        ranges: Iterable[NDArray] = [self._take_rows()]
        if self._files:
            self._put_away(*ranges)
            ranges = map(_content, self._files)
        domains = _domains(self._sources)
        names = pc.unique(pa.concat_arrays([self._sources, domains]))
        names = names.take(pc.array_sort_indices(names))
        ranks = np.append(_places(self._sources, names), np.uint32(NO_SOURCE))
        domain_of = _places(names, names)  # a domain is its own
        domain_of[ranks[:-1]] = _places(domains, names)
        return names, domain_of, (_ordered(rows, ranks) for rows in ranges)

    def _take_rows(self) -> NDArray:
        """The rows that are held; their sources are numbers of `_sources`."""
        rows = np.empty(self._count, ROW)
        urls = pa.chunked_array([batch.column("source_url") for batch in self._held], pa.string())
        sources = self._numbers(urls.cast(NAMES).combine_chunks())
        at = 0
        for batch in self._held:
            some = slice(at, at + batch.num_rows)
            rows["sha1"][some] = hashes_of(batch)
            rows["domains"][some] = evidence_of(batch)
            rows["label"][some] = pack_labels(sources[some], kinds_of(batch))
            at += batch.num_rows
        self._held, self._count = [], 0
        return rows

    def _numbers(self, urls: pa.Array) -> NDArray[np.uint32]:
        """Each URL as its number among `_sources`, where new ones are added at the end;
        NO_SOURCE for null. Costs a pass over the sources, so it takes many URLs at once."""
        coded = urls.dictionary_encode()
        known = pc.index_in(coded.dictionary, self._sources).fill_null(-1).to_numpy()
        new = known < 0
        numbers = known.astype(np.uint32)
        numbers[new] = np.arange(len(self._sources), len(self._sources) + np.count_nonzero(new))
        self._sources = pa.concat_arrays(
            [self._sources, coded.dictionary.filter(pa.array(new, pa.bool_()))])
        places = coded.indices.fill_null(len(numbers)).to_numpy(zero_copy_only=False)
        return np.append(numbers, np.uint32(NO_SOURCE))[places]

    def _put_away(self, rows: NDArray) -> None:
        if not self._files:
            self._files = [
                self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (by the stack)
                for _ in range(1 << _PARTITION_BITS)
            ]
        first_bytes = rows.view(np.uint8).reshape(len(rows), ROW.itemsize)[:, 0]
        place = first_bytes >> (8 - _PARTITION_BITS)
        rows = rows[np.argsort(place, kind="stable")]
        ends = np.cumsum(np.bincount(place, minlength=len(self._files)))
        for file, some in zip(self._files, np.split(rows, ends[:-1]), strict=True):
            file.write(some.tobytes())


def _content(file: IO[bytes]) -> NDArray:
    file.seek(0)
    return np.frombuffer(file.read(), ROW)


def _ordered(rows: NDArray, ranks: NDArray[np.uint32]) -> NDArray:
    """Sorted, distinct rows with `ranks` of sources for their numbers; the last rank is for
    those without a source. Of rows that differ in nothing but their domains the strongest stays."""
    sources, kinds = unpack_labels(rows["label"])
    by_label = np.empty(len(rows), _BY_LABEL)
    by_label["sha1"], by_label["domains"] = rows["sha1"], rows["domains"]
    by_label["label"] = pack_labels(ranks[np.minimum(sources, len(ranks) - 1)], kinds)
    by_label = sorted_distinct(by_label)
    whole = byte_rows(by_label)[:, :ROW.itemsize - 4]
    new = np.ones(len(by_label), np.bool_)
    np.any(whole[1:] != whole[:-1], axis=1, out=new[1:])
    out = np.empty(int(new.sum()), ROW)
    for name in ROW.names or ():
        out[name] = by_label[name][new]
    return sorted_distinct(out)


def _places(values: pa.Array, names: pa.Array) -> NDArray[np.uint32]:
    """The place of each value among `names`, which hold them all."""
    places: NDArray[np.uint32] = pc.index_in(values, names).to_numpy().astype(np.uint32)
    return places


def _domains(sources: pa.Array) -> pa.Array:
    """The registered domain of each source; some 3 µs each."""
    return pa.concat_arrays([
        pa.array([source_name(url) for url in sources[low:low + _NAMES_AT_ONCE].to_pylist()], NAMES)
        for low in range(0, max(len(sources), 1), _NAMES_AT_ONCE)
    ])
