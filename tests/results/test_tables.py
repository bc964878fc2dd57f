"""Tables have the same bytes however their rows arrive, and every row is in them."""

import hashlib
import io
import itertools
from pathlib import Path

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Store
from beam_reuse.io.results.arrow_columns import Coded, to_arrow
from beam_reuse.io.results.folding import FoldedRows
from beam_reuse.io.results.manifest import Accounting, Manifest, NoResultError, Part
from beam_reuse.io.results.outcome import read_outcome, save_outcome
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.io.results.scan import TableScan
from beam_reuse.io.results.table_writer import TableWriter, regrouped, write_parquet
from beam_reuse.io.results.tables import STRINGS, TIMESTAMP, maybe, read, table
from beam_reuse.pages.outcome import save
from beam_reuse.pages.writing import write_tables
from beam_reuse.rows import Plan

TABLE = table(
    "things", url=pa.string(), sha1=pa.string(), time=maybe(TIMESTAMP),
    share=maybe(pa.float64()), note=maybe(pa.string()), urls=STRINGS,
)
Row = tuple[str, bytes, int | None, float | None, str, tuple[str, ...]]
rows = st.lists(
    st.tuples(
        st.sampled_from(["http://a/", "http://b/", "http://c/?é", "x" * 40]),
        st.binary(min_size=20, max_size=20),
        st.none() | st.integers(0, 3),
        st.none() | st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from(["", "n"]),
        st.sampled_from([(), ("u",), ("u", "v")]),
    ),
    max_size=30,
)


def block_of(rows: list[Row]) -> Block:
    def text(column: int) -> VarBytes:
        return VarBytes.from_list([str(row[column]).encode() for row in rows])

    return Block({
        "url": text(0),
        "sha1": np.array([row[1] for row in rows], "V20"),
        "time": Maybe(np.array([row[2] or 0 for row in rows], np.int64),
                      np.array([row[2] is not None for row in rows], np.bool_)),
        "share": Maybe.unless_nan(
            np.array([np.nan if row[3] is None else row[3] for row in rows], np.float64)),
        "note": Maybe.unless_empty(text(4)),
        "urls": Lists.from_lengths(
            np.array([len(row[5]) for row in rows], np.int64),
            VarBytes.from_list([url.encode() for row in rows for url in row[5]])),
    })


def expected(rows: list[Row]) -> list[dict]:
    """The definition: all rows sorted by all columns from the left, nulls first."""
    def key(row: Row) -> tuple:
        return (row[0].encode(), row[1], row[2] is not None, row[2] or 0, row[3] is not None,
                row[3] or 0.0, row[4], row[5])

    return [
        {"url": r[0], "sha1": r[1].hex(), "share": r[3], "note": r[4] or None,
         "urls": list(r[5])}
        for r in sorted(rows, key=key)
    ]


