"""What the graph of an experiment has written, read back as numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelKind
from beam_reuse.experiments.names import ALL_CHUNKS, ALL_FILES
from beam_reuse.experiments.vectors import Background, Ints, Site, SiteChunks, SiteFiles
from beam_reuse.io.files import join, open_files
from beam_reuse.io.labels.batches import hashes_of, kinds_of
from beam_reuse.io.labels.lists import read_list
from beam_reuse.io.results.tables import TableSchema, sha1, table

_text, _number = pa.string(), pa.int64()
SCHEMAS = {
    schema.name: schema
    for schema in (
        table("site_pages", page=_number, sha1=sha1, counts=pa.bool_(), chunks=_number),
        table("site_chunks", page=_number, position=_number, sha1=sha1),
        table("occurrences", kind=_number, sha1=sha1, count=_number),
        table("numbers", what=_text, value=_number),
    )
}


@dataclass(frozen=True)
class LoadedSite:
    """A site with the hashes that its numbers stand for."""

    site: Site
    files: pa.Array
    chunks: pa.Array


@dataclass(frozen=True)
class JudgedHashes:
    """How often each judged hash of one kind occurs."""

    bad: Ints
    benign: Ints


def load_site(folder: str) -> LoadedSite:
    """The site in the tables below `folder`. Memory: some 100 bytes per chunk."""
    pages, chunks = _read(folder, "site_pages"), _read(folder, "site_chunks")
    counting = pages.filter(pages["counts"])
    file_number, file_hashes = _numbered(counting["sha1"])
    chunked = pc.greater(counting["chunks"], 0).to_numpy().astype(np.bool_)
    chunks = chunks.sort_by([("page", "ascending"), ("position", "ascending")])
    number, hashes = _numbered(chunks["sha1"])
    page = chunks["page"].to_numpy()
    offsets = np.append(np.flatnonzero(np.diff(page, prepend=-1)), len(page)).astype(np.int64)
    return LoadedSite(
        Site(
            SiteFiles(file_number, chunked, len(file_hashes)),
            SiteChunks(offsets, number, len(hashes)),
            int(pc.sum(pc.greater(pages["chunks"], 0)).as_py() or 0),
        ),
        file_hashes, hashes,
    )


def load_background(folder: str, loaded: LoadedSite) -> Background:
    """Counts in the background of the site's hashes."""
    counts, numbers = _read(folder, "occurrences"), load_numbers(folder)
    return Background(
        _counts_of(counts, LabelKind.FILE, loaded.files),
        _counts_of(counts, LabelKind.CHUNK, loaded.chunks),
        numbers.get(ALL_FILES, 0), numbers.get(ALL_CHUNKS, 0),
    )


def load_numbers(folder: str) -> dict[str, int]:
    rows = _read(folder, "numbers")
    return dict(zip(rows["what"].to_pylist(), rows["value"].to_pylist(), strict=True))


def load_judged(
    folder: str, bad: Iterable[str], benign: Iterable[str],
) -> Mapping[str, JudgedHashes]:
    """Occurrences of the hashes on the lists, by kind, kinds without any left out.

    A bare hash is judged as a file where it occurs as one, else as a chunk. Refuses a
    hash that is judged bad and benign. Memory: the lists.
    """
    rows = _read(folder, "occurrences")
    counts = {
        (kind, sha1): count for kind, sha1, count in zip(
            *(rows[name].to_pylist() for name in ("kind", "sha1", "count")), strict=True)
    }
    judged = {"bad": _listed(bad), "benign": _listed(benign)}
    both = {sha1 for _, sha1 in judged["bad"]} & {sha1 for _, sha1 in judged["benign"]}
    if both:
        raise UserError(f"{min(both)} is judged bad and benign ({len(both)} such in all). "
                        "Leave it out of --bad or of --benign.")
    found = {}
    for kind in (LabelKind.FILE, LabelKind.CHUNK):
        sides = [_occurrences(judged[side], kind, counts) for side in ("bad", "benign")]
        if any(map(len, sides)):
            found[kind.name.lower()] = JudgedHashes(*sides)
    return found


def _listed(paths: Iterable[str]) -> set[tuple[int, str]]:
    return {
        (int(kind), sha1.tobytes().hex())
        for path in paths for batch in read_list(path, details=False)
        for kind, sha1 in zip(kinds_of(batch), hashes_of(batch), strict=True)
    }


def _occurrences(
    labels: set[tuple[int, str]], kind: LabelKind, counts: Mapping[tuple[int, str], int],
) -> Ints:
    mine = {sha1 for told, sha1 in labels if _judged_as(told, sha1, counts) == kind}
    return np.array([counts.get((kind, sha1), 0) for sha1 in sorted(mine)], np.int64)


def _judged_as(told: int, sha1: str, counts: Mapping[tuple[int, str], int]) -> int:
    """The kind of a label; a bare hash that occurs as a file is one, else a chunk."""
    if told != LabelKind.ANY:
        return told
    return LabelKind.FILE if (LabelKind.FILE, sha1) in counts else LabelKind.CHUNK


def _numbered(hashes: pa.ChunkedArray) -> tuple[Ints, pa.Array]:
    """Each hash as its number among the distinct ones, and these."""
    coded = pc.dictionary_encode(hashes).combine_chunks()
    if isinstance(coded, pa.ChunkedArray):
        coded = pa.concat_arrays(coded.chunks)
    return coded.indices.to_numpy().astype(np.int64), coded.dictionary


def _counts_of(counts: pa.Table, kind: LabelKind, hashes: pa.Array) -> Ints:
    mine = counts.filter(pc.equal(counts["kind"], int(kind)))
    at = pc.index_in(hashes, value_set=mine["sha1"].combine_chunks())
    found = at.is_valid().to_numpy(zero_copy_only=False)
    out = np.zeros(len(hashes), np.int64)
    out[found] = mine["count"].to_numpy()[at.drop_null().to_numpy()]
    return out


def _read(folder: str, name: str) -> pa.Table:
    schema: TableSchema = SCHEMAS[name]
    files, parts = open_files(folder), []
    for path in files.list(join(folder, name)):
        with files.open(join(folder, name, path)) as source:
            parts.append(pq.ParquetFile(source).read())
    return pa.concat_tables(parts) if parts else schema.arrow().empty_table()
