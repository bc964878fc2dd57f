"""From pages that stay to shards: in which file each page is written."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Lists, VarBytes
from beam_reuse.columnar.schema import NUMBER, PART, TEXT, columns, gives, lists
from beam_reuse.io.corpus.forms import suffix_of
from beam_reuse.io.corpus.pages import read_pages
from beam_reuse.io.corpus.records import CorpusPage
from beam_reuse.io.corpus.shards import write_shard
from beam_reuse.io.files import join
from beam_reuse.io.results.manifest import CORPUS, Part
from beam_reuse.pages.writing import RECEIPTS, receipts_of
from beam_reuse.rows import Count

STAYS = columns(range=PART, path=TEXT, changes=TEXT, form=TEXT, row=lists(NUMBER),
                size=lists(NUMBER))
CUT = columns(file=NUMBER, range=PART, path=TEXT, changes=TEXT, row=lists(NUMBER))


@dataclass(frozen=True)
class ShardLayout:
    """Where shards begin and end. `before` has, by form and part, the bytes that come before its
    pages; `files` by form the number of its first file, and `names` what comes before the number
    of a shard in its name."""

    shard_bytes: int
    before: dict[tuple[str, int], int]
    files: dict[str, int]

    def of(self, file: int) -> tuple[str, int]:
        """The form of a file, and which of the shards of this form it is."""
        form = max((first, form) for form, first in self.files.items() if first <= file)[1]
        return form, file - self.files[form]

    def path(self, file: int) -> str:
        """The path of a file. Where forms end alike, as Parquet files with different columns do,
        all but the first have the number of their form in their names."""
        form, shard = self.of(file)
        alike = [each for each in sorted(self.files) if suffix_of(each) == suffix_of(form)]
        mark = f"-{alike.index(form) + 1}" if alike[0] != form else ""
        return f"{CORPUS}/part{mark}-{shard:05d}.{suffix_of(form)}"


@dataclass(frozen=True)
class LayOut:
    """Folds what stays of all parts to their `ShardLayout`. Memory: some 100 bytes a part."""

    shard_bytes: int

    def start(self) -> dict[tuple[str, int], int]:
        return {}

    def add(self, held: dict[tuple[str, int], int], block: Block) -> dict[tuple[str, int], int]:
        keys = zip(block.strings("form").to_list(), block.array("range").tolist(), strict=True)
        return held | {(form.decode(), part): int(block.lists("size")[i].sum())
                       for i, (form, part) in enumerate(keys)}

    def merge(
        self, held: dict[tuple[str, int], int], other: dict[tuple[str, int], int],
    ) -> dict[tuple[str, int], int]:
        return held | other

    def finish(self, held: dict[tuple[str, int], int] | None) -> ShardLayout:
        before, files = {}, {}
        file = 0
        for form, keys in groupby(sorted(held or {}), itemgetter(0)):
            files[form], total = file, 0
            for key in keys:
                before[key] = total
                total += (held or {})[key]
            file += total // self.shard_bytes + 1
        return ShardLayout(self.shard_bytes, before, files)


@gives(CUT)
def cut(stays: Block, layout: ShardLayout) -> Iterator[Block]:
    """Rows of pages that stay, cut where shards end."""
    forms, parts = stays.strings("form").to_list(), stays.array("range").tolist()
    for i, (form, part) in enumerate(zip(forms, parts, strict=True)):
        name = form.decode()
        rows, size = stays.lists("row")[i], stays.lists("size")[i]
        before = layout.before[name, part] + np.cumsum(size) - size
        files, starts = np.unique(before // layout.shard_bytes, return_index=True)
        lengths = np.diff(np.append(starts, len(rows)))
        yield Block({
            "file": files + layout.files[name], "range": np.full(len(files), part, np.uint32),
            **{name: VarBytes.from_list([stays.strings(name)[i]] * len(files))
               for name in ("path", "changes")},
            "row": Lists.from_lengths(lengths, rows)})


@gives(RECEIPTS)
def write(slabs: Iterator[Block], folder: str, layout: ShardLayout) -> Iterator[Block | Count]:
    """Write the shards whose rows come in order of file and part; a receipt for each. Counts the
    bytes of their pages. Memory: some row groups of a part."""
    for file, some in groupby(_segments(slabs), itemgetter(0)):
        path, (form, _) = layout.path(file), layout.of(file)
        pages = _Measured(page for _, part, changes, rows in some
                         for page in read_pages(part, rows, changes))
        rows, digest = write_shard(join(folder, path), form, pages)
        yield receipts_of(iter([Part(CORPUS, path, rows, digest)]))
        yield Count("written-bytes", pages.bytes)


class _Measured:
    """Pages one by one, and the bytes of those that came so far."""

    def __init__(self, pages: Iterator[CorpusPage]) -> None:
        self._pages, self.bytes = pages, 0

    def __iter__(self) -> Iterator[CorpusPage]:
        for page in self._pages:
            self.bytes += page.left
            yield page


def _segments(slabs: Iterator[Block]) -> Iterator[tuple[int, str, str, NDArray[np.int64]]]:
    for slab in slabs:
        paths, changes, rows = (slab.strings("path").to_list(), slab.strings("changes").to_list(),
                                slab.lists("row"))
        for i, file in enumerate(slab.array("file").tolist()):
            yield file, paths[i].decode(), changes[i].decode(), rows[i]
