"""Parquet in every encoding that writers use, and rows that cannot be read, all counted."""

import itertools
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.cli.main import main
from beam_reuse.core.pages import RawPage, Rejected
from beam_reuse.io.crawl import parquet_rows
from beam_reuse.io.results import tables
from tests.crawl.reading import read_cut, read_whole

ENCODINGS = (None, "PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY")
COMPRESSIONS = ("none", "snappy", "gzip", "zstd", "brotli", "lz4")


def _rows(n: int) -> pa.Table:
    """Pages with common beginnings, some of them twice, and some without content."""
    rng = random.Random(n)
    html = [None if i % 11 == 5 else "<p>the same head" * (i % 3) + f"<p>{rng.random() * (i % 7)}"
            for i in range(n)]
    return pa.table({"url": [f"http://a.example/{i}" for i in range(n)], "html": html,
                     "text": ["plain text, however short"] * n, "status": [200] * n})


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_rows_are_the_same_in_every_encoding(
    version: str, compression: str, tmp_path: Path,
) -> None:
    table = _rows(60)
    expected = [
        (i, url, (html if html is not None else text).encode())
        for i, (url, html, text, _) in enumerate(zip(*table.to_pydict().values(), strict=True))]
    path = tmp_path / "a.parquet"
    for html, text in itertools.product(ENCODINGS, repeat=2):
        chosen = {name: kind for name, kind in (("html", html), ("text", text)) if kind}
        pq.write_table(
            table, path, row_group_size=25, compression=compression, column_encoding=chosen,
            use_dictionary=[name for name in table.column_names if name not in chosen],
            data_page_version=version, data_page_size=200, write_batch_size=4)
        whole = read_whole(path)
        assert [(p.offset, p.fetched_url, p.payload) for p in whole if isinstance(p, RawPage)
                ] == expected
        assert read_cut(path, 500) == whole


def test_values_that_share_a_long_beginning_are_read_one_by_one(tmp_path: Path) -> None:
    """300 values of 4 MB in a file of some kB, in less memory than a tenth of them need."""
    beginning = "x" * (4 << 20)
    rows = pa.table({"url": [f"http://a.example/{i}" for i in range(300)],
                     "html": [f"{beginning}{i}" for i in range(300)]})
    path = tmp_path / "a.parquet"
    pq.write_table(rows, path, use_dictionary=False, store_schema=False,
                   column_encoding={"html": "DELTA_BYTE_ARRAY"})
    read = ("import sys, resource; sys.path.insert(0, sys.argv[2])\n"
            "from tests.crawl.test_parquet import lengths_of\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "print(*lengths_of(sys.argv[1]),"
            " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)")
    done = subprocess.run(
        [sys.executable, "-c", read, str(path), str(Path(__file__).parents[2])],
        capture_output=True, text=True, check=True)
    pages, total, kilobytes = map(int, done.stdout.split())
    assert (pages, total) == (300, sum(len(beginning) + len(str(i)) for i in range(300)))
    assert kilobytes < 120_000


def test_a_column_may_change_its_encoding_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some writers begin with a dictionary and go on with deltas (pyarrow does not)."""
    path = tmp_path / "a.parquet"
    pq.write_table(_rows(60), path)
    whole = read_whole(path)
    monkeypatch.setattr(parquet_rows, "MAX_BATCH_ROWS", 10)
    monkeypatch.setattr(parquet_rows.pq, "ParquetFile", _FailsInTheMiddle)
    assert read_whole(path) == whole


class _FailsInTheMiddle(pq.ParquetFile):
    """A file that gives 20 rows where dictionaries are asked for."""

    def __init__(self, *args: Any, read_dictionary: Any = None, **named: Any) -> None:
        super().__init__(*args, read_dictionary=read_dictionary, **named)
        self.some = bool(read_dictionary)

    def iter_batches(self, *args: Any, **named: Any) -> Iterator[pa.RecordBatch]:
        batches = super().iter_batches(*args, **named)
        yield from itertools.islice(batches, 2 if self.some else None)
        if self.some:
            raise OSError("not yet implemented")


def lengths_of(path: str) -> tuple[int, int]:
    """How many pages a file has, and how long they are together; one is held at a time."""
    from beam_reuse.core.settings import ReadSettings
    from beam_reuse.io.crawl.parquet_rows import ParquetRows

    pages = total = 0
    size = Path(path).stat().st_size
    for outcome in ParquetRows(path, size, 0, size, ReadSettings()):
        assert isinstance(outcome, RawPage)
        pages, total = pages + 1, total + len(outcome.payload)
    return pages, total


def _damaged(path: Path, groups: int) -> None:
    """1,000 rows in row groups of 100, of which some have pages that are overwritten."""
    table = pa.table({"url": [f"http://a.example/{i}" for i in range(1000)],
                      "html": [f"<p>{i} {random.Random(i).random()}" for i in range(1000)]})
    pq.write_table(table, path, row_group_size=100, compression="zstd")
    content = bytearray(path.read_bytes())
    metadata = pq.ParquetFile(path).metadata
    for number in range(groups):
        column = metadata.row_group(number).column(1)
        start = column.dictionary_page_offset or column.data_page_offset
        content[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    path.write_bytes(content)


def test_rejects_know_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    _damaged(path, 3)
    rejected = [each for each in read_whole(path) if isinstance(each, Rejected)]
    assert [(each.offset, each.rows) for each in rejected] == [(0, 100), (100, 100), (200, 100)]
    assert read_cut(path, 1000) == read_whole(path)
    pq.write_table(pa.table({"link": ["http://a.example/"] * 7}), path)
    (missing,) = read_whole(path)
    assert isinstance(missing, Rejected)
    assert (missing.reason, missing.rows) == ("missing-url", 7)


def test_the_share_of_rejects_counts_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    """Of 1,000 rows 600 cannot be read: six records of 406, which is not what happened."""
    path, out = tmp_path / "a.parquet", tmp_path / "out"
    _damaged(path, 6)
    command = ["run", str(path), "-o", str(out), "--analyses", "discovery"]
    assert main(command) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "6 of 406 records" in told and "594 more rows" in told and "--max-rejects" in told
    assert main([*command, "--max-rejects", "0.59"]) == 1
    assert main([*command, "--max-rejects", "0.6"]) == 0
    accounting = tables.read_manifest(str(out)).accounting
    assert (accounting.records, accounting.pages, accounting.rejected) == (
        406, 400, {"bad-parquet": 6})
    assert accounting.noted == {"unread-rows": 594} and accounting.rejected_share == 0.6
    assert main(["index", str(path), "-o", str(tmp_path / "index"), "--max-rejects", "0.6"]) == 0
    again = ["run", str(tmp_path / "index"), "-o", str(out), "--overwrite",
             "--analyses", "discovery"]
    assert main(again) == 1
    assert main([*again, "--max-rejects", "0.6"]) == 0
