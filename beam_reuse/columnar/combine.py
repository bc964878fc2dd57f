"""Folding all blocks into one value."""

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.coders import Coder, registry
from apache_beam.transforms.window import GlobalWindows
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.shuffle import Several, of_each


class CombineBlocks(beam.PTransform):
    """Block -> one value: `combine` over all blocks; its accumulators are of type `kind`,
    which has a coder of its own.

    Blocks are folded inside the bundle, so accumulators are all that Beam moves. (A runner
    that does not lift combiners would send every block through one key.) The value exists
    without any block, too.
    """

    def __init__(self, combine: beam.CombineFn, kind: Any, output_type: Any = None) -> None:
        super().__init__()
        self.combine, self.kind, self.output_type = combine, kind, output_type or kind

    @no_annotations
    def expand(self, blocks: Several) -> beam.PCollection:
        merge = beam.CombineGlobally(_Merge(self.combine, self.kind))
        return (
            blocks
            | "Fold" >> _FoldEach(self.combine, self.kind)
            | "Merge" >> merge.with_output_types(self.output_type)
        )


class _FoldEach(beam.PTransform):
    def __init__(self, combine: beam.CombineFn, kind: Any) -> None:
        super().__init__()
        self.combine, self.kind = combine, kind

    @no_annotations
    def expand(self, blocks: Several) -> beam.PCollection:
        fold = beam.ParDo(_Fold(self.combine)).with_output_types(self.kind)
        return of_each(blocks, fold)


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
