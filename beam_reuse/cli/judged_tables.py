"""How judgements are shown in tables."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.table import Table

T = TypeVar("T")
STEPS_SHOWN = 20
CLASSES_SHOWN = 40


def some_of(steps: Sequence[T], most: int, wanted: Callable[[T], bool]) -> list[T]:
    """At most `most` steps, evenly spread, the first, the last and the wanted one among them."""
    if len(steps) <= most:
        return list(steps)
    places = {round(i * (len(steps) - 1) / (most - 2)) for i in range(most - 1)}
    return [step for place, step in enumerate(steps) if place in places or wanted(step)]


def grid(*columns: str, text: int = 1) -> Table:
    """A plain table whose first `text` columns hold words, the others numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(columns):
        words = number < text
        table.add_column(name, justify="left" if words else "right", no_wrap=not words,
                         overflow="fold")
    return table


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def in_file(subject: str, table: str, kept: bool) -> str:
    return f", all in {subject}-{table}.csv" if kept else "; -o DIR writes them all"
