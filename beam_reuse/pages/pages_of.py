"""PagesOf: rows of a pipeline as pages, for pipelines of other people.

Rows are dealt by their URL to ranges, which are worked on apart; a range is sorted, so that tables
do not depend on how rows came. Contents travel by file, as all rows do.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import Any

import apache_beam as beam
import numpy as np
import orjson
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.timestamp import Timestamp

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import BYTES, PART, SHA1, columns, gives
from beam_reuse.columnar.store import make_shared
from beam_reuse.core.chunking import file_sha1
from beam_reuse.core.errors import UserError
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.pages import Outcome
from beam_reuse.core.settings import ChunkSettings, ReadSettings, given_or_default
from beam_reuse.core.tokens import fingerprint64
from beam_reuse.io.crawl.inputs import InputFile
from beam_reuse.io.crawl.ranges import FileRange
from beam_reuse.io.crawl.records import Place
from beam_reuse.io.crawl.rows import COLUMNS, row_outcome, utf8
from beam_reuse.io.files import join
from beam_reuse.pages.composite import Composite
from beam_reuse.pages.ingest import PART_ROWS, IngestSettings, ingest_outcomes
from beam_reuse.pages.inputs import range_bytes
from beam_reuse.pages.read_pages import PagesRead, temporary_folder
from beam_reuse.pages.reading import MOST_DEALT, TAGS, given_of, number_pages, records_of
from beam_reuse.pages.sizes import shuffle_for
from beam_reuse.rows import Plan, Tagged
from beam_reuse.rows.nodes import by_number

ROWS = columns(range=PART, url=BYTES, sha1=SHA1, rest=BYTES, content=BYTES)
_ORDER = ("range", "url", "sha1", "rest")
_FLUSH_BYTES = 8 << 20
_CONTENTS = ("html", "text")


class PagesOf(Composite):
    """PCollection of rows, `beam.Row` or dict -> PagesRead, as of `ReadPages`.

    A row has a `url`, and `html` or `text` (str, or bytes of which the charset is found), and may
    have `timestamp`, `status`, `content_type` and `ip`, as lines of JSON Lines do. Every row is a
    page, or is counted as skipped or rejected, exactly once; in tables rows are records of files
    `rows-0`, `rows-1` ..., which nobody writes. `expected_bytes` is about what all contents have
    together: sizes of work follow from it.

    >>> rows = [{"url": f"http://{name}.example/", "text": "Once upon a time"} for name in "abc"]
    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     pages = p | beam.Create(rows) | PagesOf(expected_bytes=10_000)
    ...     kept = pages | FindNearDuplicates() | AsRows("keep")
    ...     _ = kept | beam.Filter(lambda row: row.keep) | beam.Map(lambda row: print(row.url))
    http://a.example/
    """

    def __init__(
        self, read: ReadSettings | None = None, features: FeatureSettings | None = None, *,
        expected_bytes: int = 1 << 30, spill: str = "",
    ) -> None:
        super().__init__()
        self.read = given_or_default(read, ReadSettings, self)
        self.features = given_or_default(
            features or FeatureSettings(ChunkSettings(), text=True), FeatureSettings, self)
        self.expected_bytes, self.spill = expected_bytes, spill

    def expand(self, rows: beam.PCollection) -> PagesRead:
        if not isinstance(rows, beam.PCollection):
            raise UserError("PagesOf takes a PCollection of rows with `url`, and `html` or `text`. "
                            "Files are read by ReadPages.")
        if not rows.is_bounded:
            raise UserError("PagesOf takes rows that end; these come from a stream.")
        if not rows.windowing.is_default():
            rows = rows | "One window" >> beam.WindowInto(GlobalWindows())
        spill = self.spill or temporary_folder()
        ranges = -(-self.expected_bytes // range_bytes(self.expected_bytes))
        ranges = min(max(1, ranges), MOST_DEALT)
        plan = Plan(shuffle_for(self.expected_bytes, spill))
        blocks = rows | "Deal" >> beam.ParDo(_Deal(ranges)).with_output_types(Block)
        records = records_of(plan.pieces(blocks, "rows", ROWS).into_buckets(
            by_number, "range", order=_ORDER, kernel=read_rows, buckets=ranges, kernel_args=(
                join(spill, "parts"), IngestSettings(self.read, self.features, cut_urls=True))))
        crawl = number_pages(plan, records, self.read, self.features, spill, ranges)
        return PagesRead.of(rows.pipeline, crawl, self.features)


class _Deal(beam.DoFn):
    """Rows -> blocks of ROWS, of some megabytes each."""

    def __init__(self, ranges: int) -> None:
        self.ranges = ranges

    def start_bundle(self) -> None:
        self.held: list[tuple[int, bytes, bytes, bytes, bytes]] = []
        self.nbytes = 0

    def process(self, row: Any) -> Iterator[Block]:
        packed = pack(row)
        self.held.append((fingerprint64(packed[0]) % self.ranges, *packed))
        self.nbytes += sum(map(len, packed))
        if self.nbytes > _FLUSH_BYTES:
            yield self._block()

    def finish_bundle(self) -> Iterator[Any]:
        if self.held:
            yield GlobalWindows.windowed_value(self._block())

    def _block(self) -> Block:
        number, url, sha1, rest, content = zip(*self.held, strict=True)
        self.held, self.nbytes = [], 0
        return Block({
            "range": np.array(number, np.uint32), "url": VarBytes.from_list(list(url)),
            "sha1": np.frombuffer(b"".join(sha1), "V20"),
            "rest": VarBytes.from_list(list(rest)), "content": VarBytes.from_list(list(content))})


def pack(row: Any) -> tuple[bytes, bytes, bytes, bytes]:
    """A row as its URL, the hash of its content, the rest, and its content."""
    fields = row if isinstance(row, Mapping) else (
        row.as_dict() if isinstance(row, beam.Row) else getattr(row, "_asdict", dict)())
    if not fields:
        raise UserError("PagesOf takes rows with `url`, and `html` or `text`: dicts or beam.Row, "
                        f"not {type(row).__name__}.")
    rest = {name: _plain(fields[name]) for name in COLUMNS
            if name not in _CONTENTS and fields.get(name) is not None}
    name = next((name for name in _CONTENTS if isinstance(fields.get(name), str | bytes)), "")
    content = fields[name] if name else b""
    rest["of"] = [name, isinstance(content, str)]
    data = utf8(content) if isinstance(content, str) else content
    url = utf8(str(rest.get("url", "")))
    return url, file_sha1(data), orjson.dumps(rest, option=orjson.OPT_SORT_KEYS), data


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, Timestamp):
        return value.to_utc_datetime(has_tz=True).isoformat()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str | bytes):
        return utf8(value).decode() if isinstance(value, str) else value.decode("utf-8", "replace")
    return value if isinstance(value, bool | int | float) else str(value)


@gives(PART_ROWS, TAGS)
def read_rows(
    slabs: Iterator[Block], folder: str, settings: IngestSettings,
) -> Iterator[Block | Tagged]:
    """Rows of one range, in order -> as of `pages.reading.read_range`."""
    first = next(slabs, None)
    if first is None:
        return
    number = int(first.array("range")[0])
    name = f"rows-{number}"
    source = FileRange(number, (InputFile(name, 0, "rows", "", "", name),), 0, 0)
    make_shared(os.path.dirname(folder))
    yield from given_of(ingest_outcomes(
        _outcomes(first, slabs, name, settings.read), source, folder, settings))


def _outcomes(
    first: Block, slabs: Iterator[Block], name: str, read: ReadSettings,
) -> Iterator[Outcome]:
    at = 0
    for slab in chain((first,), slabs):
        for rest, content in zip(slab.strings("rest").to_list(), slab.strings("content").to_list(),
                                 strict=True):
            row = orjson.loads(rest)
            column, is_text = row.pop("of")
            if column:
                row[column] = content.decode() if is_text else content
            yield row_outcome(row, Place(name, at, len(content)), read)
            at += 1
