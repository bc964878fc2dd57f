"""The last step of a graph: what it wrote and counted, saved for the driver."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union

import apache_beam as beam
from apache_beam.pvalue import AsIter

from beam_reuse.columnar.block import Block
from beam_reuse.io.results.outcome import save_outcome
from beam_reuse.io.results.table_writer import TableWriter
from beam_reuse.pages.writing import Written, parts_of
from beam_reuse.rows import Plan, Value
from beam_reuse.rows.building import Built, build

ROWS_OF_TABLES = "rows of tables"


def save(
    pipeline: beam.Pipeline, plan: Plan, written: Written, writers: Mapping[str, TableWriter],
    path: str, values: Mapping[str, Value | int] | None = None,
    then: Callable[[str], None] | None = None,
) -> Built:
    """Build the graph that writes these tables, reports `values` and what is counted on the way of
    all rows, and saves that at `path`; then it calls `then(path)`."""
    built = build(pipeline, plan, {"receipts": written.receipts},
                  {ROWS_OF_TABLES: written.rows, **(values or {})},
                  kind=Union[int, float, dict[str, int]])  # noqa: UP007 (for Beam 2.62)
    _ = (pipeline | "End" >> beam.Impulse() | "Save outcome" >> beam.Map(
        _save, path, dict(writers), then,
        AsIter(built.rows["receipts"]), AsIter(built.counts), AsIter(built.values)))
    return built


def _save(
    _: bytes, path: str, writers: dict[str, TableWriter],  # of a Mapping Beam 2.62 takes no dict
    then: Callable[[str], None] | None, receipts: Iterable[Block],
    counts: Iterable[tuple[str, int]], values: Iterable[tuple[str, Any]],
) -> None:
    thresholds = dict(values)
    rows = thresholds.pop(ROWS_OF_TABLES)
    parts = [part for block in receipts for part in parts_of(block)]
    there = {part.path for part in parts}
    for name, writer in writers.items():
        parts += writer.write_missing(rows.get(name, 0), there)
    save_outcome(path, parts, counts, thresholds)
    if then is not None:
        then(path)
