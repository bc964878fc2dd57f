"""What a run reads: crawl files cut into ranges, and indexes."""

from collections.abc import Sequence
from dataclasses import dataclass

from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.io.crawl.inputs import is_result_folder, list_files
from beam_reuse.io.crawl.ranges import FileRange, cut
from beam_reuse.io.index import IndexInput

# Bytes of a crawl file that are one piece of work: enough pieces that workers end together, each
# large enough that opening files does not count.
PIECES = 64
LEAST_RANGE, USUAL_RANGE, MOST_RANGE = 4 << 20, 64 << 20, 1 << 30
# Of terabytes pieces are larger, so that there are not many more than this.
MANY_PIECES = 1 << 14


@dataclass(frozen=True)
class Inputs:
    """`files` are all files with their sizes, in the order they were found; `background` is what is
    read beside them."""

    files: tuple[tuple[str, int], ...]
    ranges: tuple[FileRange, ...]
    indexes: tuple[IndexInput, ...]
    background: "Inputs | None" = None

    @property
    def bytes(self) -> int:
        """Of all that is read."""
        around = self.background.bytes if self.background else 0
        return sum(size for _, size in self.files) + around


def range_bytes(total: int) -> int:
    """The size of ranges for `total` bytes of input; depends on nothing else."""
    usual = min(max(total // PIECES, LEAST_RANGE), USUAL_RANGE)
    return min(max(total // MANY_PIECES, usual), MOST_RANGE)


def open_inputs(specs: Sequence[str], read: ReadSettings, chunks: ChunkSettings) -> Inputs:
    """List what `specs` name: files, folders, globs, indexes.

    Refuses what does not exist, and an index that may lack records these settings ask for.
    """
    folders = dict.fromkeys(spec.rstrip("/") for spec in specs if is_result_folder(spec))
    crawls = list_files([spec for spec in specs if spec.rstrip("/") not in folders])
    ranges = cut(crawls, range_bytes(sum(file.size for file in crawls)))
    files = [(file.path, file.size) for file in crawls]
    indexes: list[IndexInput] = []
    first = len(ranges)
    for folder in folders:
        index = IndexInput.open(folder, first, read, chunks)
        first += len(index.files())
        indexes.append(index)
        files += [(part.path, part.size) for part in list_files(index.files())]
    return Inputs(tuple(files), tuple(ranges), tuple(indexes))
