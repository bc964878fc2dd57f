"""Record batches of a table as rows that Beam knows: for SQL, YAML, data frames and lambdas."""

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import repeat
from typing import Any, Optional

import apache_beam as beam
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import PValue
from apache_beam.typehints.row_type import RowTypeConstraint
from apache_beam.utils.timestamp import Timestamp

from beam_reuse.core.errors import UserError
from beam_reuse.io.results.tables import SCHEMAS, TableSchema
from beam_reuse.pages.read_pages import inputs_in

_SEQUENCE: Any = typing.Sequence  # Beam 2.62 knows it by this name alone
_PLAIN = {pa.string(): str, pa.int64(): int, pa.float64(): float, pa.bool_(): bool}


class AsRows(beam.PTransform):
    """PCollection of record batches of a table -> PCollection of `beam.Row` with its schema.

    `table` is the name of a table (or a schema, for those of others). What an analysis gives can
    be taken whole: `found | AsRows("quilts")` is `found["quilts"] | AsRows("quilts")`.
    A column that may be null is Optional; a time is Beam's Timestamp, a list a Sequence, a struct a
    Row. Cost: a quarter of a microsecond for each value, and more where Beam encodes it: filter
    batches before where there are many.

    >>> AsRows("frequency_histogram").row_type
    Row(kind=<class 'str'>, occurrences=<class 'int'>, distinct=<class 'int'>)
    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     rows = p | ReadPages("crawl/*.jsonl") | ListPages() | AsRows("pages")
    ...     sums = rows | beam.GroupBy("kind").aggregate_field("tokens", sum, "tokens")
    ...     _ = sums | beam.Map(lambda row: print(row.kind, row.tokens))
    document 788
    """

    def __init__(self, table: str | TableSchema) -> None:
        super().__init__()
        self.schema = table if isinstance(table, TableSchema) else _schema_of(table)

    @property
    def row_type(self) -> RowTypeConstraint:
        """The type of the rows, for `with_output_types` of transforms that pass them on."""
        return _row_type(f"beam_reuse_{self.schema.name}", list(self.schema.arrow()))

    def default_label(self) -> str:
        return f"AsRows({self.schema.name})"

    def _extract_input_pvalues(self, pvalueish: Any) -> tuple[Any, tuple[PValue, ...]]:
        return inputs_in(pvalueish)

    def expand(self, batches: Any) -> beam.PCollection:
        name = self.schema.name
        if isinstance(batches, Mapping):
            if name not in batches:
                raise UserError(f"AsRows({name!r}): there are {', '.join(batches)}, and no such "
                                "table. Apply it to what the analysis of that table gives.")
            batches = batches[name]
        if not isinstance(batches, beam.PCollection):
            raise UserError(f"AsRows({name!r}) takes a PCollection of record batches, or a dict of "
                            f"them as analyses give, not {type(batches).__name__}.")
        return batches | "Rows" >> beam.FlatMap(rows_of, self.schema).with_output_types(
            self.row_type)


def rows_of(batch: pa.RecordBatch, schema: TableSchema) -> Iterator[beam.Row]:
    """The rows of a batch; refuses one of another table."""
    if batch.schema.names != list(schema.names):
        raise UserError(f"AsRows({schema.name!r}) got a batch of another table, with the columns "
                        f"{', '.join(batch.schema.names)}.")
    yield from _rows(schema.names, [_values(column) for column in batch.columns])


def _schema_of(table: str) -> TableSchema:
    if table in SCHEMAS:
        return SCHEMAS[table]
    near = get_close_matches(str(table), SCHEMAS, 1)
    raise UserError(f"AsRows({table!r}): there is no such table" + (
        f"; did you mean {near[0]!r}?" if near else f". There are {', '.join(SCHEMAS)}."))


def _row_type(name: str, fields: Iterable[pa.Field]) -> RowTypeConstraint:
    """The type of rows with these fields. It has the same id in every process."""
    return RowTypeConstraint.from_fields(
        [(field.name, _field_type(name, field)) for field in fields], schema_id=name)


def _field_type(name: str, field: pa.Field) -> Any:
    kind = _type_of(f"{name}_{field.name}", field.type)
    return Optional[kind] if field.nullable else kind  # noqa: UP045 (a Row type knows no |)


def _type_of(name: str, kind: pa.DataType) -> Any:
    if pa.types.is_timestamp(kind):
        return Timestamp
    if pa.types.is_list(kind):
        return _SEQUENCE[_field_type(name, kind.value_field)]
    if pa.types.is_struct(kind):
        return _row_type(name, [kind.field(i) for i in range(kind.num_fields)])
    return _PLAIN[kind]


def _values(column: pa.Array) -> Iterable[Any]:
    """The values of a column as Beam has them."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        micros = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
        return _maybe(column, micros.to_pylist(), lambda value: Timestamp(micros=value))
    if pa.types.is_struct(kind):
        names = [kind.field(i).name for i in range(kind.num_fields)]
        rows = _rows(names, [_values(each) for each in column.flatten()])
        return _maybe(column, rows, lambda row: row)
    if pa.types.is_list(kind):
        items = list(_values(column.flatten()))
        ends = pc.cumulative_sum(column.value_lengths().fill_null(0)).to_pylist()
        pairs = zip([0, *ends], ends, strict=False)
        return _maybe(column, pairs, lambda pair: items[slice(*pair)])
    return column.to_pylist()


def _maybe(column: pa.Array, values: Iterable[Any], of: Callable[[Any], Any]) -> Iterator[Any]:
    """What `of` makes of the values, None where the column has null."""
    valid = column.is_valid().to_pylist() if column.null_count else repeat(True)
    return (of(value) if there else None for value, there in zip(values, valid, strict=False))


def _rows(names: Sequence[str], columns: Sequence[Iterable[Any]]) -> Iterator[beam.Row]:
    for values in zip(*columns, strict=True):
        yield beam.Row(**dict(zip(names, values, strict=True)))
