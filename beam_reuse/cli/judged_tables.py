"""How judgements are shown in tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from beam_reuse.cli.summary import print_table
from beam_reuse.judging.reports import Row

T = TypeVar("T")
STEPS_SHOWN = 20
ROWS_SHOWN = 40
NO_REASON = "(none)"


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


def show_rows(to: Console, rows: Sequence[Row], headings: Mapping[str, str], rest: str = "",
              empty: str = "") -> None:
    """Print the first rows of a report's table, and how many more there are; `rest` says where.
    `headings` names the columns to show, those of text first. A share is shown in per cent where
    its heading ends in %; `empty` stands for empty text."""
    if not rows:
        return
    words = sum(isinstance(rows[0][name], str) for name in headings)
    show(to, list(headings.values()),
         [[_cell(row[name], heading, empty) for name, heading in headings.items()]
          for row in rows[:ROWS_SHOWN]], text=words)
    if len(rows) > ROWS_SHOWN:
        to.print(f"… and {len(rows) - ROWS_SHOWN:,} more{rest}\n")


def _cell(value: str | int | float | None, heading: str, empty: str) -> str:
    if isinstance(value, str):
        return escape(value) or empty
    if isinstance(value, float):
        return percent(value) if heading.endswith("%") else f"{value:,.2f}"
    return "" if value is None else f"{value:,}"


def shown(value: float | None, form: str = ".4f") -> str:
    """A number in this form; nothing where there is none."""
    return "" if value is None else f"{value:{form}}"


def percent(share: float | None, sign: str = "") -> str:
    return "" if share is None else f"{100 * share:.1f}{sign}"


def in_file(subject: str, table: str, kept: bool) -> str:
    """Where the rows are that are not shown."""
    return f", all in {subject}-{table}.csv" if kept else "; -o DIR writes them all"
