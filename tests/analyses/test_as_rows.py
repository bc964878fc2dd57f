"""Record batches of every table as rows that Beam knows."""

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam import coders
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.typehints.schemas import typing_to_runner_api
from apache_beam.utils.timestamp import Timestamp

from beam_reuse import AsRows, FindQuilts, ListPages, QuiltSettings, ReadPages
from beam_reuse.core.errors import UserError
from beam_reuse.io.results.tables import SCHEMAS
from beam_reuse.pages.as_rows import rows_of
from tests.analyses import patchwork
from tests.crawls import random_captures, write_warc
from tests.oracles import crawl

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def value_of(field: pa.Field, rng: random.Random) -> Any:
    """Any value of a field, null where it may be."""
    kind = field.type
    if field.nullable and rng.random() < 0.3:
        return None
    if pa.types.is_list(kind):
        return [value_of(kind.value_field, rng) for _ in range(rng.randrange(4))]
    if pa.types.is_struct(kind):
        return {kind.field(i).name: value_of(kind.field(i), rng) for i in range(kind.num_fields)}
    if pa.types.is_timestamp(kind):
        return EPOCH + timedelta(microseconds=rng.randrange(-10**16, 10**16))
    return {"string": lambda: rng.choice(["", "a", "é\n", "http://a.example/"]),
            "int64": lambda: rng.randrange(-2**63, 2**63), "double": lambda: rng.random(),
            "bool": lambda: rng.random() < 0.5}[str(kind)]()


def plain(value: Any) -> Any:
    """A value of a row as `to_pylist` of a batch has it."""
    if isinstance(value, Timestamp):
        return EPOCH + timedelta(microseconds=value.micros)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, beam.Row):
        return {name: plain(each) for name, each in value.as_dict().items()}
    if hasattr(value, "_asdict"):  # what Beam makes of a Row that was encoded
        return {name: plain(each) for name, each in value._asdict().items()}
    return value


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_table_as_rows(table: str) -> None:
    """Rows have the values of batches, also when they were encoded by the schema."""
    schema, rng = SCHEMAS[table], random.Random(table)
    expected = [{field.name: value_of(field, rng) for field in schema.arrow()} for _ in range(40)]
    batch = pa.RecordBatch.from_pylist(expected, schema.arrow())
    row_type = AsRows(table).row_type
    coder = coders.registry.get_coder(row_type)
    assert isinstance(coder, coders.RowCoder)
    rows = list(rows_of(batch, schema))
    assert [plain(row) for row in rows] == expected
    assert [plain(coder.decode(coder.encode(row))) for row in rows] == expected
    assert list(rows_of(batch.slice(7, 11), schema)) == rows[7:18]
    assert list(rows_of(batch.slice(0, 0), schema)) == []


@pytest.mark.parametrize("table", SCHEMAS)
def test_the_type_of_rows_is_that_of_the_table(table: str) -> None:
    schema, row_type = SCHEMAS[table].arrow(), AsRows(table).row_type
    assert [name for name, _ in row_type._fields] == schema.names
    for field, (_, kind) in zip(schema, row_type._fields, strict=True):
        assert (type(None) in get_args(kind)) == field.nullable, field
    proto = typing_to_runner_api(row_type).row_type.schema
    assert [(each.name, each.type.nullable) for each in proto.fields] == [
        (field.name, field.nullable) for field in schema]
    assert proto.id == f"beam_reuse_{table}"  # the same in every process


def test_lists_of_rows_have_a_type() -> None:
    (spans,) = [kind for name, kind in AsRows("quilt_sources").row_type._fields if name == "spans"]
    (span,) = get_args(spans)
    assert span._fields == (("start", int), ("end", int))


def test_rows_of_pages_in_a_pipeline(tmp_path: Path) -> None:
    """By lambdas, by GroupBy, as a data frame; rejects, skipped and the histogram beside them."""
    captures = write_warc(tmp_path / "a.warc.gz", random_captures(7))
    settings = crawl.Settings()
    pages, _ = crawl.accounting(captures, settings)
    expected = crawl.page_rows(pages, settings)
    tables = {"rejects": [], "skipped": crawl.skipped_rows(captures, pages, settings),
              "depth_histogram": crawl.depth_histogram(captures, settings)}
    size: Counter[str] = Counter()
    for row in expected:
        size[row["host"]] += row["bytes"]
    pytest.importorskip("pandas", reason="pip install 'apache-beam[dataframe]'")
    from apache_beam.dataframe.convert import to_dataframe, to_pcollection

    with beam.Pipeline(runner=FnApiRunner()) as p:
        read = p | ReadPages(str(tmp_path / "*.warc.gz"))
        rows = read | ListPages() | AsRows("pages")
        frame = to_dataframe(rows)
        assert_that(
            rows | "Urls" >> beam.Map(lambda row: (row.url, plain(row.timestamp), row.tokens)),
            equal_to([(row["url"], row["timestamp"], row["tokens"]) for row in expected]), "Lambda")
        assert_that(rows | beam.GroupBy("host").aggregate_field("bytes", sum, "bytes")
                    | "Pairs" >> beam.Map(tuple), equal_to([*size.items()]), "Grouped")
        assert_that(to_pcollection(frame[["url", "bytes"]]) | "Both" >> beam.Map(tuple),
                    equal_to([(row["url"], row["bytes"]) for row in expected]), "Frame")
        for table, of_table in tables.items():
            assert_that(getattr(read, table) | AsRows(table) | f"Plain {table}" >> beam.Map(plain),
                        equal_to(of_table), table)


def test_the_table_is_taken_of_what_an_analysis_gives(tmp_path: Path) -> None:
    patchwork.write(tmp_path / "a.jsonl", patchwork.patchworks(5, 60))
    with beam.Pipeline(runner=FnApiRunner()) as p:
        found = p | ReadPages(str(tmp_path / "a.jsonl")) | FindQuilts(QuiltSettings(min_sources=2))
        whole = found | AsRows("quilt_sources") | "Plain" >> beam.Map(plain)
        same = found["quilt_sources"] | "Again" >> AsRows("quilt_sources") | "Same" >> beam.Map(
            plain)
        batches = found["quilt_sources"] | beam.FlatMap(lambda batch: batch.to_pylist())
        together = {"whole": whole, "same": same, "batches": batches}

        def all_the_same(groups: Any) -> None:
            (given,) = groups
            assert given["batches"] and given["whole"] == given["same"] == given["batches"]

        keyed = {name: each | f"Key {name}" >> beam.Map(lambda row: (0, row))
                 for name, each in together.items()}
        joined = keyed | beam.CoGroupByKey() | beam.MapTuple(lambda _, groups: {
            name: sorted(rows, key=str) for name, rows in groups.items()})
        assert_that(joined, all_the_same)


def test_wrong_tables_are_refused() -> None:
    p = beam.Pipeline(runner=FnApiRunner())
    with pytest.raises(UserError, match="no such table; did you mean 'quilts'"):
        AsRows("quilt")
    with pytest.raises(UserError, match="there are quilts, counts, and no such table"):
        _ = {"quilts": p | beam.Create([]), "counts": p | "c" >> beam.Create([])} | AsRows("keep")
    with pytest.raises(UserError, match="takes a PCollection of record batches"):
        _ = beam.Pipeline(runner=FnApiRunner()) | AsRows("keep")
    batch = pa.RecordBatch.from_pylist([], SCHEMAS["keep"].arrow())
    with pytest.raises(UserError, match="another table, with the columns url, keep"):
        list(rows_of(batch, SCHEMAS["quilts"]))
