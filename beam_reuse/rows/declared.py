"""What is known of rows while a plan is written, from what kernels declare (`columnar.schema`),
and the sentences where something else is asked for or given. No Beam.

A kernel without a declaration is allowed: nothing is known of its rows, and nothing is checked.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.schema import NOTHING, Gives, Types, types_of
from beam_reuse.rows.nodes import MAIN, Given, Output


def given_by(
    kernel: Callable[..., Any], sides: Sequence[pa.Schema | None], args: Sequence[Any],
) -> Given | None:
    """What a kernel gives of rows with these columns; None in place of what is not known."""
    declared: Gives | None = getattr(kernel, "gives", None)
    if declared is None:
        return None

    def made(each: Any) -> Any:
        if not callable(each):
            return each
        return None if any(side is None for side in sides) else each(*sides, *args)

    tags = made(declared.tags)
    if tags is None:
        return None
    return {MAIN: made(declared.main), **{tag: made(each) for tag, each in tags.items()}}


def columns_of(outputs: Sequence[Output]) -> pa.Schema | None:
    """The columns of the rows of all outputs, which have the same; None if they are not known."""
    found = [each.columns for each in outputs]
    if not found or any(each is None for each in found):
        return None
    return next((each for each in found if each), NOTHING)


def made_by(outputs: Sequence[Output]) -> str:
    """Where rows come from, for people."""
    names = (each.node.name if each.tag == MAIN else f"{each.node.name} ({each.tag})"
             for each in outputs)
    return f"rows of {', '.join(dict.fromkeys(names))}"


def require(what: str, names: Sequence[str], outputs: Sequence[Output]) -> None:
    """Refuse to do something by columns that rows do not have."""
    columns = columns_of(outputs)
    if columns is None:
        return
    for name in names:
        if name not in columns.names:
            raise ValueError(
                f"{what} {name!r}: {made_by(outputs)} have {', '.join(columns.names)}")


def require_tag(tag: str, output: Output) -> None:
    """Refuse a tag that a kernel does not give."""
    given = output.node.gives
    if given is not None and tag not in given:
        raise ValueError(f"tagged {tag!r}: {output.node.name} gives {', '.join(given)}")


def require_same(
    what: str, some: Sequence[Output], others: Sequence[Output], names: Sequence[str] = (),
) -> None:
    """Refuse rows of different columns (or of these columns) where they must be the same."""
    columns = columns_of(some), columns_of(others)
    if not all(columns):
        return
    mine, theirs = (types_of(each) for each in columns)
    for name in names or mine | theirs:
        if mine.get(name) != theirs.get(name):
            raise ValueError(
                f"{what}: {made_by(some)} have {_with_type(name, mine)}, "
                f"{made_by(others)} have {_with_type(name, theirs)}")


def _with_type(name: str, types: Types) -> str:
    return f"{name!r} as {types[name]}" if name in types else f"no {name!r}"


def require_given(name: str, gives: Mapping[str, Types | None], tag: str, block: Block) -> None:
    """Refuse rows that are not what their kernel declares. Cost: a microsecond or two."""
    if tag not in gives:
        raise TypeError(f"{name} gives rows tagged {tag!r}; it declares {', '.join(gives)}")
    declared, given = gives[tag], block.types()
    if declared is None or declared == given:
        return
    wrong = next(each for each in declared | given if declared.get(each) != given.get(each))
    tagged = "" if tag == MAIN else f" tagged {tag!r}"
    raise TypeError(f"{name} gives rows{tagged} that have {_with_type(wrong, given)}; it declares "
                    f"{_with_type(wrong, declared)}")
