"""Input files cut into pieces of work, and the pieces joined without a gap or overlap.

How files are cut depends on their sizes alone, never on workers. Big files are cut into
ranges, small ones packed together.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

from beam_reuse.io.crawl.inputs import InputFile

RANGE_BYTES = 64 << 20
FILE_COST = 64 << 10
NO_DOUBT = -1
NOTHING = (1 << 63) - 1


@dataclass(frozen=True)
class FileRange:
    """A piece of work: bytes [start, end) of one file, or several whole files.

    `number` is its place among all ranges. Several whole files have start 0 and the sum of
    their sizes as end.
    """

    number: int
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

    @property
    def chain(self) -> str:
        """The same for all ranges of one file, and for no others."""
        return self.files[0].name

    @cached_property
    def _by_path(self) -> dict[str, InputFile]:
        return {file.path: file for file in self.files}

    def name_of(self, path: str) -> str:
        """The name in tables of a file of this range."""
        return self._by_path[path].name

    def crawl_of(self, path: str) -> str:
        """The name of the input a file of this range belongs to."""
        return self._by_path[path].crawl

    def to_bytes(self) -> bytes:
        """A form that a shuffle can carry; `from_bytes` reads it."""
        files = [list(asdict(file).values()) for file in self.files]
        return json.dumps([self.number, files, self.start, self.end]).encode("ascii")

    @staticmethod
    def from_bytes(data: bytes) -> "FileRange":
        number, files, start, end = json.loads(data)
        return FileRange(number, tuple(InputFile(*file) for file in files), start, end)


def cut(files: Sequence[InputFile], range_bytes: int = RANGE_BYTES) -> list[FileRange]:
    """All files as ranges of about `range_bytes`, in the order of the files.

    A file longer than that is cut into equal ranges; shorter ones that follow each other
    are packed, each counting 64 KB more than it holds (for being opened).
    """
    ranges: list[FileRange] = []
    for pack in _packs(files, range_bytes):
        size = sum(file.size for file in pack)
        pieces = max(1, -(-size // range_bytes)) if len(pack) == 1 else 1
        for piece in range(pieces):
            ranges.append(FileRange(len(ranges), pack, size * piece // pieces,
                                    size * (piece + 1) // pieces))
    return ranges


def _packs(files: Sequence[InputFile], range_bytes: int) -> Iterator[tuple[InputFile, ...]]:
    """Files that are read together."""
    pack: list[InputFile] = []
    cost = 0
    for file in files:
        more = file.size + FILE_COST
        if pack and cost + more > range_bytes:
            yield tuple(pack)
            pack, cost = [], 0
        pack.append(file)
        cost += more
    if pack:
        yield tuple(pack)


def true_starts(ends: Iterable[tuple[int, int, int]]) -> list[int]:
    """From which offset on the outcomes of each range of one file are true.

    `ends` gives (start, end, next_start) of each range in order. A reader that began in the
    middle of a file may have followed records stored inside a record; the chain that began
    at the file's first byte shows where each range really begins. A range in which no
    record of the chain begins gives `NOTHING`, a number above every offset. A `next_start`
    of `NO_DOUBT` means that all outcomes are true, whatever the other ranges found.
    """
    starts = []
    truth = 0
    for _, end, next_start in ends:
        if next_start == NO_DOUBT:
            starts.append(0)
        elif truth >= end > 0:
            starts.append(NOTHING)
        else:
            starts.append(truth)
            truth = next_start
    return starts
