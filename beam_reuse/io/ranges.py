"""Input files cut into pieces of work, and the pieces joined without a gap or overlap.

How files are cut depends on their sizes alone, never on workers. Big files are cut into
ranges, small ones packed together.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from beam_reuse.io.inputs import InputFile

RANGE_BYTES = 64 << 20
FILE_COST = 64 << 10
NOTHING = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class FileRange:
    """A piece of work: bytes [start, end) of one file, or several whole files.

    `indexes` are the places of `files` in the list that was cut, so that ranges of one
    file are found again; `number` is the place of the range among all ranges.
    """

    number: int
    indexes: tuple[int, ...]
    files: tuple[InputFile, ...]
    start: int
    end: int

    @property
    def size(self) -> int:
        """Bytes this piece of work reads."""
        return self.end - self.start

    @property
    def is_part(self) -> bool:
        """True if the file has other ranges too, so that `true_starts` has a say."""
        return len(self.files) == 1 and self.size < self.files[0].size


def cut(files: Sequence[InputFile], range_bytes: int = RANGE_BYTES) -> list[FileRange]:
    """All files as ranges of about `range_bytes`, in the order of the files.

    A file longer than that is cut into equal ranges; shorter ones that follow each other
    are packed, each counting 64 KB more than it holds (for being opened).
    """
    ranges: list[FileRange] = []
    for indexes in _packs(files, range_bytes):
        pack = tuple(files[i] for i in indexes)
        size = sum(file.size for file in pack)
        pieces = max(1, -(-size // range_bytes)) if len(pack) == 1 else 1
        for piece in range(pieces):
            ranges.append(FileRange(len(ranges), indexes, pack, size * piece // pieces,
                                    size * (piece + 1) // pieces))
    return ranges


def _packs(files: Sequence[InputFile], range_bytes: int) -> Iterator[tuple[int, ...]]:
    """Places of files that are read together."""
    pack: list[int] = []
    cost = 0
    for place, file in enumerate(files):
        more = file.size + FILE_COST
        if pack and cost + more > range_bytes:
            yield tuple(pack)
            pack, cost = [], 0
        pack.append(place)
        cost += more
    if pack:
        yield tuple(pack)


def true_starts(ends: Iterable[tuple[int, int, int | None]]) -> list[int]:
    """From which offset on the outcomes of each range of one file stand.

    `ends` gives (start, end, next_start) of each range in order. A reader that began in the
    middle of a file may have followed records stored inside a record; the chain that began
    at the file's first byte tells where each range really begins. A range in which no
    record of the chain begins gives `NOTHING`, a number above every offset. A `next_start`
    of None means that the format leaves no doubt: all its outcomes stand.
    """
    starts = []
    truth = 0
    for _, end, next_start in ends:
        if next_start is None:
            starts.append(0)
        elif truth >= end > 0:
            starts.append(NOTHING)
        else:
            starts.append(truth)
            truth = next_start
    return starts
