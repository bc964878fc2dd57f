"""Queries over tables in memory and over streams, in a database that reaches nothing else."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.io.results import queries
from beam_reuse.io.results.queries import Stream, query

SCHEMA = pa.schema({"n": pa.int64()})


def batches(count: int) -> Iterator[pa.RecordBatch]:
    for number in range(count):
        yield pa.record_batch([pa.array(range(number * 1000, number * 1000 + 1000))], SCHEMA)


def test_a_stream_is_joined_with_a_table() -> None:
    few = pa.table({"n": [4, 2500, 99_999], "word": ["a", "b", "c"]})
    found = query("SELECT n, word FROM source JOIN few USING (n) WHERE n > $least ORDER BY n",
                  {"source": Stream(SCHEMA, batches(5)), "few": few}, {"least": 4})
    assert found.to_pylist() == [{"n": 2500, "word": "b"}]


def test_values_are_no_sql() -> None:
    text = "' OR 1 = 1; DROP TABLE few; --"
    few = pa.table({"word": [text, "other"]})
    found = query("SELECT word FROM few WHERE word = $word", {"few": few}, {"word": text})
    assert found.to_pylist() == [{"word": text}]


def test_what_a_stream_raises_is_raised() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from batches(2)
        raise UserError("part 3 is damaged. Run again.")

    with pytest.raises(UserError, match=r"^part 3 is damaged\. Run again\.$"):
        query("SELECT sum(n) FROM source", {"source": Stream(SCHEMA, broken())})


@pytest.mark.parametrize("sql", [
    "FROM 'FILE'", "FROM read_parquet('FILE')", "FROM read_text('FILE')",
    "COPY (SELECT 1) TO 'FILE.csv'", "ATTACH 'FILE.db'", "INSTALL httpfs", "LOAD httpfs",
    "FROM 'http://localhost:1/x.parquet'", "SET memory_limit = '90GB'", "FROM outside",
])
def test_nothing_else_is_reached(sql: str, tmp_path: Path) -> None:
    outside = pa.table({"n": [1]})
    path = tmp_path / "there.parquet"
    pq.write_table(outside, path)
    with pytest.raises(duckdb.Error, match=r"disabled|locked|does not exist"):
        query(sql.replace("FILE", str(path)), {})
    assert list(tmp_path.iterdir()) == [path]


def test_a_query_that_needs_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(queries._CLOSED, "memory_limit", "20MB")
    with pytest.raises(UserError, match="This needs more than 2GB of memory"):
        query("SELECT list(n::VARCHAR || repeat('x', 99)) FROM source GROUP BY n % 7",
              {"source": Stream(SCHEMA, batches(2000))})
