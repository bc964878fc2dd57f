"""Queries over tables in memory and over streams, in a database that reaches nothing else."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(queries._CLOSED, "memory_limit", "20MB")
    queries._database.cache_clear()
    yield
    queries._database.cache_clear()


def test_a_query_that_needs_too_much_memory_is_refused(small_memory: None) -> None:
    few = pa.table({"n": [1]})
    for _ in range(2):
        with pytest.raises(UserError, match="This needs more than 2GB of memory"):
            query("SELECT list(n::VARCHAR || repeat('x', 99)) FROM source GROUP BY n % 7",
                  {"source": Stream(SCHEMA, batches(2000))})
        assert query("SELECT n FROM few", {"few": few}).to_pylist() == [{"n": 1}]


def test_a_query_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    few = pa.table({"n": [1]})
    for sql in ("CREATE TABLE made AS SELECT 1 AS n", "CREATE TEMP TABLE made AS SELECT 1 AS n"):
        query(f"{sql}; FROM made", {"few": few})
        for name in ("made", "few"):
            with pytest.raises(duckdb.Error, match="does not exist"):
                query(f"FROM {name}", {})


def test_queries_of_many_threads_see_their_own_rows() -> None:
    def ask(number: int) -> int:
        rows = pa.table({"n": [number] * 1000})
        return int(query("SELECT sum(n) AS n FROM source", {"source": rows})["n"][0].as_py())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(200))) == [number * 1000 for number in range(200)]
