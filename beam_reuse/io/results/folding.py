"""Rows of a table that travel folded into one row, in list columns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column, Maybe
from beam_reuse.columnar.distinct import number_distinct
from beam_reuse.columnar.nested import slice_column
from beam_reuse.io.results.arrow_columns import Coded
from beam_reuse.io.results.tables import TableSchema

Columns = dict[str, Column | Coded]


@dataclass(frozen=True)
class FoldedRows:
    """All rows with the same value in the first column are one folded row, in which every other
    column has a list with a value for each of them, in order.

    `coded` names columns of which few values come often. Their lists have each value once; a
    list in the column that is named beside has the places of the rows' values there. A column that
    blocks do not have is null in all rows.
    """

    coded: Mapping[str, str]

    def counts(self, folded: Block) -> NDArray[np.int64]:
        """How many rows each folded row has."""
        return folded.lists(next(iter(self.coded.values()))).lengths()

    def unfold(
        self, folded: Block, schema: TableSchema, start: int = 0, stop: int | None = None,
    ) -> Columns:
        """The rows start..stop-1 of all that are folded here (default: all)."""
        counts = self.counts(folded)
        stop = int(counts.sum()) if stop is None else stop
        row = np.repeat(np.arange(len(folded)), counts)[start:stop]
        first, *others = schema.names
        columns: Columns = {first: Coded(folded[first], row)}
        for name in others:
            if name not in folded:
                columns[name] = Maybe.nulls(len(row), np.int64)
            elif name in self.coded:
                offsets, values = folded.lists(name).flat()
                places = folded.lists(self.coded[name]).used()[start:stop]
                columns[name] = Coded(values, offsets[row] + places)
            else:
                columns[name] = _coded(slice_column(folded.lists(name).used(), start, stop))
        return columns

    def unfolded(
        self, slabs: Iterable[Block], schema: TableSchema, rows: int,
    ) -> Iterator[Columns]:
        """The rows of all slabs, exactly `rows` at a time, the last time fewer."""
        held, given = Block({}), 0  # `given` rows of what is held are given already
        for slab in filter(len, slabs):
            held = Block.concat([held, slab]) if len(held) else slab
            bounds = np.append(0, np.cumsum(self.counts(held)))
            for start in range(given, int(bounds[-1]) - rows + 1, rows):
                low = int(np.searchsorted(bounds, start, "right")) - 1
                high = int(np.searchsorted(bounds, start + rows))
                first = start - int(bounds[low])
                yield self.unfold(held.slice(low, high), schema, first, first + rows)
                given = start + rows
            low = int(np.searchsorted(bounds, given, "right")) - 1
            held, given = held.slice(low, len(held)), given - int(bounds[low])
        if len(held):
            yield self.unfold(held, schema, given)


def _coded(values: Column) -> Column | Coded:
    """Hashes coded: each becomes digits once, however often it is there."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "V":
        return values
    numbers, places = number_distinct(values)
    return Coded(values[places], numbers)
