"""Stop lists: hashes, or texts that are cut and hashed as chunks are; and the built-in ones."""

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beam_reuse.core.chunking import chunk_page
from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelKind
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.stop_chunks import builtin_chunk_hashes, builtin_file_hashes
from beam_reuse.io.labels import text_lists
from beam_reuse.io.labels.judged_lists import read_judged
from beam_reuse.io.labels.lists import read_stop_list
from tests.labels.writing import SETTINGS, write_labels, write_result

DEFAULT = ChunkSettings()
RAW = ChunkSettings(normalise="none")
TEXT = ChunkSettings(normalise="text")


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def stops(path: Path | str, chunks: ChunkSettings = DEFAULT) -> list[str]:
    return [value.tobytes().hex() for some in read_stop_list(str(path), chunks) for value in some]


def test_lists_of_hashes(tmp_path: Path) -> None:
    rows = [(sha1("a"), "chunk", None), (sha1("b"), "file", None), (sha1("c"), None, None)]
    chunks = [sha1("a"), sha1("c")]
    assert stops(write_labels(tmp_path / "l.parquet", rows, None)) == chunks
    assert stops(write_result(tmp_path / "result", rows, SETTINGS)) == chunks
    (tmp_path / "l.txt").write_text(f"# stop\n\n{sha1('a')}\n{sha1('c')}\n")
    assert stops(tmp_path / "l.txt") == chunks


def test_texts_are_hashed_as_chunks_are(tmp_path: Path) -> None:
    text = tmp_path / "l.txt"
    text.write_text("# headers\n<p>Menu\n\n <div>  All\trights é \r\n")
    assert stops(text) == [sha1("<p>Menu"), sha1("<div> All rights é")]
    assert stops(text, RAW) == [sha1("<p>Menu"), sha1(" <div>  All\trights é ")]
    table = tmp_path / "l.parquet"
    pq.write_table(pa.table({"text": ["<p>Menu\n", None, "", "<p> é"]}), table)
    assert stops(table) == [sha1("<p>Menu"), sha1(""), sha1("<p> é")]
    assert stops(table, RAW) == [sha1("<p>Menu\n"), sha1(""), sha1("<p> é")]


@pytest.mark.parametrize(("lines", "said"), [
    (["<p>a", "", sha1("b")], "line 3: '.*' is a hash, but line 1 is a text"),
    (["#", sha1("b"), "<p>a"], "line 3: '<p>a' is a text, but line 2 is a hash"),
])
def test_hashes_and_texts_do_not_mix(lines: list[str], said: str, tmp_path: Path,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "l.txt").write_text("\n".join(lines))
    for step in (8 << 20, 1):
        monkeypatch.setattr(text_lists, "STEP", step)
        with pytest.raises(UserError, match=said):
            stops(tmp_path / "l.txt")


