"""The result tables: their columns and types, and reading them back.

A table is a few lines: a name and its columns from the left. Column order and types are
part of the contract with users. `sink.WriteTable` writes blocks in this shape.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.io.files import join, open_files, reason_of
from beam_reuse.io.results.manifest import MANIFEST, Manifest, NoResultError

TIMESTAMP = pa.timestamp("us", tz="UTC")
STRINGS = pa.list_(pa.field("element", pa.string(), nullable=False))
SPANS = pa.list_(pa.field("element", pa.struct([
    pa.field("start", pa.int64(), nullable=False), pa.field("end", pa.int64(), nullable=False),
]), nullable=False))


@dataclass(frozen=True)
class Column:
    """A column of a result table. How a block's column fills it follows from `type`:

    string      from bytes (UTF-8), or from raw hashes ('V20'), which become lower-case hex
    STRINGS     from bytes: the values joined by line feeds
    SPANS       from bytes: int64 starts and ends in turn
    TIMESTAMP   from int64 microseconds since 1970 UTC
    int64, bool, double   from the NumPy column of that kind

    In a `nullable` column the lowest int64, an empty string and NaN stand for null. A column that
    `is_page` shows the URL of a page, or of several: an analysis gives page numbers (uint64; lists
    of them as bytes), which become URLs on the way.
    """

    name: str
    type: pa.DataType
    nullable: bool = False
    is_page: bool = False


@dataclass(frozen=True)
class TableSchema:
    """Name and columns of a result table. Rows are sorted by all columns from the left."""

    name: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def arrow(self) -> pa.Schema:
        """The schema as Arrow writes it into every part."""
        return pa.schema([pa.field(c.name, c.type, c.nullable) for c in self.columns])


def table(name: str, **columns: pa.DataType | Column) -> TableSchema:
    """A schema from `column=type` in order; wrap a type in `maybe` where null may stand."""
    return TableSchema(
        name,
        tuple(
            replace(kind, name=column) if isinstance(kind, Column)
            else Column(column, kind)
            for column, kind in columns.items()
        ),
    )


def maybe(kind: pa.DataType | Column) -> Column:
    """A column type in which null may stand."""
    if isinstance(kind, Column):
        return replace(kind, nullable=True)
    return Column("", kind, nullable=True)


text, number, share, flag = pa.string(), pa.int64(), pa.float64(), pa.bool_()
page, pages = Column("", text, is_page=True), Column("", STRINGS, is_page=True)

PAGES = table(
    "pages",
    url=text, fetched_url=text, kind=text, host=text, ip=maybe(text), site=text, domain=text,
    timestamp=maybe(TIMESTAMP), status=maybe(number), content_type=maybe(text),
    charset=maybe(text), bytes=number, sha1=text, chunks=number, tokens=maybe(number),
    lines=maybe(number), crawl=text, file=text, offset=number, record_length=number,
    record_id=maybe(text),
)
REJECTS = table(
    "rejects", file=text, offset=number, url=maybe(text), reason=text, detail=maybe(text)
)
EVENTS = table(
    "events",
    file=text, offset=number, outcome=number, reason=text, url=maybe(text), detail=maybe(text),
    depth=number,
)
DEPTH_HISTOGRAM = table("depth_histogram", depth=number, records=number)
FREQUENT_FILES = table(
    "frequent_files",
    sha1=text, occurrences=number, hosts=number, domains=number, bytes=number, first_url=text,
    first_timestamp=maybe(TIMESTAMP), sample_urls=pages,
)
FREQUENT_CHUNKS = table(
    "frequent_chunks",
    sha1=text, occurrences=number, pages=number, hosts=number, domains=number, bytes=number,
    text=text, first_url=text, first_timestamp=maybe(TIMESTAMP), sample_urls=pages,
)
FREQUENCY_HISTOGRAM = table(
    "frequency_histogram", kind=text, occurrences=number, distinct=number
)

LABELS = table(
    "labels",
    sha1=text, kind=text, source_url=maybe(text), bytes=maybe(number), text=maybe(text),
    nilsimsa=maybe(text),
)
MATCHED_FILES = table("matched_files", url=text, sha1=text, source_url=maybe(text))
MATCHED_CHUNKS = table(
    "matched_chunks",
    url=text, position=number, start=number, end=number, sha1=text, source_url=maybe(text),
    score=maybe(number),
)
PAGE_REUSE = table(
    "page_reuse",
    url=text, chunks=number, stop_chunks=number, matching=number, distinct_matching=number,
    contains=maybe(share), file_match=flag, flagged=flag,
)
NEIGHBOURHOODS = table(
    "neighbourhoods",
    prefix=text, depth=number, pages=number, chunks=number, matching=number,
    distinct_matching=number, badness=maybe(share), mean_contains=maybe(share), flagged=flag,
)
NEIGHBOURHOOD_SOURCES = table(
    "neighbourhood_sources", prefix=text, source=text, matching=number, distinct_matching=number
)
NILSIMSA_SWEEP = table(
    "nilsimsa_sweep", threshold=number, matching=number, exact=number, pages=number
)
IDENTITY_SETS = table("identity_sets", representative=page, url=page)
NEAR_DUPLICATES = table(
    "near_duplicates",
    url_a=page, url_b=page, b_similarity=number, c_similarity=number, same_site=flag, b=flag,
    c=flag, combined=flag, hybrid=flag,
)
NEAR_DUPLICATE_CLUSTERS = table("near_duplicate_clusters", algorithm=text, cluster=page, url=page)
NEAR_DUPLICATE_DEGREES = table(
    "near_duplicate_degrees", algorithm=text, degree=number, pages=number
)
SITE_PAIRS = table("site_pairs", algorithm=text, site_a=text, site_b=text, pairs=number)
KEEP = table("keep", url=page, keep=flag, because_of=maybe(page))
EXACT_COPIES = table("exact_copies", centre=page, url=page, cause=maybe(text))
PAGE_OVERLAP = table(
    "page_overlap",
    chunking=text, url_a=page, url_b=page, shared=number, containment_a=share,
    containment_b=share,
)
SERVER_OVERLAP = table(
    "server_overlap",
    chunking=text, host_a=text, host_b=text, shared=number, containment_a=share,
    containment_b=share, relation=text,
)
REPLICAS = table("replicas", chunking=text, copies=number, pages=number)
SKIPPABLE = table(
    "skippable", url=page, chunking=text, because_of=page, host=text, bytes=number
)
CRAWL_SAVINGS = table(
    "crawl_savings",
    chunking=text, host=text, pages=number, redundant_pages=number, bytes=number,
    redundant_bytes=number,
)
POPULAR_COLLECTIONS = table(
    "popular_collections",
    prefix=text, hosts=number, pages=number, bytes=number, sample_urls=pages,
)
QUILTS = table(
    "quilts",
    url=text, gram_size=number, max_pages_per_gram=number, min_sources=number,
    min_patch_fraction=share, variant=text, min_source_share=share, grams=number,
    patch_grams=number, patch_fraction=share, sources=number, linked_page_share=share,
    linked_domain_share=share,
)
QUILT_SOURCES = table(
    "quilt_sources",
    url=text, gram_size=number, max_pages_per_gram=number, min_sources=number,
    min_patch_fraction=share, variant=text, min_source_share=share, rank=number, source_url=text,
    grams=number, share=share, linked=text, spans=SPANS,
)

# How the names of tables begin that an analysis writes.
_WRITTEN_BY = {
    "frequen": "discovery", "matched_": "detection", "page_reuse": "detection",
    "neighbourhood": "detection", "identity_sets": "near-duplicates",
    "near_duplicate": "near-duplicates", "site_pairs": "near-duplicates",
    "keep": "near-duplicates", "exact_copies": "overlap", "page_overlap": "overlap",
    "server_overlap": "overlap", "replicas": "overlap", "skippable": "overlap",
    "crawl_savings": "overlap", "popular_collections": "overlap", "quilt": "quilts",
}
SCHEMAS = {
    schema.name: schema
    for schema in (
        PAGES, REJECTS, EVENTS, DEPTH_HISTOGRAM, FREQUENT_FILES, FREQUENT_CHUNKS,
        FREQUENCY_HISTOGRAM, LABELS, MATCHED_FILES, MATCHED_CHUNKS, PAGE_REUSE, NEIGHBOURHOODS,
        NEIGHBOURHOOD_SOURCES, NILSIMSA_SWEEP, IDENTITY_SETS, NEAR_DUPLICATES,
        NEAR_DUPLICATE_CLUSTERS, NEAR_DUPLICATE_DEGREES, SITE_PAIRS, KEEP,
        EXACT_COPIES, PAGE_OVERLAP, SERVER_OVERLAP, REPLICAS, SKIPPABLE, CRAWL_SAVINGS,
        POPULAR_COLLECTIONS, QUILTS, QUILT_SOURCES,
    )
}


def read_manifest(folder: str) -> Manifest:
    """The manifest of the result or index in `folder`; refuses a folder without one."""
    path = join(folder, MANIFEST)
    try:
        content = open_files(folder).read(path)
    except FileNotFoundError:
        raise NoResultError(
            f"{folder} is no finished result: it has no {MANIFEST}. "
            "Give the folder a run was told to write (-o), or run again."
        ) from None
    return Manifest.from_json(content.decode(), folder)


def no_table(folder: str, name: str, has: Iterable[str]) -> str:
    """What to tell of a table that a result does not have."""
    analysis = next((analysis for start, analysis in _WRITTEN_BY.items()
                     if name.startswith(start)), None)
    way_out = f" Run again with --analyses {analysis}." if analysis else ""
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
        except (OSError, pa.ArrowInvalid) as error:
            raise NoResultError(
                f"{folder}: {part.path} is listed in {MANIFEST} but cannot be read "
                f"({reason_of(error)}). Run again with --overwrite."
            ) from error
        if found.num_rows != part.rows:
            raise NoResultError(
                f"{folder}: {part.path} has {found.num_rows} rows, {MANIFEST} says {part.rows}. "
                "Run again with --overwrite."
            )
        read_parts.append(found)
    return pa.concat_tables(read_parts)
