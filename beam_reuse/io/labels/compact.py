"""Compact lists of labels (`.brl`): a file that is mapped, not loaded. `layout` has the format,
`compact_writer` writes it, `lookup` finds labels with their sources."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.labels import LabelKind, LabelSettings
from beam_reuse.io.files import open_files
from beam_reuse.io.labels.hash_order import HeldHashes
from beam_reuse.io.labels.label_settings import settings_from_json
from beam_reuse.io.labels.layout import (
    HEADER_BYTES,
    MAGIC,
    NO_SOURCE,
    ROW,
    Layout,
    damaged,
    unpack_labels,
)
from beam_reuse.io.labels.mapping import MappedFile, identity
from beam_reuse.kernels.byte_rows import byte_rows
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.sorted_hashes import LINE_WORDS, first_disorder

_CHECKED_ROWS = 1 << 19


class CompactList:
    """The labels of a compact file. Pickles as its path; open one with `CompactList.open`.

    `rows` (ROW) are sorted by hash, domains, source and kind, those without a source last of their
    hash; a source is a number of a name. `domains` has for each name that of its registered
    domain, which is a name too. `hashes` are those of all rows, of whatever kind. All are mapped:
    memory is taken by what is touched.
    """

    def __init__(self, path: str, file: MappedFile) -> None:
        self.path, self.file = path, file
        self.layout = Layout.read(file.read(0, HEADER_BYTES), len(file), path)
        self._check_sums()
        settings = self._array("settings", np.dtype(np.uint8)).tobytes()
        self.settings: LabelSettings | None = (
            settings_from_json(settings, path) if settings else None)
        self.rows = self._sized("rows", ROW, self.layout.rows)
        self.hashes = self._hashes()
        self.name_offsets = self._sized(
            "name_offsets", np.dtype(np.int64), self.layout.names + 1)
        self.names = self._array("names", np.dtype(np.uint8))
        self.domains = self._sized("domains", np.dtype(np.uint32), self.layout.names)
        self._check_values()
        file.release()

    @staticmethod
    def open(path: str) -> "CompactList":
        """The list at `path`, mapped and checked once per process; FileNotFoundError if there
        is none, UserError if its bytes are not those that were written.

        Some 0.3 s for 10 million labels, in which the file is read once.
        """
        return _open(path, identity(path))

    def __reduce__(self) -> tuple:
        return CompactList.open, (self.path,)

    def __len__(self) -> int:
        return self.layout.rows

    def _hashes(self) -> HeldHashes:
        words = self._array("filter", np.dtype(np.uint64))
        starts = self._array("index", np.dtype(np.uint64))
        prefixes = len(starts) - 1
        if not len(words) or len(words) % LINE_WORDS or len(words) // LINE_WORDS >= 1 << 32:
            raise damaged(self.path, "the length of its filter")
        if prefixes < 2 or prefixes & (prefixes - 1):
            raise damaged(self.path, "the length of its index")
        return HeldHashes(words, starts, byte_rows(self.rows))

    def _array(self, name: str, kind: np.dtype) -> NDArray:
        section = self.layout.sections[name]
        if section.length % kind.itemsize:
            raise damaged(self.path, f"the length of its {name}")
        whole = np.frombuffer(self.file.content, np.uint8, section.length, section.start)
        return frozen(whole.view(kind))

    def _sized(self, name: str, kind: np.dtype, count: int) -> NDArray:
        array = self._array(name, kind)
        if len(array) != count:
            raise damaged(self.path, f"the length of its {name}")
        return array

    def _check_sums(self) -> None:
        """Refuse a file of which any byte has changed; those between sections are zeros."""
        for name, section in self.layout.sections.items():
            if self.file.checksum(section.start, section.length) != section.checksum:
                raise damaged(self.path, f"the checksum of its {name}")
            if any(self.file.read(section.end, section.padding)):
                raise damaged(self.path, f"what follows its {name}")

    def _check_values(self) -> None:
        """Refuse what a sound writer does not write, however right its checksums are: kernels
        trust the index, and a search trusts the order."""
        for name, bounds, end in (("index", self.hashes.starts, len(self)),
                                  ("name_offsets", self.name_offsets, len(self.names))):
            if bounds[0] != 0 or bounds[-1] != end or np.any(bounds[1:] < bounds[:-1]):
                raise damaged(self.path, f"its {name}")
        if np.any(self.domains >= self.layout.names):
            raise damaged(self.path, "its domains")
        for low in range(0, len(self), _CHECKED_ROWS):
            some = self.rows[max(low - 1, 0):low + _CHECKED_ROWS]
            sources, kinds = unpack_labels(some["label"])
            if np.any((sources >= self.layout.names) & (sources != NO_SOURCE)):
                raise damaged(self.path, "the sources of its rows")
            if np.any(kinds > max(LabelKind)):
                raise damaged(self.path, "the kinds of its rows")
            if first_disorder(byte_rows(some)) >= 0:
                raise damaged(self.path, "the order of its rows")
            self.file.release()


def is_compact(path: str) -> bool:
    """Whether there is a file at `path` that begins as a compact list does."""
    try:
        with open_files(path).open(path) as source:
            return source.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@lru_cache(maxsize=64)
def _open(path: str, which: tuple[int, ...]) -> CompactList:
    """`which` distinguishes one file at a path from the next."""
    return CompactList(path, MappedFile(path))
