"""Folding all blocks into one value."""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.coders import Coder, registry
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import PiecesCoder
from beam_reuse.columnar.shuffle import Several, Shuffle, of_each
from beam_reuse.columnar.store import Piece, Store

_HELD = 8  # accumulators that wait in the store before they are merged


class CombineBlocks(beam.PTransform):
    """Block -> one value: `combine` over all blocks; its accumulators are of type `kind`,
    which has a coder of its own.

    Blocks are folded inside the bundle, so accumulators are all that Beam moves. (A runner
    that does not lift combiners would send every block through one key.) With `shuffle` it moves
    references to them, as it must where they grow with the input. The value exists without any
    block, too.
    """

    def __init__(self, combine: beam.CombineFn, kind: Any, output_type: Any = None,
                 shuffle: Shuffle | None = None) -> None:
        super().__init__()
        self.combine, self.kind, self.output_type = combine, kind, output_type or kind
        self.shuffle = shuffle

    @no_annotations
    def expand(self, blocks: Several) -> beam.PCollection:
        fold = _Fold(self.combine)
        if self.shuffle is not None:
            merge = MergeValues(self.combine, self.kind, self.shuffle, self.output_type)
            put = _FoldEach(fold, self.kind, merge.put)
            return blocks | "Fold" >> put | "Merge" >> merge.pieces
        merged = beam.CombineGlobally(_Merge(self.combine, self.kind))
        return (blocks | "Fold" >> _FoldEach(fold, self.kind)
                | "Merge" >> merged.with_output_types(self.output_type))


class MergeValues(beam.PTransform):
    """Values of type `kind`, accumulators of `combine` -> one value of all of them, which travel
    through the store of `shuffle`. The value exists without any, too.

    An engine that groups records in buffers of its own refuses a large one: Flink, where each of
    some hundred sorts has a part of the TaskManager's memory, one of a few hundred KB."""

    def __init__(self, combine: beam.CombineFn, kind: Any, shuffle: Shuffle,
                 output_type: Any = None) -> None:
        super().__init__()
        coder = registry.get_coder(kind)
        merge = _MergePieces(combine, coder, shuffle.store)
        self.put = beam.Map(_put_value, coder, shuffle.store).with_output_types(Piece)
        self.pieces = beam.CombineGlobally(merge).with_output_types(output_type or kind)

    def expand(self, values: beam.PCollection) -> beam.PCollection:
        return values | "Put" >> self.put | "Merge" >> self.pieces


class _FoldEach(beam.PTransform):
    def __init__(self, fold: beam.DoFn, kind: Any, put: beam.PTransform | None = None) -> None:
        super().__init__()
        self.fold, self.kind, self.put = fold, kind, put

    @no_annotations
    def expand(self, blocks: Several) -> beam.PCollection:
        fold = beam.ParDo(self.fold).with_output_types(self.kind)
        return of_each(blocks, fold | self.put if self.put else fold)


class _Fold(beam.DoFn):
    def __init__(self, combine: beam.CombineFn) -> None:
        self.combine = combine

    def start_bundle(self) -> None:
        self.held = self.combine.create_accumulator()

    def process(self, block: Block) -> Iterable[Any]:
        self.held = self.combine.add_input(self.held, block)
        return ()

    def finish_bundle(self) -> Iterator[Any]:
        held, self.held = self.held, None
        yield GlobalWindows.windowed_value(held)


class _Merge(beam.CombineFn):
    def __init__(self, combine: beam.CombineFn, kind: Any) -> None:
        self.combine, self.kind = combine, kind

    def create_accumulator(self) -> Any:
        return self.combine.create_accumulator()

    def add_input(self, held: Any, other: Any) -> Any:
        return self.combine.merge_accumulators([held, other])

    def merge_accumulators(self, accumulators: Iterable[Any]) -> Any:
        return self.combine.merge_accumulators(accumulators)

    def extract_output(self, held: Any) -> Any:
        return self.combine.extract_output(held)

    def get_accumulator_coder(self) -> Coder:
        return registry.get_coder(self.kind)


@no_annotations
def _put_value(value: Any, coder: Coder, store: Store) -> Piece:
    return store.put(coder.encode(value), 1)


class _MergePieces(beam.CombineFn):
    """Holds references to accumulators; several are merged into one now and then."""

    def __init__(self, combine: beam.CombineFn, coder: Coder, store: Store) -> None:
        self.combine, self.coder, self.store = combine, coder, store

    def create_accumulator(self) -> list[Piece]:
        return []

    def add_input(self, pieces: list[Piece], piece: Piece) -> list[Piece]:
        return self._few([*pieces, piece])

    def merge_accumulators(self, accumulators: Iterable[Iterable[Piece]]) -> list[Piece]:
        out: list[Piece] = []
        for pieces in accumulators:
            out = self._few([*out, *pieces])
        return out

    def extract_output(self, pieces: list[Piece]) -> Any:
        return self.combine.extract_output(self._merged(pieces))

    def get_accumulator_coder(self) -> Coder:
        return PiecesCoder()

    def _few(self, pieces: list[Piece]) -> list[Piece]:
        if len(pieces) < _HELD:
            return pieces
        return [_put_value(self._merged(pieces), self.coder, self.store)]

    def _merged(self, pieces: list[Piece]) -> Any:
        """One by one, so that two accumulators are in memory at a time."""
        held = self.combine.create_accumulator()
        for piece in pieces:
            other = self.coder.decode(self.store.get(piece))
            held = self.combine.merge_accumulators([held, other])
        return held
