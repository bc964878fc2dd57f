"""The result tables: their columns and types, and reading them back.

A table is a few lines: a name and its columns from the left. Column order and types are
part of the contract with users. `pages.writing` writes blocks in this shape.

>>> SCHEMAS["keep"].names
('url', 'keep', 'because_of', 'reason', 'containment')
>>> read("result", "boilerplate").select(["text", "pages"]).to_pylist()
[{'text': 'Home Contact Imprint', 'pages': 6}]
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.columnar.schema import NUMBER, PAGE, TEXT, TIME, columns, lists
from beam_reuse.declaring.registry import known
from beam_reuse.io.files import join, open_files
from beam_reuse.io.results.damage import DamagedTableError, why_unread
from beam_reuse.io.results.manifest import MANIFEST, Manifest, NoResultError

TIMESTAMP = pa.timestamp("us", tz="UTC")
STRINGS = pa.list_(pa.field("element", pa.string(), nullable=False))
_SPAN = columns(start=NUMBER, end=NUMBER)
SPANS = pa.list_(pa.field("element", pa.struct(list(_SPAN)), nullable=False))


@dataclass(frozen=True)
class Column:
    """A column of a result table. How a block's column fills it follows from `type`:

    string      from VarBytes (UTF-8), or from raw hashes ('V20'), which become lower-case hex
    STRINGS     from Lists of these
    SPANS       from Lists of blocks with `start` and `end`
    TIMESTAMP   from int64 microseconds since 1970 UTC
    int64, bool, double   from the NumPy column of that kind

    A `nullable` column is filled from Maybe. A column that `is_page` shows the URL of a page, or of
    several: an analysis gives page numbers (uint64, or Lists or Maybe of them), which become URLs
    on the way. One of hashes is given as `raw` bytes, so many each.
    """

    name: str
    type: pa.DataType
    nullable: bool = False
    is_page: bool = False
    raw: int = 0

    @property
    def given(self) -> pa.DataType:
        """The type in which an analysis gives it."""
        if self.raw:
            return pa.binary(self.raw)
        one = PAGE if self.is_page else TEXT
        return {text: one, STRINGS: lists(one), SPANS: lists(_SPAN), TIMESTAMP: TIME}.get(
            self.type, self.type)


@dataclass(frozen=True)
class TableSchema:
    """Name and columns of a result table. Rows are sorted by all columns from the left."""

    name: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def numbers(self) -> dict[str, str]:
        """Columns that show one page, with the names of columns that have its number on the way:
        numbers of pages are in the order of their URLs, and quicker to sort."""
        return {c.name: f"{c.name} number" for c in self.columns if c.is_page and c.type == text}

    @property
    def rows(self) -> pa.Schema:
        """The columns of rows for it, as an analysis gives them."""
        return pa.schema([pa.field(c.name, c.given, c.nullable) for c in self.columns])

    def arrow(self) -> pa.Schema:
        """The schema as Arrow writes it into every part."""
        return pa.schema([pa.field(c.name, c.type, c.nullable) for c in self.columns])


def table(name: str, **columns: pa.DataType | Column) -> TableSchema:
    """A schema from `column=type` in order; wrap a type in `maybe` where null may occur."""
    return TableSchema(
        name,
        tuple(
            replace(kind, name=column) if isinstance(kind, Column)
            else Column(column, kind)
            for column, kind in columns.items()
        ),
    )


def maybe(kind: pa.DataType | Column) -> Column:
    """A column type in which null may occur."""
    if isinstance(kind, Column):
        return replace(kind, nullable=True)
    return Column("", kind, nullable=True)


text, number, share, flag = pa.string(), pa.int64(), pa.float64(), pa.bool_()
page, pages = Column("", text, is_page=True), Column("", STRINGS, is_page=True)
sha1, digest = Column("", text, raw=20), Column("", text, raw=32)

PAGES = table(
    "pages",
    url=text, fetched_url=text, kind=text, host=text, ip=maybe(text), site=text, domain=text,
    timestamp=maybe(TIMESTAMP), status=maybe(number), content_type=maybe(text),
    charset=maybe(text), bytes=number, sha1=sha1, chunks=number, tokens=maybe(number),
    lines=maybe(number), crawl=text, file=text, offset=number, record_length=number,
    record_id=maybe(text), declared_canonical=maybe(text), declared_date=maybe(TIMESTAMP),
)
REJECTS = table(
    "rejects", file=text, offset=number, url=maybe(text), reason=text, detail=maybe(text)
)
SKIPPED = table(
    "skipped", file=text, offset=number, url=text, reason=text, because_of=maybe(text)
)
EVENTS = table(
    "events",
    file=text, offset=number, outcome=number, reason=text, url=maybe(text), detail=maybe(text),
    depth=number, rows=number,
)
DEPTH_HISTOGRAM = table("depth_histogram", depth=number, records=number)

LABELS = table(
    "labels",
    sha1=sha1, kind=text, source_url=maybe(text), domains=maybe(number), bytes=maybe(number),
    text=maybe(text), nilsimsa=maybe(digest),
)

# Pages of which the command `labels` left out every chunk: for it to report, not in results.
PAGES_WITHOUT_LABELS = table(
    "pages_without_labels",
    url=text, chunks=number, on_several_domains=number, background_host=maybe(text),
)

# Those that belong to no analysis; `SCHEMAS` has all.
COMMON = (PAGES, REJECTS, SKIPPED, EVENTS, DEPTH_HISTOGRAM, LABELS, PAGES_WITHOUT_LABELS)


class _Schemas(Mapping[str, TableSchema]):
    """The schemas of all tables by name, those of every analysis with them; these are loaded when
    they are first asked for, as they are written in terms of this module."""

    @cached_property
    def _all(self) -> dict[str, TableSchema]:
        found = {schema.name: schema for schema in COMMON}
        for about in known().values():
            for schema in about.schemas():
                if schema.name in found:
                    raise ValueError(f"the analysis {about.name} has a table {schema.name!r}, "
                                     "which is there already; give it another name")
                found[schema.name] = schema
        return found

    def __getitem__(self, name: str) -> TableSchema:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


SCHEMAS = _Schemas()


def __getattr__(name: str) -> TableSchema:
    """`tables.QUILTS` is `tables.SCHEMAS["quilts"]`, and so for every table of an analysis."""
    if name.isupper() and name.lower() in SCHEMAS:
        return SCHEMAS[name.lower()]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def read_manifest(folder: str) -> Manifest:
    """The manifest of the result or index in `folder`; refuses a folder without one."""
    path = join(folder, MANIFEST)
    try:
        content = open_files(folder).read(path)
    except (FileNotFoundError, NotADirectoryError):
        raise NoResultError(
            f"{folder} is no finished result: it has no {MANIFEST}. "
            "Give the folder that a run has written (-o), or run again."
        ) from None
    return Manifest.from_json(content.decode(), folder)


def no_table(folder: str, name: str, has: Iterable[str]) -> str:
    """What to say of a table that a result does not have."""
    whose = next((about for about in known().values()
                  if name in {schema.name for schema in about.schemas()}), None)
    way_out = "" if whose is None else (
        f" Run again with --analyses {' or '.join(whose.follows) or whose.name}."
        if whose.command == "run" else f" The command {whose.command} writes it.")
    return f"{folder} has no table {name!r}; it has {', '.join(sorted(has))}.{way_out}"


def read(folder: str, name: str) -> pa.Table:
    """The table `name` of the result in `folder`, parts in order.

    Refuses a folder without manifest, a table the manifest does not list, and a part that is
    missing, damaged or has another number of rows than the manifest says. Memory: the whole table.
    """
    parts = read_manifest(folder).tables()
    if name not in parts:
        raise NoResultError(no_table(folder, name, parts))
    files = open_files(folder)
    read_parts = []
    for part in parts[name]:
        try:
            with files.open(join(folder, part.path)) as source:
                found = pq.ParquetFile(source, page_checksum_verification=True).read()
        except (OSError, pa.ArrowException) as error:
            raise DamagedTableError(folder, part, why_unread(error)) from error
        if found.num_rows != part.rows:
            raise DamagedTableError(
                folder, part, f"has {found.num_rows} rows, {MANIFEST} says {part.rows}")
        read_parts.append(found)
    return pa.concat_tables(read_parts)
