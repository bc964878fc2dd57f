"""Declared columns: what the rows that travel have, by name and type.

    GRAMS = columns(gram=FINGERPRINT, page=PAGE)

    @gives(GRAMS)
    def gram_rows(pages: Block) -> Block: ...

A declaration is an Arrow schema, made of types with names that say what values mean. Kernels that
declare what they give stay plain functions.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from beam_reuse.columnar.fixed import FIXED

PAGE = FINGERPRINT = UNSIGNED = pa.uint64()
NUMBER = TIME = pa.int64()
KIND = TINY = pa.uint8()
SMALL = pa.uint16()
PART = VARIANT = pa.uint32()
SHARE, FLAG = pa.float64(), pa.bool_()
SHA1 = pa.binary(20)
TEXT = BYTES = pa.large_binary()

_FIXED = {pa.from_numpy_dtype(np.dtype(name)): name for name in FIXED}

Types = dict[str, str]
"""Columns with their types as `Block.types` names them: quick to compare, and to send."""


def columns(*others: pa.Schema, **kinds: pa.DataType | pa.Field) -> pa.Schema:
    """The columns of `others` and those named; a name that is there already has a new type."""
    fields = {field.name: field for other in others for field in other}
    for name, kind in kinds.items():
        fields[name] = (kind.with_name(name) if isinstance(kind, pa.Field)
                        else pa.field(name, kind, nullable=False))
    return pa.schema(fields.values())


NOTHING = columns()
"""Of kernels that give no rows: they only count."""


def maybe(kind: pa.DataType) -> pa.Field:
    """A column in which values may be null."""
    return pa.field("", kind, nullable=True)


def lists(kind: pa.DataType | pa.Field | pa.Schema) -> pa.DataType:
    """Lists of values of one type, or of rows."""
    if isinstance(kind, pa.Schema):
        kind = pa.struct(list(kind))
    item = kind if isinstance(kind, pa.Field) else pa.field("", kind, nullable=False)
    return pa.large_list(item.with_name("item"))


def raw(width: int) -> pa.DataType:
    """So many bytes."""
    return pa.binary(width)


def only(schema: pa.Schema, *names: str) -> pa.Schema:
    """These columns of a schema."""
    return pa.schema([schema.field(name) for name in names])


def less(schema: pa.Schema, *names: str) -> pa.Schema:
    """A schema without these columns."""
    return pa.schema([field for field in schema if field.name not in names])


Columns: TypeAlias = pa.Schema | Callable[..., pa.Schema]
Tags: TypeAlias = Mapping[str, Columns] | Callable[..., Mapping[str, pa.Schema] | None]
Kernel = TypeVar("Kernel")


class Gives(NamedTuple):
    """What a kernel declares: the columns of its main rows and of those that it tags."""

    main: Columns
    tags: Tags


def gives(main: Columns, tags: Tags | None = None) -> Callable[[Kernel], Kernel]:
    """Declare the columns of the rows that a kernel gives, and of those that it gives under tags.

    Where they depend on others, either is a function. It is called as the kernel is, with the
    columns of rows in place of rows (without `starts` and `sizes` of groups); args that are values
    of a plan are not there yet. One for tags may give the main rows with them.
    """
    def declared(kernel: Any) -> Any:
        kernel.gives = Gives(main, tags or {})
        return kernel

    return declared


def same(rows: pa.Schema, *_: Any) -> pa.Schema:
    """The declaration of a kernel that gives some of the rows it gets."""
    return rows


def types_of(schema: pa.Schema) -> Types:
    """The types of declared columns."""
    return {field.name: type_name(field) for field in schema}


def type_name(field: pa.Field) -> str:
    """The name that `Block.types` has for the type of a column."""
    return f"maybe {_name(field.type)}" if field.nullable else _name(field.type)


def _name(kind: pa.DataType) -> str:
    if pa.types.is_large_binary(kind):
        return "bytes"
    if pa.types.is_large_list(kind):
        return f"list {type_name(kind.value_field)}"
    if pa.types.is_struct(kind):
        return f"{{{', '.join(f'{each.name}: {type_name(each)}' for each in kind)}}}"
    return f"V{kind.byte_width}" if pa.types.is_fixed_size_binary(kind) else _FIXED[kind]
