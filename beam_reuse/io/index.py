"""An index as an input: parts of pages and the events of its records, in a result folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.io.crawl.inputs import is_result_folder
from beam_reuse.io.files import checksum_of, join, open_files
from beam_reuse.io.part_columns import column_of
from beam_reuse.io.results.manifest import CORPUS, Manifest, Part
from beam_reuse.io.results.tables import EVENTS, read_manifest

INDEX = "index"
# Names in the manifest, and of the settings. What decides which records are in an index, and what
# their text is: a run from it must ask for the same.
SELECTION = {
    "status": "statuses", "content-types": "content_types", "max-record-bytes": "max_record_bytes",
    "parser": "parser",
}
CHUNKING = {"chunk-tags": "tags", "chunk-normalise": "normalise", "classic": "classic"}


class DamagedIndexError(RuntimeError):
    """An index that cannot be trusted; the message names the file and the way out."""


@dataclass(frozen=True)
class IndexInput:
    """An index given as input. Its parts are ranges `first_range`, `first_range` + 1, ...;
    `chunked`: its stored chunks follow the settings of the run."""

    folder: str
    manifest: Manifest
    first_range: int
    chunked: bool

    @staticmethod
    def open(
        folder: str, first_range: int, read: ReadSettings, chunks: ChunkSettings,
    ) -> "IndexInput":
        """The index in `folder` for a run with these settings; refuses a result that is no
        index, and a run that asks for records the index may not hold."""
        manifest = read_index_manifest(folder)
        for option, name in SELECTION.items():
            have = manifest.settings.get(option, _as_recorded(getattr(ReadSettings(), name)))
            want = _as_recorded(getattr(read, name))
            if have != want:
                raise UserError(
                    f"{folder} was indexed with --{option} {_shown(have)}, this run has "
                    f"{_shown(want)}. Give --{option} {_shown(have)}, or index again."
                )
        chunked = all(
            manifest.settings[option] == _as_recorded(getattr(chunks, name))
            for option, name in CHUNKING.items()
        )
        return IndexInput(folder, manifest, first_range, chunked)

    def files(self) -> list[str]:
        """Paths of its parts."""
        return [join(self.folder, part.path) for part in self._parts()]

    def _parts(self) -> list[Part]:
        return self.manifest.tables().get(INDEX, [])

    def seen(self) -> Block:
        """How many records were read for it."""
        return Block({"records": np.array([self.manifest.accounting.records], np.int64)})

    def parts(self) -> list[Block]:
        """A block for each part, as `ReadPages` takes them."""
        return [
            Block({
                "range": np.array([self.first_range + i], np.uint32),
                "path": VarBytes.from_list([path.encode()]),
                "chunked": np.array([self.chunked], np.uint8),
                "checksum": VarBytes.from_list([part.checksum.encode()]),
            })
            for i, (path, part) in enumerate(zip(self.files(), self._parts(), strict=True))
        ]

    def event_files(self) -> list[tuple[str, str]]:
        """Paths of its events, each with its checksum."""
        parts = self.manifest.tables()[EVENTS.name]
        return [(join(self.folder, part.path), part.checksum) for part in parts]


def read_index_manifest(folder: str) -> Manifest:
    """The manifest of the index in `folder`; refuses a result that is no index."""
    manifest = read_manifest(folder)
    if manifest.shards:
        raise UserError(f"{folder} is the account of a corpus, whose records are in "
                        f"{join(folder, CORPUS)}. Give that folder, or an index of it.")
    if manifest.kind != INDEX:
        raise UserError(f"{folder} is a result, not an index, and holds no pages to read. Give the "
                        "crawl itself, or an index of it.")
    return manifest


def require_index(option: str, folder: str) -> None:
    """Refuse what an option names that is no index."""
    if not is_result_folder(folder):
        raise UserError(f"{option} {folder} is no index. Make one of the earlier crawl with "
                        "`beam-reuse index CRAWL... -o INDEX`, and give that.")
    read_index_manifest(folder)


def require_undamaged(path: str, checksum: str) -> None:
    """Refuse a file of an index whose bytes are not those its manifest names."""
    if checksum_of(path, checksum.partition(":")[0]) != checksum:
        raise DamagedIndexError(
            f"{path} is not what its manifest.json says it is: it was damaged or replaced. "
            "Index the crawl again."
        )


def index_events(file: tuple[str, str]) -> Iterator[Block]:
    """The events of an index, as `ReadPages` takes them, from a file with its checksum."""
    path, checksum = file
    require_undamaged(path, checksum)
    with open_files(path).open(path) as source:
        for batch in pq.ParquetFile(source).iter_batches(1 << 17):
            yield Block({field.name: column_of(field, batch.column(field.name))
                         for field in batch.schema})


def _as_recorded(value: Any) -> Any:
    """A setting as the manifest has it."""
    return "all" if value is None else list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
