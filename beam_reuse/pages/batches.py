"""Rows of a table on their way out: Arrow record batches of its schema."""

import apache_beam as beam
import pyarrow as pa

from beam_reuse.columnar.block import Block
from beam_reuse.io.results.arrow_columns import to_arrow
from beam_reuse.io.results.folding import FoldedRows
from beam_reuse.io.results.tables import TableSchema


def to_batches(
    blocks: beam.PCollection, schema: TableSchema, folding: FoldedRows | None = None,
) -> beam.PCollection:
    """A PCollection of blocks of rows of a table as one of record batches."""
    return blocks | f"Table {schema.name}" >> beam.Map(
        batch_of, schema, folding).with_output_types(pa.RecordBatch)


def batch_of(block: Block, schema: TableSchema, folding: FoldedRows | None) -> pa.RecordBatch:
    """Rows of a table as a record batch of its schema."""
    rows = block if folding is None else folding.unfold(block, schema)
    table = to_arrow(schema, rows).cast(schema.arrow())
    if not len(table):  # which has no batches
        return pa.RecordBatch.from_pylist([], table.schema)
    return table.combine_chunks().to_batches()[0]
