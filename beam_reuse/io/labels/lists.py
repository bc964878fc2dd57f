"""Lists of labels and of stop chunks, whatever they are stored as.

A list is a Parquet file (the table `labels`, or any table with a column `sha1`), a compact
file (`.brl`, see `compact`), text with one hash per line, or the folder of a result with a
table `labels`. Which of them is recognised by the content. An empty text file is a list of nothing.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import UNKNOWN_DOMAINS, LabelKind, LabelSettings
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.files import is_local, join, local_path, open_files, reason_of, sha256_of
from beam_reuse.io.labels.batches import hashes_of, kinds_of, label_batch
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.judged_lists import is_judged_text, read_judged
from beam_reuse.io.labels.label_settings import (
    described,
    same_chunks,
    same_settings,
    settings_by_option,
)
from beam_reuse.io.labels.layout import MAGIC, NO_SOURCE, damaged, unpack_labels
from beam_reuse.io.labels.parquet_lists import BATCH_ROWS, ParquetList
from beam_reuse.io.labels.text_lists import read_hash_text, read_stop_text
from beam_reuse.io.results.manifest import MANIFEST, Manifest
from beam_reuse.io.results.tables import read_manifest

TABLE = "labels"
_FORMATS = {"Parquet": (b"PAR1", ".parquet"), "compact": (MAGIC, ".brl")}
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


def read_list(path: str, details: bool = True) -> Iterator[pa.RecordBatch]:
    """The labels of the list at `path`, in batches with the columns of `batches.SCHEMA`.

    `kind` holds numbers of `LabelKind`, ANY where the list does not say; `source_url`, `domains`,
    `bytes`, `text` and `nilsimsa` are null where it does not say, and without `details` the
    last three are not read. Memory: one batch. UserError for what is no list, naming file and
    line or row.
    """
    path = local_path(path)
    if _is_folder(path):
        for part in _parts_of(path):
            with _opened(part) as source:
                yield from ParquetList(source, part).labels(details)
        return
    with _opened(path) as source:
        form = _format_of(source, path)
        if form == "Parquet":
            yield from ParquetList(source, path).labels(details)
        elif form == "compact":
            yield from _compact_batches(path)
        else:
            for hashes in read_hash_text(source, path):
                yield label_batch(hashes, np.full(len(hashes), LabelKind.ANY, np.uint8))


def settings_of(path: str) -> LabelSettings | None:
    """How the pages were cut that the list was made from; None for a plain list of hashes.

    Cost: the head of the file.
    """
    path = local_path(path)
    if _is_folder(path):
        return settings_by_option(_label_manifest(path).settings, path)
    with _opened(path) as source:
        form = _format_of(source, path)
        if form == "Parquet":
            return ParquetList(source, path).settings()
        if form == "compact":
            return CompactList.open(path).settings
    return None


def list_id(path: str) -> str:
    """Name and SHA-256 of a list: what it is, wherever it lies. A result has its manifest's."""
    path = local_path(path)
    content = join(path, MANIFEST) if _is_folder(path) else path
    return f"{path.rstrip('/').rpartition('/')[2]} sha256:{sha256_of(content)}"


def shared_settings(paths: Iterable[str]) -> LabelSettings | None:
    """The settings that all lists which carry any carry; None if none does.

    Refuses lists that differ: no one way to cut pages would match them all.
    """
    found: LabelSettings | None = None
    found_in = ""
    for path in paths:
        settings = settings_of(path)
        if settings is None:
            continue
        if found is not None and not same_settings(found, settings):
            raise UserError(
                f"{path} was made with {described(settings)}, but {found_in} with "
                f"{described(found)}. Use lists made with the same settings.")
        if found is None:
            found, found_in = settings, path
    return found


