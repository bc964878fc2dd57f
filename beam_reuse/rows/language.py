"""Rows: what an analysis is written in.

    grams = pages.rows(gram_rows, settings).repeated("gram")
    lists = grams.group(("gram",), patch_lists, settings)

A `Rows` stands for rows with named columns that will be there when the graph runs. Its verbs say
what becomes of them; kernels, which are plain functions, do it to blocks of many rows. Where rows
wait, for a value or for others with the same key, is found by the plan (`building`), which makes
of everything that can happen at once one round with one shuffle. Nothing runs while verbs are
called, but where kernels declare the columns that they give (`columnar.schema`), a verb refuses
what rows do not have.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.filters import KeyFilter, keep_matching
from beam_reuse.columnar.reduce import Reduction
from beam_reuse.columnar.schema import gives, same, types_of
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.rows import folds
from beam_reuse.rows.declared import (
    columns_of,
    given_by,
    require,
    require_given,
    require_same,
    require_tag,
)
from beam_reuse.rows.nodes import (
    MAIN,
    Bucketer,
    Fold,
    Folding,
    Given,
    Group,
    Map,
    Output,
    Side,
    Source,
    by_number,
)
from beam_reuse.rows.readers import ReadGroups, ReadJoined, ReadReduced, ReadStream, ReadTop

Value = Fold
Keys = Sequence[str] | str


@dataclass(frozen=True)
class Plan:
    """A graph that is being written: how it shuffles, and where its rows come from."""

    shuffle: Shuffle

    def rows(
        self, blocks: Sequence[Block], name: str = "given", columns: pa.Schema | None = None,
    ) -> "Rows":
        """Rows that are known now, few of them; each block is read for itself."""
        for block in blocks if columns is not None else ():
            require_given(name, {MAIN: types_of(columns)}, MAIN, block)
        return self.pieces(tuple(blocks), name, columns)

    def pieces(
        self, pieces: Any, name: str = "given", columns: pa.Schema | None = None,
    ) -> "Rows":
        """Rows that another graph gives: a PCollection of blocks, or of references to them."""
        return Rows(self, (Output(Source(name, pieces, gives={MAIN: columns})),))

    def nothing(self) -> "Rows":
        return Rows(self, ())


@dataclass(frozen=True)
class Rows:
    """A handle on rows with named columns. `a + b` are the rows of both, which have the same
    columns, or one of them none: a kernel that only counts gives no rows."""

    plan: Plan
    outputs: tuple[Output, ...]

    @property
    def columns(self) -> pa.Schema | None:
        """The declared columns; None where a kernel does not declare what it gives."""
        return columns_of(self.outputs)

    def __add__(self, other: "Rows") -> "Rows":
        require_same("+", self.outputs, other.outputs)
        return replace(self, outputs=(*self.outputs, *other.outputs))

    def tagged(self, tag: str) -> "Rows":
        """What the kernel that gave these rows gave as `Tagged(tag, ...)`."""
        for each in self.outputs:
            require_tag(tag, each)
        return replace(self, outputs=tuple(Output(each.node, tag) for each in self.outputs))

    def map(self, kernel: Callable[..., Any], *args: Any, name: str = "") -> "Rows":
        """What `kernel(block, *args)` gives for each block: a Block, Tagged, Count, several of
        these, or None. Args that are Values are there when the kernel is called."""
        name = name or _name(kernel)
        return replace(self, outputs=tuple(
            Output(Map(name, each, kernel, args, gives=given_by(kernel, (each.columns,), args)))
            for each in self.outputs))

    def group(
        self, keys: Keys, kernel: Callable[..., Any], *args: Any, order: Keys = (),
        limit: int | None = None, reducing: Mapping[str, str] | None = None, buckets: int = 0,
    ) -> "Rows":
        """What `kernel(block, starts, sizes, *args)` gives. The block is sorted by `keys` and
        `order` and has many groups of equal keys, each whole; `starts` are the rows where they
        begin, `sizes` how many rows they have.

        With `limit` no more than so many rows of a group are in the block, while `sizes` still
        counts all; without, a group must fit in memory. With `reducing` ({column: "sum", "min" or
        "max"}) rows that are equal in keys and order have become one before.
        """
        if limit is not None and limit < 1:
            raise ValueError(f"limit: {limit} is not allowed; it must be 1 or more, or None")
        side = self._side("group", keys, order, reducing)
        reader = ReadGroups(_tuple(keys), kernel, limit, side.reduction)
        return self._grouped(_name(kernel), (side.side,), reader, args, buckets,
                             given_by(kernel, (side.columns,), args))

    def stream(
        self, keys: Keys, kernel: Callable[..., Any], *args: Any, order: Keys = (),
        buckets: int = 0,
    ) -> "Rows":
        """What `kernel(slabs, *args)` gives for the rows of each bucket, an iterator of blocks in
        order of `keys` and `order`: for groups that may be larger than memory."""
        side = self._side("stream", keys, order)
        return self._grouped(_name(kernel), (side.side,), ReadStream(kernel), args, buckets,
                             given_by(kernel, (side.columns,), args))

    def reduce(self, keys: Keys, columns: Mapping[str, str], buckets: int = 0) -> "Rows":
        """One row per distinct `keys`; `columns` says of others "sum", "min", "max" or "any"."""
        side = self._side("reduce", keys, (), columns)
        assert side.reduction is not None
        name = f"reduce by {', '.join(_tuple(keys))}"
        return self._grouped(name, (side.side,), ReadReduced(side.reduction), (), buckets,
                             {MAIN: side.columns})

    def distinct(self, keys: Keys) -> "Rows":
        """Each of the `keys` once, without other columns."""
        return self.reduce(keys, {})

    def join(
        self, other: "Rows | Sequence[Rows]", keys: Keys, kernel: Callable[..., Any], *args: Any,
        order: Keys = (), reducing: Mapping[str, str] | None = None, other_order: Keys = (),
        other_reducing: Mapping[str, str] | None = None, buckets: int = 0, dealt: bool = False,
        counted: str = "",
    ) -> "Rows":
        """What `kernel(left, right, *args)` gives for ranges of keys: all rows of both sides that
        fall in one, sorted by the keys and the side's order, and reduced as in `group`; a side
        without any is None; of several others the kernel gets each. Memory: all rows of the
        largest key. `dealt`: rows go to buckets by the number that is their key, so that those of
        neighbouring numbers are worked on apart. `counted`: the name under which rows of the left
        side are counted that go through the shuffle, after what is reduced before."""
        others = (other,) if isinstance(other, Rows) else tuple(other)
        left = self._side("join", keys, order, reducing)
        sides = (replace(left, side=replace(left.side, counted=counted)),
                 *(each._side("join", keys, other_order, other_reducing) for each in others))
        for each in others:
            require_same("join", self.outputs, each.outputs, _tuple(keys))
        if dealt:
            (key,) = _tuple(keys)
            sides = tuple(replace(each, side=replace(
                each.side, bucketer=by_number, args=(key,))) for each in sides)
        reader = ReadJoined(_tuple(keys), kernel, tuple(each.reduction for each in sides))
        return self._grouped(_name(kernel), tuple(each.side for each in sides), reader, args,
                             buckets, given_by(kernel, [each.columns for each in sides], args))

    def top(self, n: int, descending: str, then: Keys) -> "Rows":
        """The `n` rows with the greatest int64 column `descending`, ties to the smallest `then`,
        in one block. Memory: 2 `n` rows a worker."""
        require("top by", (descending, *_tuple(then)), self.outputs)
        some = ReadTop(n, descending, _tuple(then))
        side = Side(self.outputs, _tuple(then), (), some.of, some.in_order, _one_bucket)
        return self._grouped(f"top by {descending}", (side,), some, (), 1, {MAIN: self.columns})

    def into_buckets(
        self, bucketer: Bucketer, *args: Any, order: Keys, kernel: Callable[..., Any],
        kernel_args: Sequence[Any] = (), buckets: int = 0,
    ) -> "Rows":
        """As `stream`, with rows in buckets as `bucketer(block, buckets, *args)` says."""
        require("into_buckets by", _tuple(order), self.outputs)
        ready = self._after(args)
        side = Side(ready.outputs, (), _tuple(order), bucketer=bucketer, args=args)
        return self._grouped(_name(kernel), (side,), ReadStream(kernel), tuple(kernel_args),
                             buckets, given_by(kernel, (self.columns,), kernel_args))

    def fold(self, folding: Folding, *args: Any, name: str = "") -> Value:
        """One value of all rows, which kernels may take as an argument. It must be small: every
        worker holds it."""
        name = name or type(folding).__name__
        require(f"{name} of", getattr(folding, "keys", ()), self.outputs)
        return Fold(name, self._after(args).outputs, folding, args)

    def total(self, *columns: str) -> Value:
        """{column: sum} of integer columns, exact at any size."""
        require("total of", columns, self.outputs)
        return self.fold(folds.SumColumns(columns))

    def keys(self, keys: Keys) -> Value:
        """A filter of all `keys`: `KeyFilter.may_hold` is true of all of them and of few others."""
        return self.fold(folds.UnionKeys(_tuple(keys), self.plan.shuffle.filter_keys))

    def only(self, keys: Value) -> "Rows":
        """The rows whose keys a filter may hold: all that match, and few others."""
        return self.map(keep_matching, keys)

    def repeated(self, keys: Keys, bits: int) -> "Rows":
        """Rows whose `keys` occur on two rows or more, and few others, told apart by 2**`bits`
        counters."""
        return self.only(self.fold(folds.FindRepeats(_tuple(keys), bits)))

    def gathered(self, order: Keys) -> Value:
        """All rows in one block, by `order`, one of each; for what is known to be small."""
        require("gathered by", _tuple(order), self.outputs)
        return self.fold(folds.GatherRows(_tuple(order)))

    def _after(self, args: Sequence[Any]) -> "Rows":
        """The same rows, once the values among `args` are there."""
        values = [each for each in args if isinstance(each, Fold)]
        return self.map(_same, *values, name="wait") if values else self

    def _side(
        self, verb: str, keys: Keys, order: Keys, reducing: Mapping[str, str] | None = None,
    ) -> "_Side":
        names, then = _tuple(keys), _tuple(order)
        require(f"{verb} by", (*names, *then), self.outputs)
        if reducing is None:
            return _Side(Side(self.outputs, names, then), None, self.columns)
        require(f"{verb}, reducing", tuple(reducing), self.outputs)
        reduction = Reduction((*names, *then), reducing)
        columns = None if self.columns is None else reduction.schema(self.columns)
        prepared = tuple(Output(Map("columns", each, reduction.prepared, gives={MAIN: columns}))
                         for each in self.outputs)
        return _Side(Side(prepared, names, then, reduction.loosely, reduction), reduction, columns)

    def _grouped(
        self, name: str, sides: tuple[Side, ...], reader: Any, args: tuple[Any, ...], buckets: int,
        gives: Given | None,
    ) -> "Rows":
        return Rows(self.plan, (Output(Group(name, sides, reader, args, buckets, gives=gives)),))


@dataclass(frozen=True)
class _Side:
    """A side, how its rows are reduced, and the columns that they then have."""

    side: Side
    reduction: Reduction | None
    columns: pa.Schema | None


def _tuple(keys: Keys) -> tuple[str, ...]:
    return (keys,) if isinstance(keys, str) else tuple(keys)


def _name(kernel: Callable[..., Any]) -> str:
    return getattr(kernel, "__name__", type(kernel).__name__)


@gives(same)
def _same(block: Block, *_: Any) -> Block:
    return block


def _one_bucket(block: Block, buckets: int) -> Any:
    return np.zeros(len(block), np.int64)


__all__ = ["KeyFilter", "Plan", "Rows", "Value"]
