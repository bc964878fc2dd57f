"""The slow, obvious twins: rows as tuples of Python values, groups as dicts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.nested import Values

Row = tuple[Any, ...]


def values(block: Block, name: str) -> list[Any]:
    """A column as Python values whose order is the column's order."""
    return values_of(block[name])


def values_of(column: Values) -> list[Any]:
    if isinstance(column, VarBytes):
        return column.to_list()
    if isinstance(column, Maybe):
        return [(value,) if valid else () for value, valid in zip(
            values_of(column.values), column.valid.tolist(), strict=True)]
    if isinstance(column, Lists):
        return [tuple(values_of(column[row])) for row in range(len(column))]
    if isinstance(column, Block):
        return rows(column)
    if column.dtype.kind == "V":
        return [value.tobytes() for value in column]
    return column.tolist()


def rows(blocks: Block | Iterable[Block], names: Sequence[str] = ()) -> list[Row]:
    """All rows, in order, of the columns `names` (default: all of them)."""
    out: list[Row] = []
    for block in [blocks] if isinstance(blocks, Block) else blocks:
        out += zip(*(values(block, name) for name in names or block.names), strict=True)
    return out


def groups(blocks: Iterable[Block], keys: Sequence[str], rest: Sequence[str]) -> dict:
    """{keys: rows of the other columns}."""
    out: dict[Row, list[Row]] = defaultdict(list)
    for row in rows(blocks, [*keys, *rest]):
        out[row[: len(keys)]].append(row[len(keys) :])
    return dict(out)


def reduced(blocks: Iterable[Block], keys: Sequence[str], columns: dict[str, str]) -> list[Row]:
    functions = {"sum": sum, "min": min, "max": max}
    out = []
    for key, members in groups(blocks, keys, list(columns)).items():
        columns_of_group = zip(*members, strict=True)
        results = [
            functions[operation](column)
            for operation, column in zip(columns.values(), columns_of_group, strict=True)
        ]
        out.append((*key, *results))
    return sorted(out)


def counted(blocks: Iterable[Block], keys: Sequence[str]) -> dict[Row, int]:
    return dict(Counter(rows(blocks, keys)))


def distinct(blocks: Iterable[Block], keys: Sequence[str], of: str) -> dict[Row, int]:
    return {key: len(set(members)) for key, members in groups(blocks, keys, [of]).items()}


def joined(left: Iterable[Block], right: Iterable[Block], key: str, a: str, b: str) -> list[Row]:
    """(key, a of the left, b of the right) for every matching pair."""
    right_groups = groups(right, [key], [b])
    return sorted(
        (k, x, y) for k, x in rows(left, [key, a]) for (y,) in right_groups.get((k,), [])
    )


def empty_like(block: Block) -> Block:
    return block.take(np.zeros(0, np.int64))