def read_stop_list(
    path: str, chunks: ChunkSettings, kind: LabelKind = LabelKind.CHUNK
) -> Iterator[NDArray]:
    """Hashes ('V20') of the chunks on a stop list, in pieces; of its files, with that `kind`.

    The list holds hashes, as for `read_list`, of which those of another kind are left out,
    or texts, which are normalised and hashed as chunks are under `chunks`: a Parquet file
    without `sha1` but with `text`, or a text file none of whose lines is a hash. Of a judged sheet
    of hashes those are on the list that are judged benign. Refuses a
    list whose own settings cut pages otherwise, and text that mixes hashes and texts.
    """
    path = local_path(path)
    made_with = settings_of(path)
    if made_with is not None and not same_chunks(made_with.chunks, chunks):
        raise UserError(f"{path} was made with {described(made_with)}: its chunks cannot match "
                        "pages that are cut otherwise. Use the same chunk settings.")
    if is_judged(path):
        judged = read_judged(path)
        yield judged.hashes[np.isin(judged.kinds, (kind, LabelKind.ANY))]
        return
    if not _is_folder(path):
        with _opened(path) as source:
            form = _format_of(source, path)
            if form == "text":
                yield from read_stop_text(source, path, chunks)
                return
            if form == "Parquet" and not (table := ParquetList(source, path)).has_hashes:
                yield from table.text_hashes(chunks)
                return
    for batch in read_list(path, details=False):
        yield hashes_of(batch)[np.isin(kinds_of(batch), (kind, LabelKind.ANY))]


def is_judged(path: str) -> bool:
    """Whether the list at `path` is a sheet of hashes that people judge. Cost: the head of the
    file."""
    path = local_path(path)
    if _is_folder(path):
        return False
    with _opened(path) as source:
        form = _format_of(source, path)
        if form == "Parquet":
            return ParquetList(source, path).is_judged
        return form == "text" and is_judged_text(source)


def _compact_batches(path: str) -> Iterator[pa.RecordBatch]:
    """All labels of the compact list at `path`, in its order; bytes and text are null."""
    labels = CompactList.open(path)
    names = pa.LargeStringArray.from_buffers(
        labels.layout.names, pa.py_buffer(labels.name_offsets), pa.py_buffer(labels.names))
    try:
        names.validate(full=True)
    except pa.ArrowInvalid:
        raise damaged(labels.path, "a name that is not UTF-8") from None
    for low in range(0, len(labels), BATCH_ROWS):
        rows = labels.rows[low:low + BATCH_ROWS]
        sources, kinds = unpack_labels(rows["label"])
        places = pa.array(sources.astype(np.int64), mask=sources == NO_SOURCE)
        domains = rows["domains"].astype(np.int64)
        yield label_batch(rows["sha1"], kinds, source_url=names.take(places).cast(pa.string()),
                          domains=pa.array(domains, mask=domains == UNKNOWN_DOMAINS))


def _is_folder(path: str) -> bool:
    """Whether `path` is a folder; elsewhere than on local disks, one with a manifest."""
    if is_local(path):
        return os.path.isdir(path)
    try:
        with open_files(path).open(join(path, MANIFEST)):
            return True
    except OSError:
        return False


def _label_manifest(folder: str) -> Manifest:
    manifest = read_manifest(folder)
    if TABLE not in manifest.tables():
        raise UserError(f"{folder} has no table {TABLE}: only runs with discovery write one. Give "
                        "the result of such a run, or a list.")
    return manifest


def _parts_of(folder: str) -> list[str]:
    return [join(folder, part.path) for part in _label_manifest(folder).tables()[TABLE]]


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    """The file at `path`; UserError if it cannot be read."""
    try:
        source = open_files(path).open(path)
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else reason_of(error)
        raise UserError(f"{path}: {why}. Give a list of hashes: Parquet, text, a compact file or "
                        "the folder of a result.") from error
    with source:
        yield source


def _format_of(source: IO[bytes], path: str) -> str:
    """`Parquet`, `compact` or `text`, by a file's first bytes, which stay to be read."""
    head = source.read(len(MAGIC))
    source.seek(0)
    for word, (magic, ending) in _FORMATS.items():
        if head.startswith(magic):
            return word
        if path.endswith(ending):
            raise UserError(f"{path} is no {word} list but {'something else' if head else 'empty'}."
                            " Make it again, or rename it if it is text.")
    if head.startswith(_COMPRESSED):
        raise UserError(f"{path} is compressed: decompress it first.")
    return "text"
