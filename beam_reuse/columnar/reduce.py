"""Sums, minima, maxima, counts and distinct counts per key."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import apache_beam as beam
import numpy as np
from apache_beam.coders import Coder
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column
from beam_reuse.columnar.coders import PiecesCoder
from beam_reuse.columnar.distinct import count_distinct
from beam_reuse.columnar.group import bucket_slabs
from beam_reuse.columnar.runs import slices
from beam_reuse.columnar.scatter import SplitByBucket
from beam_reuse.columnar.shuffle import MapBlocks, Several, Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.columnar.varbytes import VarBytes

OPERATIONS = ("sum", "min", "max", "any")
_OUTPUT_BYTES = 8 << 20
_INLINE_BYTES = 64 << 10
_HASH, _KIND = np.dtype("V20"), np.dtype(np.uint8)


class Reduction:
    """One row per distinct `keys`, other columns summed or their smallest or largest kept.

    Sums of unsigned and bool columns are uint64, of signed ones int64, both exact as long as
    they fit. Minimum and maximum work for every type of column; "any" keeps one of the values, for
    those that are equal where the keys are. Columns that are neither keys nor named are dropped.
    """

    def __init__(self, keys: Sequence[str], columns: Mapping[str, str]) -> None:
        bad = {name: op for name, op in columns.items() if op not in OPERATIONS}
        if bad or not keys or set(keys) & set(columns):
            raise ValueError(
                f"cannot reduce {dict(columns)!r} by {list(keys)!r}: give one or more keys, and "
                f"{', '.join(OPERATIONS)} for other columns"
            )
        self.keys, self.columns = tuple(keys), dict(columns)

    def __call__(self, block: Block) -> Block:
        """The block reduced, sorted by the keys."""
        return self._reduced(self.prepared(block).sort(self.keys))

    def loosely(self, block: Block) -> Block:
        """The block reduced, in any order: hashes that are only counted, also those of several
        kinds, need no sorting."""
        rows, (key, *kinds) = self.prepared(block), self.keys
        if not self._only_counts(rows):
            return self._reduced(rows.sort(self.keys))
        return Block.concat([self._counted(each, key) for each in _by_kind(rows, kinds)])

    def _only_counts(self, rows: Block) -> bool:
        """Are these sums by a hash, and perhaps by its kind?"""
        types = [None if isinstance(rows[name], VarBytes) else rows.array(name).dtype
                 for name in self.keys]
        return types in ([_HASH], [_HASH, _KIND]) and not set(self.columns.values()) - {"sum"}

    def _counted(self, rows: Block, key: str) -> Block:
        """Rows that are of one kind, counted by their hash."""
        distinct, sums = count_distinct(
            rows.array(key), [rows.array(name) for name in self.columns])
        return Block({
            key: distinct, **{name: rows[name].take(np.zeros(len(distinct), np.int64))
                              for name in self.keys[1:]},
            **dict(zip(self.columns, sums, strict=True))})

    def _reduced(self, rows: Block) -> Block:
        """Rows in order of the keys, reduced."""
        starts = rows.starts(self.keys)
        if len(starts) == len(rows):
            return rows
        out = {name: rows[name].take(starts) for name in self.keys}
        for name, operation in self.columns.items():
            out[name] = _reduced(rows, self.keys, name, operation, starts)
        return Block(out)

    def prepared(self, block: Block) -> Block:
        """Only the columns that count, those to be summed as 64-bit integers."""
        sums = [name for name, operation in self.columns.items() if operation == "sum"]
        wide = {name: _summable(name, block.array(name)) for name in sums}
        return block.select([*self.keys, *self.columns]).with_columns(**wide)

    def merge(self, slabs: Iterable[Block]) -> Iterator[Block]:
        """Reduce a stream sorted by the keys: every key comes out once, in order."""
        waiting: Block | None = None
        for slab in slabs:
            slab = self.prepared(slab)
            reduced = self._reduced(slab if waiting is None else Block.concat([waiting, slab]))
            waiting = reduced.slice(len(reduced) - 1, len(reduced))
            if len(reduced) > 1:
                yield reduced.slice(0, len(reduced) - 1)
        if waiting is not None:
            yield waiting


def _by_kind(rows: Block, kinds: Sequence[str]) -> list[Block]:
    """The rows of each kind; all of them where there are no kinds."""
    if not kinds or not len(rows):
        return [rows]
    kind = rows.array(kinds[0])
    present = np.flatnonzero(np.bincount(kind))
    return [rows] if len(present) == 1 else [rows.take(kind == each) for each in present]


def _summable(name: str, column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "bu":
        return column.astype(np.uint64, copy=False)
    if column.dtype.kind == "i":
        return column.astype(np.int64, copy=False)
    raise TypeError(f"column {name!r} is {column.dtype}; only integers are summed, exactly")


def _reduced(
    rows: Block, keys: Sequence[str], name: str, operation: str, starts: NDArray[np.int64]
) -> Column:
    column = rows[name]
    if operation == "sum":
        return np.asarray(np.add.reduceat(rows.array(name), starts))
    if operation == "any":
        return column.take(starts)
    if isinstance(column, VarBytes) or column.dtype.kind in "Vf":
        order = rows.sort_order([*keys, name])
        last = np.append(starts[1:], len(rows)) - 1
        return column.take(order[starts if operation == "min" else last])
    function = np.minimum if operation == "min" else np.maximum
    return np.asarray(function.reduceat(column, starts))


class ReduceRows(beam.PTransform):
    """Block -> Blocks with one row per distinct `keys`, sorted by them within each bucket;
    columns as `Reduction` says.

    Rows are reduced while a bundle is split, so a hot key is one row per flush. The combiner
    carries references to sorted blocks, and the last merge is a stream within
    `bucket_budget`. A store of kind `inline` keeps a bundle's reduced rows in memory while
    Beam combines them.
    """

    def __init__(self, shuffle: Shuffle, keys: Sequence[str], columns: Mapping[str, str]) -> None:
        super().__init__()
        self.shuffle, self.reduction = shuffle, Reduction(keys, columns)

    @no_annotations
    def expand(self, blocks: Several) -> beam.PCollection:
        keys = self.reduction.keys
        return (
            blocks
            | "Combine" >> _CombineBuckets(self.shuffle, self.reduction, keys)
            | "Merge" >> beam.ParDo(_Merge(self.shuffle, self.reduction)).with_output_types(Block)
        )


class CountKeys(beam.PTransform):
    """Block -> Blocks of distinct `keys` with their number of rows in `count` (uint64)."""

    def __init__(self, shuffle: Shuffle, keys: Sequence[str]) -> None:
        super().__init__()
        self.shuffle, self.keys = shuffle, tuple(keys)

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        return (
            blocks
            | "One" >> MapBlocks(_with_ones, self.keys)
            | "Sum" >> ReduceRows(self.shuffle, self.keys, {"count": "sum"})
        )


class DistinctCount(beam.PTransform):
    """Block -> Blocks of distinct `keys`, with the number of distinct `of` in `count`."""

    def __init__(self, shuffle: Shuffle, keys: Sequence[str], of: Sequence[str] | str) -> None:
        super().__init__()
        self.shuffle, self.keys = shuffle, tuple(keys)
        self.distinct = Reduction([*keys, *([of] if isinstance(of, str) else of)], {})

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        count = Reduction(self.keys, {"count": "sum"})
        merge = _Merge(self.shuffle, self.distinct, count)
        return (
            blocks
            | "Combine" >> _CombineBuckets(self.shuffle, self.distinct, self.keys)
            | "Count" >> beam.ParDo(merge).with_output_types(Block)
        )


def _with_ones(block: Block, keys: Sequence[str]) -> Block:
    return block.select(keys).with_columns(count=np.ones(len(block), np.uint64))


class _CombineBuckets(beam.PTransform):
    """Block -> (bucket, Pieces of reduced blocks), by CombinePerKey."""

    def __init__(self, shuffle: Shuffle, reduction: Reduction, keys: Sequence[str]) -> None:
        super().__init__()
        self.shuffle, self.reduction, self.keys = shuffle, reduction, keys

    @no_annotations
    def expand(self, blocks: Several) -> beam.PCollection:
        split = SplitByBucket(self.shuffle, self.keys, collapse=self.reduction.loosely)
        combine = beam.CombinePerKey(CombinePieces(self.shuffle.store, self.reduction))
        reduced = combine.with_output_types(tuple[int, list[Piece]])
        columns = MapBlocks(self.reduction.prepared)
        if isinstance(blocks, tuple):
            blocks = tuple(each | f"Columns {n}" >> columns for n, each in enumerate(blocks))
        else:
            blocks = blocks | "Columns" >> columns
        return blocks | "Split" >> split | "Pieces" >> reduced


class CombinePieces(beam.CombineFn):
    """Collects references to reduced blocks; many small inline ones are merged into one.

    Lifting's table is bounded by keys, not bytes: with references and at most 64 KB of
    inline bytes per bucket an accumulator stays small, whatever it stands for.
    """

    def __init__(self, store: Store, reduction: Reduction) -> None:
        self.store, self.reduction = store, reduction

    def create_accumulator(self) -> list[Piece]:
        return []

    def add_input(self, pieces: list[Piece], piece: Piece) -> list[Piece]:
        pieces.append(piece)
        return self._compacted(pieces)

    def merge_accumulators(self, accumulators: Iterable[Iterable[Piece]]) -> list[Piece]:
        out: list[Piece] = []
        for pieces in accumulators:
            out = self._compacted([*out, *pieces])
        return out

    def extract_output(self, pieces: list[Piece]) -> list[Piece]:
        return pieces

    def get_accumulator_coder(self) -> Coder:
        return PiecesCoder()

    def _compacted(self, pieces: list[Piece]) -> list[Piece]:
        small = [piece for piece in pieces if _is_small(piece)]
        if sum(len(piece.data) for piece in small) <= _INLINE_BYTES:
            return pieces
        block = self.reduction(Block.concat([self.store.get_block(piece) for piece in small]))
        return [*(p for p in pieces if not _is_small(p)), self.store.put_block(block)]


def _is_small(piece: Piece) -> bool:
    return not piece.path and len(piece.data) <= _INLINE_BYTES


class _Merge(beam.DoFn):
    """(bucket, Pieces) -> Blocks: the reduced rows in order; with `count`, reduced again to
    the number of rows per shorter key."""

    def __init__(
        self, shuffle: Shuffle, reduction: Reduction, count: Reduction | None = None
    ) -> None:
        self.shuffle, self.reduction, self.count = shuffle, reduction, count

    def process(self, keyed: tuple[int, Iterable[Piece]]) -> Iterator[Block]:
        reduction = self.reduction
        slabs = bucket_slabs(self.shuffle, keyed[1], reduction.keys, collapse=reduction)
        rows = reduction.merge(slabs)
        if self.count:
            keys = self.count.keys
            rows = self.count.merge(_with_ones(block, keys) for block in rows)
        return slices(rows, _OUTPUT_BYTES)

