"""What a kernel may give beside blocks of rows. No Beam."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from beam_reuse.columnar.block import Block


class Tagged(NamedTuple):
    """Rows of another kind than the main ones; `Rows.tagged` reads them."""

    tag: str
    rows: Block


class Count(NamedTuple):
    """So many more of something that is counted; reported with the run's outcome."""

    name: str
    number: int


def results_of(given: Any) -> Iterator[Block | Tagged | Count]:
    """What a kernel returned, one by one: nothing, one thing or many; nothing without rows."""
    if given is None:
        return
    for each in (given,) if isinstance(given, Block | Tagged | Count) else given:
        if isinstance(each, Count):
            if each.number:
                yield each
        elif len(each.rows if isinstance(each, Tagged) else each):
            yield each
