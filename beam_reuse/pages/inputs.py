"""What a run reads: crawl files cut into ranges, and indexes; those of a baseline come last."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import ChunkSettings, ReadSettings
from beam_reuse.io.crawl.inputs import is_result_folder, list_files
from beam_reuse.io.crawl.ranges import FileRange, cut
from beam_reuse.io.index import IndexInput, require_index
from beam_reuse.pages.sides import ONE_SIDE, Sides

# Bytes of a crawl file that are one piece of work: enough pieces that workers end together, each
# large enough that opening files does not count.
PIECES = 64
LEAST_RANGE, USUAL_RANGE, MOST_RANGE = 4 << 20, 64 << 20, 1 << 30
# Of terabytes pieces are larger, so that there are not many more than this.
MANY_PIECES = 1 << 14


@dataclass(frozen=True)
class Inputs:
    """`files` are all files with their sizes, in the order they were found; `background` is what is
    read beside them. Indexes of which `sides` says that they are old are the baseline."""

    files: tuple[tuple[str, int], ...]
    ranges: tuple[FileRange, ...]
    indexes: tuple[IndexInput, ...]
    background: "Inputs | None" = None
    sides: Sides = ONE_SIDE

    @property
    def bytes(self) -> int:
        """Of all that is read."""
        around = self.background.bytes if self.background else 0
        return sum(size for _, size in self.files) + around

    @property
    def new_indexes(self) -> tuple[IndexInput, ...]:
        """Those that are not the baseline."""
        return tuple(each for each in self.indexes if self.sides.is_new_part(each.first_range))


def range_bytes(total: int) -> int:
    """The size of ranges for `total` bytes of input; depends on nothing else."""
    usual = min(max(total // PIECES, LEAST_RANGE), USUAL_RANGE)
    return min(max(total // MANY_PIECES, usual), MOST_RANGE)


def open_inputs(
    specs: Sequence[str], read: ReadSettings, chunks: ChunkSettings, baseline: Sequence[str] = (),
) -> Inputs:
    """List what `specs` name: files, folders, globs, indexes; and the indexes of a `baseline`.

    Refuses what does not exist, and an index that may lack records these settings ask for.
    """
    folders = dict.fromkeys(spec.rstrip("/") for spec in specs if is_result_folder(spec))
    crawls = list_files([spec for spec in specs if spec.rstrip("/") not in folders])
    ranges = cut(crawls, range_bytes(sum(file.size for file in crawls)))
    files = [(file.path, file.size) for file in crawls]
    indexes: list[IndexInput] = []
    first = len(ranges)
    old = _baseline(baseline, folders)
    first_old: int | None = None
    for folder in (*folders, *old):
        if folder in old and first_old is None:
            first_old = first
        index = IndexInput.open(folder, first, read, chunks)
        first += len(index.files())
        indexes.append(index)
        files += [(part.path, part.size) for part in list_files(index.files())]
    return Inputs(tuple(files), tuple(ranges), tuple(indexes), sides=Sides(first_old))


def _baseline(specs: Sequence[str], new: Collection[str]) -> list[str]:
    """The folders of a baseline, each once; refuses what is no index, and what is new, too."""
    found = list(dict.fromkeys(spec.rstrip("/") for spec in specs))
    for folder in found:
        if folder in new:
            raise UserError(f"--baseline {folder} is an INPUT, too. Give it as one of the two.")
        require_index("--baseline", folder)
    return found
