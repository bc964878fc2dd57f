"""How judgements are shown in tables."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from beam_reuse.cli.summary import print_table

T = TypeVar("T")
STEPS_SHOWN = 20
CLASSES_SHOWN = 40


def some_of(steps: Sequence[T], most: int, wanted: Callable[[T], bool]) -> list[T]:
    """At most `most` steps, evenly spread, the first, the last and the wanted one among them."""
    if len(steps) <= most:
        return list(steps)
    places = {round(i * (len(steps) - 1) / (most - 2)) for i in range(most - 1)}
    return [step for place, step in enumerate(steps) if place in places or wanted(step)]


def show(to: Console, columns: Sequence[str], rows: Iterable[Sequence[str]],
         text: int = 1) -> None:
    """Print a plain table whose first `text` columns hold words, the others numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(columns):
        words = number < text
        table.add_column(name, justify="left" if words else "right", no_wrap=not words,
                         overflow="fold")
    for row in rows:
        table.add_row(*row)
    print_table(to, table)


def shown(value: float | None, form: str = ".4f") -> str:
    """A number in this form; nothing where there is none."""
    return "" if value is None else f"{value:{form}}"


def percent(share: float | None, sign: str = "") -> str:
    return "" if share is None else f"{100 * share:.1f}{sign}"


def in_file(subject: str, table: str, kept: bool) -> str:
    """Where the rows are that are not shown."""
    return f", all in {subject}-{table}.csv" if kept else "; -o DIR writes them all"
