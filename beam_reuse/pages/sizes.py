"""Sizes that follow from the bytes of the input and the memory of a worker; they change no value.

Beam carries references to pieces of rows, so their number has to grow with the bytes and with
nothing else. A piece has the rows of one bucket in one file, `flush / buckets` bytes. So there are
no more buckets than leave pieces of 64 KB, and far fewer where bytes are few; a bucket that does
not fit in memory is sorted in runs on disk.
"""

from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.io.files import join

MB, GB, TB = 1 << 20, 1 << 30, 1 << 40
# Memory of a worker with which more makes nothing faster.
AMPLE = GB
# Rows of all analyses are taken to be so many times the compressed input.
ROWS_PER_BYTE = 4
LEAST_PIECE = 64 << 10
# What a filter has for each key; all of it is half of what a worker sorts at once, at most.
KEY_BITS = 12
LEAST_BUCKETS = 16
LARGE, HUGE = 16 * GB, 4 * TB


def shuffle_for(size: int, spill: str, memory: int = AMPLE) -> Shuffle:
    """A shuffle below `spill`, for `size` bytes of input and workers with so much memory."""
    budget, rows = budget_for(memory), ROWS_PER_BYTE * size
    flush = flush_for(rows, budget)
    return Shuffle(
        Store("files", join(spill, "blocks")), buckets_for(rows, budget, flush), flush, budget,
        filter_keys=min(max(rows >> 10, 1 << 12), budget // 2 * 8 // KEY_BITS))


def budget_for(memory: int) -> int:
    """The bytes of a bucket that a worker with so much memory sorts at once: an eighth of it, as
    sorting takes up to three times that, writing and the interpreter the rest. From 16 to 128 MB:
    less makes files too many, more makes nothing faster."""
    return min(max(memory // 8, 16 * MB), 128 * MB)


def flush_for(rows: int, budget: int) -> int:
    """The bytes of rows that a worker writes as one file: more where there are many, so that pieces
    of files are larger and fewer. It holds twice as much at most."""
    if rows < LARGE:
        return budget // 4
    return budget // 2 if rows < HUGE else budget


def buckets_for(rows: int, budget: int, flush: int) -> int:
    """How many buckets `rows` bytes are split into: half full ones, so that uneven hashes and a
    wrong estimate do no harm, up to 256; of many terabytes 2,048, as many workers share them."""
    most = 256 if rows < HUGE else 2048
    wanted = max(LEAST_BUCKETS, -(-2 * rows // budget))
    return int(max(1, min(wanted, most, flush // LEAST_PIECE)))
