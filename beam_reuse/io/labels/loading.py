"""Lists of any format made ready for lookups, and stop lists for one process."""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.labels import LabelKind, LabelSettings
from beam_reuse.core.settings import ChunkSettings, StopSettings
from beam_reuse.core.stop_chunks import builtin_chunk_hashes, builtin_file_hashes
from beam_reuse.io.files import is_local, local_path
from beam_reuse.io.labels.compact import CompactList, is_compact
from beam_reuse.io.labels.hash_order import HeldHashes
from beam_reuse.io.labels.mapping import MappedFile


def load_labels(paths: Sequence[str]) -> tuple[CompactList, LabelSettings | None]:
    """The labels of all lists together, and the settings they were made with.

    One compact list is used as it is; anything else is made one first, in a temporary
    file that vanishes with the process. Refuses lists whose settings differ.
    """
    settings = carried_settings(paths)
    if _is_one_compact(paths):
        return CompactList.open(local_path(paths[0])), settings
    from beam_reuse.io.labels.compact_writer import write_compact
    from beam_reuse.io.labels.lists import read_list

    batches = chain.from_iterable(read_list(path, details=False) for path in paths)
    return _temporary(lambda path: write_compact(path, batches, settings)), settings


def gram_lists_among(paths: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of these lists that have gram labels, and the others. Looks into Parquet files only."""
    grams = tuple(path for path in paths if _is_parquet(path) and _is_gram_list(path))
    return grams, tuple(path for path in paths if path not in grams)


def _is_parquet(path: str) -> bool:
    if not is_local(path):
        return True
    try:
        with open(local_path(path), "rb") as source:
            return source.read(4) == b"PAR1"
    except OSError:
        return False


def _is_gram_list(path: str) -> bool:
    from beam_reuse.io.labels.gram_lists import is_gram_list

    return is_gram_list(local_path(path))


def carried_settings(paths: Sequence[str]) -> LabelSettings | None:
    """The settings that these lists were made with; None if they are plain lists of hashes.
    Refuses lists whose settings differ."""
    if _is_one_compact(paths):
        return CompactList.open(local_path(paths[0])).settings
    # Arrow is not needed for compact lists, and without it the process is a third smaller.
    from beam_reuse.io.labels.lists import shared_settings

    return shared_settings(paths)


def _is_one_compact(paths: Sequence[str]) -> bool:
    return len(paths) == 1 and is_compact(local_path(paths[0]))


def load_stops(
    chunks: ChunkSettings, stops: StopSettings, kind: LabelKind, more: NDArray | None = None,
) -> HeldHashes:
    """The hashes of chunks, or of files, that do not count: listed ones, built-in ones, and `more`
    ('V20')."""
    builtin = np.zeros(0, "V20") if more is None else more
    if stops.builtin:
        builtin = np.concatenate([builtin, builtin_file_hashes() if kind is LabelKind.FILE
                                  else builtin_chunk_hashes(chunks)])
    if not stops.lists:
        return HeldHashes.of(builtin)
    from beam_reuse.io.labels.compact_writer import write_hash_set
    from beam_reuse.io.labels.lists import read_stop_list

    def hashes() -> Iterator[NDArray]:
        yield builtin
        for path in stops.lists:
            yield from read_stop_list(path, chunks, kind)

    return _temporary(lambda path: write_hash_set(path, hashes())).hashes


def _temporary(write: Callable[[str], int]) -> CompactList:
    """A compact list that is nowhere but in this process."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "list.brl")
        write(path)
        return CompactList(path, MappedFile(path))
