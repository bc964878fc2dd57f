"""A sample of what a run reads: pieces of files, evenly spread over all of them."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from beam_reuse.core.errors import UserError
from beam_reuse.io.crawl.inputs import InputFile, is_result_folder, list_files
from beam_reuse.io.crawl.ranges import FileRange
from beam_reuse.io.crawl.sniff import sniff
from beam_reuse.io.crawl.window import open_window
from beam_reuse.pages.inputs import Inputs

# Pieces of a sample: many are like the whole, few are quick to open.
PIECES = 64
LEAST_PIECE = 128 << 10
LEAST_SAMPLE = 4 << 20
SHARE = 100


@dataclass(frozen=True)
class Halves:
    """Two halves of a sample, and how many bytes the whole input has."""

    halves: tuple[Inputs, Inputs]
    total: int

    @property
    def whole(self) -> Inputs:
        """Both halves."""
        first, second = self.halves
        ranges = sorted((*first.ranges, *second.ranges),
                        key=lambda each: (each.files[0].path, each.start))
        return _inputs(ranges)


def draw(specs: Sequence[str], most: int) -> Halves:
    """A sample of a hundredth of the input, of `most` bytes or less, but of some MB where that is
    little. Refuses indexes, and input without bytes."""
    for spec in specs:
        if is_result_folder(spec):
            raise UserError(f"{spec} is an index, of which no sample is taken. Give the crawl "
                            "files: a run on their index needs no more.")
    files = [file for file in list_files(specs) if file.size and not file.unreadable]
    total = sum(file.size for file in files)
    if not total:
        raise UserError("the input holds nothing to take a sample of.")
    wanted = min(most, max(total // SHARE, LEAST_SAMPLE), total)
    pieces = list(_pieces(files, wanted))
    if len(pieces) == 1:  # one small file: its two halves cannot differ by more than it does
        pieces *= 2
    return Halves((_inputs(pieces[::2]), _inputs(pieces[1::2])), total)


def _pieces(files: Sequence[InputFile], wanted: int) -> Iterator[FileRange]:
    """Pieces of about equal size, one in each stretch of the input; nothing is in two of them."""
    total = sum(file.size for file in files)
    count = max(2, min(PIECES, wanted // LEAST_PIECE))
    size, step = -(-wanted // count), total / count
    ends = list(accumulate(file.size for file in files))
    free, place = 0, 0  # the first file, and the first byte of it, that no piece has
    for number in range(count):
        at = int(number * step)
        first = max(bisect_right(ends, at), free)
        if first == len(files):
            return
        begin = max(at - (ends[first] - files[first].size), place if first == free else 0, 0)
        if files[first].size <= size:
            begin = 0 if place == 0 or first > free else files[first].size
        if begin >= files[first].size:
            continue
        piece = _piece_at(files, first, begin, size)
        if piece is not None:
            yield piece
            free, place = first + len(piece.files) - 1, piece.end
            if len(piece.files) > 1 or piece.end >= files[free].size:
                free, place = free + 1, 0


def _piece_at(files: Sequence[InputFile], first: int, start: int, size: int) -> FileRange | None:
    """A piece that begins in a file: some bytes of it, or it and those that follow, if they are
    small. Of a file that cannot be read from the middle the first bytes, or nothing."""
    file = files[first]
    if file.size <= size:
        last, held = first + 1, file.size
        while last < len(files) and held + files[last].size <= size:
            held, last = held + files[last].size, last + 1
        return FileRange(0, tuple(files[first:last]), 0, held)
    with open_window(file.path, file.size) as window:
        form = sniff(window, file.path)
    from_middle = form.units is None if form.content == "jsonl" else form.splittable
    if from_middle or form.content == "parquet":
        return FileRange(0, (file,), start, min(start + size, file.size))
    return None if start else FileRange(0, (replace(file, size=size),), 0, size)


def _inputs(ranges: Sequence[FileRange]) -> Inputs:
    numbered = tuple(replace(each, number=number) for number, each in enumerate(ranges))
    files = tuple((each.files[0].path, each.size) for each in numbered)
    return Inputs(files, numbered, ())
