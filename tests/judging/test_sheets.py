"""Sheets are read as people save them, and nothing in them is run by a spreadsheet."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.io.sheets import SheetError, neutral, read_sheet, restored, write_sheet
from tests.judging.results import parquet

TRICKY = st.text(st.sampled_from("=+-@'\t\r\n;,\"a \uff1d\uff20")) | st.text()


@given(TRICKY)
def test_what_is_neutralised_is_restored(text: str) -> None:
    assert restored(neutral(text)) == text


@given(TRICKY)
def test_no_cell_begins_as_a_formula_by_whatever_delimiter(text: str) -> None:
    cells = neutral(text).replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";")
    assert not [cell for cell in cells if cell.startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20"))]


@pytest.mark.parametrize("text", ["http://a.example/-1;x=2", "a = b", "5 - 3", "it's", ""])
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert neutral(text) == text


@given(st.lists(st.tuples(TRICKY, TRICKY), max_size=5))
def test_a_sheet_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory,
                                      rows: list[tuple[str, str]]) -> None:
    folder = tmp_path_factory.mktemp("sheet")
    for name in ("s.csv", "s.tsv"):
        path = str(folder / name)
        write_sheet(path, ("url", "label"), [tuple(map(neutral, row)) for row in rows])
        read = [(row.cells["url"], row.cells["label"]) for row in read_sheet(path, ("url",)).rows]
        assert read == [row for row in rows if any(row)]


@pytest.mark.parametrize(
    "content",
    [
        b"url,label\nhttp://a.example/,1\n",
        b"\xef\xbb\xbfURL;Label\r\nhttp://a.example/;1\r\n\r\n",
        " label \turl\n1\thttp://a.example/\n".encode("utf-16"),
        b'note,url,label\n"two\nlines, ""quoted""",http://a.example/,1\n,,\n',
    ],
)
def test_delimiters_encodings_and_order_of_columns(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sheet.txt"
    path.write_bytes(content)
    (row,) = read_sheet(str(path), ("url", "label")).rows
    assert (row.number, row.cells["url"], row.cells["label"]) == (2, "http://a.example/", "1")


def test_parquet_sheets_of_any_type(tmp_path: Path) -> None:
    for labels in ([True, None], [1, None], [1.0, None], ["true", None]):
        path = tmp_path / "labels"
        path.write_bytes(parquet(pa.table({"url": ["a", "b"], "label": labels})))
        rows = read_sheet(str(path), ("url", "label")).rows
        assert [row.cells["label"] for row in rows] in (["1", ""], ["true", ""])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no column 'url'"),
        (b"http://a.example/,1\n", "first row must name the columns, url and label"),
        (b"url,reason\n", "no column 'label'"),
        (b"url,label\n\xff\xfe\xfa", "UTF-8 at byte 10"),
        (b"PAR1 but not really", "sheet.csv"),
        (b"url,label,Label \nhttp://a.example/,1,0\n", "more than one column 'label'; remove or"),
        (b"url,label\nhttp://a.example/,1\nhttp://a.example/,b,1\n", "row 3 has 3 cells, .* 2 col"),
    ],
)
def test_sheets_that_are_refused(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(content)
    with pytest.raises(SheetError, match=told):
        read_sheet(str(path), ("url", "label"))
    with pytest.raises(SheetError, match="no-such"):
        read_sheet(str(tmp_path / "no-such.csv"), ("url", "label"))


def test_a_huge_cell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("url,label\n" + "x" * 300_000 + ",1\n")
    assert len(read_sheet(str(path), ("url",)).rows[0].cells["url"]) == 300_000


def test_columns_without_name_may_repeat_and_rows_may_be_short(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("url,label,,\nhttp://a.example/\nhttp://b.example/,1,x,y\n")
    first, second = read_sheet(str(path), ("url", "label")).rows
    assert first.cells == {"url": "http://a.example/"} and second.cells["label"] == "1"


def test_parquet_sheets_with_a_column_twice_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels"
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array([1]), pa.array([0])],
                                 ["url", "label", "label"])
    path.write_bytes(parquet(table))
    with pytest.raises(SheetError, match="more than one column 'label'"):
        read_sheet(str(path), ("url", "label"))