def write(
    folder: Path, rows: list[Row], cuts: list[int], part_rows: int, kind: str, workers: int
) -> dict[str, bytes]:
    """Run the sink over blocks cut at `cuts`; the files it wrote by path."""
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    blocks = [block_of(rows[a:b]) for a, b in itertools.pairwise(bounds)]
    shuffle = Shuffle(Store(kind, str(folder / "spill")), flush_bytes=900, bucket_budget=2000)
    options = beam.options.pipeline_options.PipelineOptions(
        direct_num_workers=workers, direct_running_mode="multi_threading"
    )
    out = folder / "tables"
    plan = Plan(shuffle)
    writers = {"things": TableWriter(TABLE, str(out), part_rows)}
    with beam.Pipeline(runner=FnApiRunner(), options=options) as pipeline:
        written = write_tables({"things": plan.rows(blocks)}, writers, plan.nothing())
        save(pipeline, plan, written, writers, str(folder / "outcome.json"), {"page": 7})
    outcome = read_outcome(str(folder / "outcome.json"))
    assert outcome.thresholds == {"page": 7}
    files = {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    assert {part.path for part in outcome.parts} == set(files)
    for part in outcome.parts:
        assert hashlib.sha256(files[part.path]).hexdigest() == part.sha256
        assert pq.read_table(io.BytesIO(files[part.path])).num_rows == part.rows
    return files


@settings(deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))
@given(
    data=rows, cuts=st.lists(st.integers(0, 30), max_size=4), seed=st.randoms(),
    part_rows=st.sampled_from([3, 7, 1000]), kind=st.sampled_from(["files", "inline"]),
    workers=st.sampled_from([1, 2]),
)
def test_the_same_bytes_for_any_blocks_order_store_and_workers(
    tmp_path_factory: pytest.TempPathFactory, data: list[Row], cuts: list[int],
    seed: "np.random.Generator", part_rows: int, kind: str, workers: int,
) -> None:
    one = write(tmp_path_factory.mktemp("one"), data, [], part_rows, "inline", 1)
    mixed = list(data)
    seed.shuffle(mixed)
    two = write(tmp_path_factory.mktemp("two"), mixed, cuts, part_rows, kind, workers)
    assert one == two
    assert len(one) == max(1, -(-len(data) // part_rows))


@settings(deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=rows)
def test_every_row_is_there_sorted_with_nulls_first(
    tmp_path_factory: pytest.TempPathFactory, data: list[Row]
) -> None:
    files = write(tmp_path_factory.mktemp("t"), data, [4, 9], 1000, "files", 1)
    (content,) = files.values()
    got = pq.read_table(io.BytesIO(content))
    assert got.schema.equals(TABLE.arrow())
    assert got.drop_columns(["time"]).to_pylist() == expected(data)


def test_a_table_without_any_block_is_one_file_without_rows(tmp_path: Path) -> None:
    files = write(tmp_path, [], [], 1000, "files", 1)
    assert list(files) == ["things/part-00000-of-00001.parquet"]


@settings(deadline=None, max_examples=30)
@given(data=rows, cuts=st.lists(st.integers(1, 30), max_size=5))
def test_where_slabs_are_cut_does_not_show(data: list[Row], cuts: list[int]) -> None:
    block = block_of(data).sort(TABLE.names)
    bounds = [0, *sorted(min(cut, len(block)) for cut in cuts), len(block)]
    slabs = [block.slice(a, b) for a, b in itertools.pairwise(bounds)]
    whole, cut = io.BytesIO(), io.BytesIO()
    assert write_parquet(whole, TABLE, regrouped([block], 4)) == write_parquet(
        cut, TABLE, regrouped(slabs, 4))
    assert whole.getvalue() == cut.getvalue()
    groups = pq.ParquetFile(whole).metadata
    sizes = [groups.row_group(i).num_rows for i in range(groups.num_row_groups)]
    assert all(size == 4 for size in sizes[:-1])


def test_parts_follow_the_number_of_rows() -> None:
    writer = TableWriter(TABLE, "", 5_000_000)
    assert [writer.parts(n) for n in (0, 1, 5_000_000, 5_000_001)] == [1, 1, 1, 2]
    assert writer.path(1, 2) == "things/part-00001-of-00002.parquet"


def publish(folder: Path, content: bytes, rows: int) -> None:
    path = "things/part-00000-of-00001.parquet"
    with ResultFolder(str(folder)) as result:
        target = Path(result.work.tables, path)
        target.parent.mkdir(parents=True)
        target.write_bytes(content)
        result.publish(
            Manifest("result", {}, Accounting(0, 0), (Part("things", path, rows, ""),)), {}
        )


def test_read_gives_a_published_table_and_refuses_all_else(tmp_path: Path) -> None:
    content = io.BytesIO()
    write_parquet(content, TABLE, [block_of([("u", b"s" * 20, None, None, "", ())])])
    publish(tmp_path / "out", content.getvalue(), 1)
    assert read(str(tmp_path / "out"), "things")["url"].to_pylist() == ["u"]
    with pytest.raises(NoResultError, match="it has things"):
        read(str(tmp_path / "out"), "quilts")
    with pytest.raises(NoResultError, match=r"no manifest\.json"):
        read(str(tmp_path), "things")
    publish(tmp_path / "wrong", content.getvalue(), 2)
    with pytest.raises(NoResultError, match="1 rows"):
        read(str(tmp_path / "wrong"), "things")
    (tmp_path / "out" / "things" / "part-00000-of-00001.parquet").unlink()
    with pytest.raises(NoResultError, match="is missing"):
        read(str(tmp_path / "out"), "things")


def test_a_flipped_bit_in_a_published_table_is_refused(tmp_path: Path) -> None:
    content, urls = io.BytesIO(), [str(i) * 30 for i in range(50)]
    write_parquet(content, TABLE, [block_of([(u, b"s" * 20, None, None, "", ()) for u in urls])])
    at = content.getvalue().index(b"(\xb5/\xfd") + 40
    flipped = bytearray(content.getvalue())
    flipped[at] ^= 1
    publish(tmp_path / "out", bytes(flipped), len(urls))
    with pytest.raises(NoResultError, match=r"part-00000-of-00001\.parquet .*cannot be read"):
        read(str(tmp_path / "out"), "things")
    with pytest.raises(NoResultError, match=r"part-00000-of-00001\.parquet cannot be read"):
        list(TableScan(str(tmp_path / "out"), "things").batches())


def test_counts_are_summed_by_reason(tmp_path: Path) -> None:
    path = str(tmp_path / "outcome.json")
    counts = [("records", 5), ("pages", 1), ("pages", 1), ("skipped/status", 2),
              ("rejected/truncated", 1), ("no-tokens", 3), ("measured/rows", 4)]
    save_outcome(path, [], counts, {"page": 9})
    outcome = read_outcome(path)
    assert outcome.accounting == Accounting(
        5, 2, {"status": 2}, {"truncated": 1}, {"no-tokens": 3})
    assert (outcome.measured, outcome.thresholds) == ({"rows": 4}, {"page": 9})


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 9), max_size=30), st.lists(st.integers(0, 30), max_size=5))
def test_folded_rows_come_in_groups_wherever_slabs_are_cut(
    counts: list[int], cuts: list[int],
) -> None:
    """Rows have numbers, and say of which folded row they are in two ways."""
    rows, fold = sum(counts), np.arange(len(counts))
    each = np.array(counts, np.int64)
    schema = table("folded", fold=pa.int64(), row=pa.int64(), again=pa.int64())
    block = Block({
        "fold": fold, "row": Lists.from_lengths(each, np.arange(rows)),
        "again": Lists(np.arange(len(counts) + 1), fold),
        "which": Lists.from_lengths(each, np.zeros(rows, np.uint32))})

    bounds = [0, *sorted(min(cut, len(block)) for cut in cuts), len(block)]
    slabs = [block.slice(a, b) for a, b in itertools.pairwise(bounds)]
    unfolded = FoldedRows({"again": "which"}).unfolded(slabs, schema, 4)
    groups = [to_arrow(schema, group).to_pylist() for group in unfolded]
    assert [row for group in groups for row in group] == [
        {"fold": of, "row": row, "again": of} for row, of in enumerate(np.repeat(fold, each))]
    assert all(len(group) == 4 for group in groups[:-1])
    assert all(1 <= len(group) <= 4 for group in groups)


def test_a_coded_column_reads_as_its_values() -> None:
    schema = table("things", url=pa.string(), source=maybe(pa.string()))
    sources = Maybe.unless_empty(VarBytes.from_list([b"x", b""]))
    columns = {
        "url": Coded(VarBytes.from_list([b"b", b"a", b"b"]), np.array([0, 1, 2, 2, 0])),
        "source": Coded(sources, np.array([1, 0, 0, 1, 0])),
    }
    content = io.BytesIO()
    assert write_parquet(content, schema, [columns])[0] == 5
    assert pq.read_table(content).to_pydict() == {
        "url": ["b", "a", "b", "b", "b"], "source": [None, "x", "x", None, "x"]}
    assert pq.read_schema(content).field("url").type == pa.string()