@pytest.mark.parametrize("content", [
    "Legal notice\n".encode("utf-16"), "Legal notice\n".encode("utf-16-le"),
    b"Legal notice\nImpr\xe9ssum\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
])
def test_what_is_no_text_is_no_list_of_texts(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_bytes(content)
    with pytest.raises(UserError, match=r"l\.txt is no text in UTF-8"):
        stops(tmp_path / "l.txt")


def test_a_stop_list_cut_otherwise_is_refused(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", [(sha1("a"), "chunk", None)])
    assert stops(path) == [sha1("a")]
    with pytest.raises(UserError, match="cannot match pages that are cut otherwise"):
        stops(path, RAW)


def test_neither_hashes_nor_texts(tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    pq.write_table(pa.table({"url": ["http://a/"]}), path)
    with pytest.raises(UserError, match="neither a column sha1 nor a column text; it has url"):
        stops(path)


def built_in(page: bytes, settings: ChunkSettings) -> list[bool]:
    """Of each chunk of a page, whether it is a built-in stop chunk."""
    known = {value.tobytes() for value in builtin_chunk_hashes(settings)}
    return [value.tobytes() in known for value in chunk_page(page, Kind.HTML, settings).sha1]


def test_empty_idioms_are_built_in() -> None:
    page = (b"<html><p>&nbsp;</p>\r\n<P>\n<div><br /></div></div>\n<p>x</p><DIV></DIV></DIV>\n"
            b"<div>\n</div>\n</div>\n<p>\xc2\xa0</p>\n<div class=a></div>")
    expected = [False, True, True, True, False, True, True, True, False]
    assert built_in(page, DEFAULT) == expected
    assert built_in(page, RAW) == expected
    assert not any(built_in(page, ChunkSettings.published()))
    assert built_in(b" \n", DEFAULT) == [True]
    assert built_in(b"<h1></h1><p></p>", ChunkSettings(("h1",))) == [False]
    assert built_in(b"<h1></p>", ChunkSettings(("h1",))) == [True]


def test_of_text_no_break_spaces_are_built_in() -> None:
    known = {value.tobytes().hex() for value in builtin_chunk_hashes(TEXT)}
    for text in ("", "\u00a0", "\u00a0\u00a0", "\u00a0 \u00a0", "\u00a0\u00a0 \u00a0\u00a0"):
        assert sha1(text) in known
    for text in ("\u00a0" * 5, "<p>&nbsp;</p>", "x", "\u00a0 x"):
        assert sha1(text) not in known


def test_texts_of_chunks_of_text_are_listed_as_a_reader_sees_them(tmp_path: Path) -> None:
    listed = tmp_path / "l.txt"
    listed.write_text("All  rights\treserved\nMenu\n")
    html = "<p class=x>All <b>rights</b>\nreserved</p><div><a href=y>Menu</a></div>"
    found = chunk_page(html.encode(), Kind.HTML, TEXT, html)
    assert stops(listed, TEXT) == [value.tobytes().hex() for value in found.sha1]


def test_files_that_say_nothing() -> None:
    known = {value.tobytes().hex() for value in builtin_file_hashes()}
    for text in ("", "User-agent: *\nDisallow: /", "User-agent: *\r\nDisallow: /\r\n",
                 "User-Agent: *\nDisallow: /\n"):
        assert sha1(text) in known
    assert sha1("User-agent: *\nDisallow: /a\n") not in known
    assert sha1("User-agent: *\nDisallow:\n") not in known


SHEET = ("sha1,kind,text,label,reason\n"
         f"{sha1('a')},chunk,<p>a,benign,menu\n{sha1('b').upper()},,b,0,\n"
         f"{sha1('c')},chunk,c,spam,\n{sha1('d')},chunk,d,?,\n{sha1('e')},chunk,e,,\n"
         f"{sha1('f')},file,f,good,\n{sha1('a')},chunk,again,No,\n")


@pytest.mark.parametrize("written", [
    SHEET.encode(), b"\xef\xbb\xbf" + SHEET.replace(",", ";").encode(),
    SHEET.replace(",", "\t").encode("utf-16"), None,
])
def test_of_a_judged_sheet_the_benign_rows_are_stop_chunks(
        written: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "sheet"
    if written is None:
        names, *rows = (line.split(",") for line in SHEET.splitlines())
        pq.write_table(pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows]),
                       path)
    else:
        path.write_bytes(written)
    assert stops(path) == [sha1("a"), sha1("b")]
    files = [value.tobytes().hex() for some in read_stop_list(str(path), DEFAULT, LabelKind.FILE)
             for value in some]
    assert files == [sha1("b"), sha1("f")]
    found = read_judged(str(path))
    assert (found.benign, found.otherwise, found.unlabelled) == (4, 2, 1)


@pytest.mark.parametrize(("content", "said"), [
    (f"sha1,label\n{sha1('a')},\n", "no row has a label yet, so none is benign"),
    (f"sha1,label\n{sha1('a')},fine\n", "row 2: label 'fine' is not known"),
    ("sha1,label\nabc,0\n", "row 2: sha1 'abc' is no hash"),
    (f"sha1,kind,label\n{sha1('a')},page,0\n", "row 2: kind 'page' is none of file, chunk, any"),
    (f"sha1,label\n{sha1('a')},0\n{sha1('a')},1\n", "rows 2 and 3 judge [0-9a-f]+ differently"),
    ("url,label,reason\nhttp://a/,0,\n", "has no column 'sha1'"),
])
def test_sheets_that_list_nothing_are_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(content)
    with pytest.raises(UserError, match=said):
        stops(tmp_path / "s.csv")


def test_a_text_that_only_looks_like_a_sheet_is_a_text(tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_text("Label, price, colour\nMenu\n")
    assert stops(tmp_path / "l.txt") == [sha1("Label, price, colour"), sha1("Menu")]
