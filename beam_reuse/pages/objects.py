"""Files and chunks that count: what is left of the pages without stop hashes.

The one place where stop chunks are removed; every analysis of reuse reads pages through it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.core.stop_chunks import builtin_chunk_hashes, builtin_file_hashes
from beam_reuse.io.files import join
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.compact_writer import write_hash_set
from beam_reuse.io.labels.lists import read_stop_list
from beam_reuse.pages.rows import (
    CHUNK_COLUMNS,
    ChunkRows,
    NumberedRows,
    chunk_rows,
)
from beam_reuse.pages.texts import chunk_tokens, text_columns


@dataclass(frozen=True)
class CountedChunks:
    """Chunks that count, with their `position` among all chunks of their page; `stopped` is
    the number of stop chunks of each page."""

    rows: ChunkRows
    position: NDArray[np.int64]
    stopped: NDArray[np.int64]


@dataclass(frozen=True)
class Objects:
    """How pages become files and chunks that count. The stop hashes lie in files that all
    workers read; '' where there are none."""

    chunks: ChunkSettings
    min_chunk_bytes: int = 0
    min_chunk_tokens: int = 0
    chunk_stops: str = ""
    file_stops: str = ""

    @staticmethod
    @lru_cache(maxsize=8)
    def of(chunks: ChunkSettings, stops: StopSettings, folder: str) -> "Objects":
        """The rule of these settings; its stop hashes are written below `folder`, which all
        workers can read."""
        file_stops, chunk_stops = (
            [hashes for path in stops.lists for hashes in read_stop_list(path, chunks, kind)]
            for kind in (LabelKind.FILE, LabelKind.CHUNK))
        if stops.builtin:
            chunk_stops.append(builtin_chunk_hashes(chunks))
            file_stops.append(builtin_file_hashes())
        return Objects(chunks, stops.min_chunk_bytes, stops.min_chunk_tokens,
                       _written(folder, chunk_stops), _written(folder, file_stops))

    def chunks_of(
        self, parts: Block, columns: Sequence[str] = (), places: bool = True,
    ) -> Iterator[CountedChunks]:
        """The chunks that count of all pages of the parts, some row groups at a time, with further
        `columns` of their pages; without `places` only the hashes are sure to be read."""
        if self.min_chunk_tokens:
            columns, places = (*columns, *text_columns(self.chunks)), True
        needed = CHUNK_COLUMNS if places else ("chunk_length",) if self.min_chunk_bytes else ()
        for rows in chunk_rows(parts, columns, needed):
            counts = np.ones(len(rows.sha1), np.bool_)
            if self.min_chunk_bytes:
                counts = rows.length >= self.min_chunk_bytes
            if self.chunk_stops:
                counts &= ~CompactList.open(self.chunk_stops).hashes.contain(rows.sha1)
            if self.min_chunk_tokens:
                some = np.flatnonzero(counts)
                counts[some] = chunk_tokens(rows, some) >= self.min_chunk_tokens
            yield _counted(rows, counts)

    def counted_files(self, pages: NumberedRows) -> NDArray:
        """The hashes of the pages' files that count; needs the column `sha1`."""
        return pages.rows.numbers("sha1")[self.file_counts(pages)]

    def file_counts(self, pages: NumberedRows) -> NDArray[np.bool_]:
        """Whether the file of each page counts; needs the column `sha1`."""
        if not self.file_stops:
            return np.ones(len(pages), np.bool_)
        return ~CompactList.open(self.file_stops).hashes.contain(pages.rows.numbers("sha1"))


def _counted(rows: ChunkRows, counts: NDArray[np.bool_]) -> CountedChunks:
    before = np.diff(rows.offsets)
    position = np.arange(len(counts)) - np.repeat(rows.offsets[:-1], before)
    if counts.all():
        return CountedChunks(rows, position, np.zeros(len(before), np.int64))
    kept_before = np.concatenate([[0], np.cumsum(counts)])
    offsets = kept_before[rows.offsets]
    kept = np.flatnonzero(counts)
    return CountedChunks(rows.take(kept, offsets), position[kept], before - np.diff(offsets))


def _written(folder: str, hashes: list[NDArray]) -> str:
    """A hash set of all `hashes`; equal ones have one file, whoever asks first writes it."""
    if not any(map(len, hashes)):
        return ""
    name = hashlib.sha256(b"".join(part.tobytes() for part in hashes)).hexdigest()[:16]
    path = join(folder, f"stop-{name}")
    write_hash_set(path, hashes)
    return path
