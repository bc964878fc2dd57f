"""What is shown of a result that may not have every table: of an older version, or a part."""

from collections.abc import Callable, Iterable, Iterator

from beam_reuse.io.results.damage import DamagedTableError
from beam_reuse.io.results.result import Result
from beam_reuse.io.results.tables import TableSchema
from beam_reuse.report.values import Card, Figure, Missing

Shown = Card | Figure | Missing
Part = tuple[Callable[[Result], Iterable[Shown]], tuple[TableSchema, ...]]


def parts(there: Result, *each: Part) -> Iterator[Shown]:
    """What each function gives of the result, or, where a table that it needs is missing or
    damaged, which."""
    for make, needed in each:
        missing = [schema for schema in needed if not there.has(schema)]
        if missing:
            yield from (Missing(schema.name, there.damage(schema)) for schema in missing)
            continue
        try:
            yield from [*make(there)]
        except DamagedTableError as error:
            yield Missing(error.table, error.in_folder)
