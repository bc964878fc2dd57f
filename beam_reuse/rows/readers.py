"""What verbs do to a bucket: sorted rows become what kernels take. Each is a `nodes.Reader`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.group import whole_groups
from beam_reuse.columnar.join import aligned
from beam_reuse.columnar.reduce import Reduction
from beam_reuse.columnar.runs import slices
from beam_reuse.columnar.top import top_rows
from beam_reuse.rows.results import results_of

_OUTPUT_BYTES = 8 << 20


@dataclass(frozen=True)
class ReadGroups:
    keys: tuple[str, ...]
    kernel: Callable[..., Any]
    limit: int | None
    reduction: Reduction | None

    def __call__(self, sides: Sequence[Iterator[Block]], args: Sequence[Any]) -> Iterator[Any]:
        slabs: Iterable[Block] = sides[0]
        if self.reduction is not None:
            slabs = self.reduction.merge(slabs)
        for block, starts, sizes in whole_groups(slabs, self.keys, self.limit):
            yield from results_of(self.kernel(block, starts, sizes, *args))


@dataclass(frozen=True)
class ReadStream:
    kernel: Callable[..., Any]

    def __call__(self, sides: Sequence[Iterator[Block]], args: Sequence[Any]) -> Any:
        return self.kernel(sides[0], *args)


@dataclass(frozen=True)
class ReadReduced:
    reduction: Reduction

    def __call__(self, sides: Sequence[Iterator[Block]], args: Sequence[Any]) -> Iterator[Block]:
        return slices(self.reduction.merge(sides[0]), _OUTPUT_BYTES)


@dataclass(frozen=True)
class ReadJoined:
    keys: tuple[str, ...]
    kernel: Callable[..., Any]
    reductions: tuple[Reduction | None, ...]

    def __call__(self, sides: Sequence[Iterator[Block]], args: Sequence[Any]) -> Iterator[Any]:
        slabs = [each if reduction is None else reduction.merge(each)
                 for each, reduction in zip(sides, self.reductions, strict=True)]
        for rows in aligned(slabs, self.keys):
            yield from results_of(self.kernel(*rows, *args))


@dataclass(frozen=True)
class ReadTop:
    n: int
    descending: str
    then: tuple[str, ...]

    def of(self, block: Block) -> Block:
        return top_rows([block], self.n, self.descending, self.then)

    def in_order(self, block: Block) -> Block:
        return self.of(block).sort(self.then)

    def __call__(self, sides: Sequence[Iterator[Block]], args: Sequence[Any]) -> Iterator[Block]:
        yield top_rows(list(sides[0]), self.n, self.descending, self.then)
