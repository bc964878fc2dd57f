"""Lists of labels: every format gives the same rows, everything else an error that says why."""

import hashlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelKind, LabelSettings
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.labels import parquet_lists, text_lists, writing
from beam_reuse.io.labels.lists import read_list, settings_of, shared_settings
from tests.labels.writing import SETTINGS, listed, write_labels, write_result
from tests.results.test_files import MemoryFileSystem

ANY = LabelKind.ANY


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


A, B, C = map(sha1, "abc")
ROWS = [(A, "file", "http://a.org/", 7, "text a"), (A, "chunk", None, None, None),
        (B, "chunk", "http://b.org/", 0, "")]
READ = [(A, LabelKind.FILE, "http://a.org/", 7, "text a"), (A, LabelKind.CHUNK, None, None, None),
        (B, LabelKind.CHUNK, "http://b.org/", 0, "")]


def test_parquet_with_all_columns(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", ROWS)
    assert listed(path) == READ
    assert listed(path, details=False) == [(*row[:3], None, None) for row in READ]
    assert settings_of(path) == LabelSettings(ChunkSettings(), 0)
    assert listed(f"file://{path}") == READ


def test_a_result_folder_is_a_list(tmp_path: Path) -> None:
    options = {**SETTINGS, "chunk-tags": ["p"], "min-chunk-bytes": 25}
    path = write_result(tmp_path / "result", ROWS, options)
    assert listed(path) == READ
    assert settings_of(path) == LabelSettings(ChunkSettings(("p",)), 25)


@pytest.mark.parametrize("column", [
    pa.array([A, B.upper()]),
    pa.array([A, B], pa.large_string()),
    pa.array([A, B]).dictionary_encode(),
    pa.array([A.encode(), B.encode()], pa.binary()),
    pa.array([bytes.fromhex(A), bytes.fromhex(B)], pa.binary()),
    pa.array([bytes.fromhex(A), bytes.fromhex(B)], pa.large_binary()),
    pa.array([bytes.fromhex(A), bytes.fromhex(B)], pa.binary(20)),
], ids=lambda column: str(column.type))
def test_any_column_of_hashes(column: pa.Array, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"n": [1, 2], "sha1": column, "text": pa.nulls(2)}), path)
    assert listed(path) == [(A, ANY, None, None, None), (B, ANY, None, None, None)]
    assert settings_of(str(path)) is None


def test_batches_join_without_a_seam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_lists, "BATCH_ROWS", 3)
    hashes = [sha1(str(i)) for i in range(20)]
    path = write_labels(tmp_path / "l.parquet", [(h, None, f"http://{h}/") for h in hashes])
    assert [(row[0], row[2]) for row in listed(path)] == [(h, f"http://{h}/") for h in hashes]


def test_absent_kind_and_source_are_told_by_null(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "l.parquet", [(A, None, ""), (B, "any", None)])
    assert listed(path) == [(A, ANY, None, None, None), (B, ANY, None, None, None)]


def test_text_with_comments_blanks_and_any_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "l.txt"
    path.write_bytes(f"\ufeff# list\r\n\r\n  {A}\t\r\n{B.upper()} # b\n\n{C}".encode())
    assert [row[:2] for row in listed(path)] == [(A, ANY), (B, ANY), (C, ANY)]
    path.write_bytes(f"{A}\r{B}\r".encode())
    assert [row[0] for row in listed(path)] == [A, B]


@pytest.mark.parametrize("content", [b"", b"\n", b"# nothing\n"])
def test_a_list_of_nothing(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_bytes(content)
    assert listed(tmp_path / "l.txt") == []
    assert settings_of(str(tmp_path / "l.txt")) is None


LINES = st.lists(st.sampled_from([
    "", " ", "# c", A, B.upper(), f" {C} ", f"{A} # c", f"{A}#", "x", A[:-1], A + "0", f"{A} {B}",
    "g" * 40, "\x0b", "\x1c", "é",
]), max_size=12)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(1, 30))
def test_text_against_its_definition(lines: list[str], end: str, step: int) -> None:
    """Each line by itself, as a person would read the rule."""
    expected: list[str] = []
    bad = None
    for number, line in enumerate(lines, 1):
        word = line.encode().strip().decode().partition("#")
        clean = word[0].encode().strip().decode()
        separated = not word[1] or not word[0] or word[0][-1].isspace()
        if not clean and separated:
            continue
        if len(clean) != 40 or set(clean.lower()) - set("0123456789abcdef") or not separated:
            bad = number
            break
        expected.append(clean.lower())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lists, "STEP", step)
        found: list[str] = []
        try:
            for batch in _text_batches(end.join(lines).encode()):
                found += [value.tobytes().hex() for value in batch]
        except UserError as error:
            assert f"list, line {bad}:" in str(error)
        else:
            assert bad is None
            assert found == expected


def _text_batches(content: bytes) -> Any:
    import io

    return text_lists.read_hash_text(io.BytesIO(content), "list")


def test_a_list_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    content = Path(write_labels(tmp_path / "l.parquet", ROWS)).read_bytes()
    monkeypatch.setattr(MemoryFileSystem, "objects", {
        "mem://b/l.parquet": content, "mem://b/l.txt": f"{A}\n".encode()})
    assert listed("mem://b/l.parquet") == READ
    assert [row[0] for row in listed("mem://b/l.txt")] == [A]
    with pytest.raises(UserError, match="mem://b/none: no such file"):
        listed("mem://b/none")


def test_lists_used_together_must_agree(tmp_path: Path) -> None:
    one = write_labels(tmp_path / "1.parquet", ROWS)
    plain = write_labels(tmp_path / "2.parquet", ROWS, None)
    turned = write_labels(tmp_path / "3.parquet", ROWS, {**SETTINGS, "chunk-tags": ["div", "p"]})
    longer = write_labels(tmp_path / "4.parquet", ROWS, {**SETTINGS, "min-chunk-bytes": 1})
    assert shared_settings([plain]) is None
    assert shared_settings([plain, one, turned]) == LabelSettings(ChunkSettings(), 0)
    with pytest.raises(UserError, match=r"4\.parquet was made with .* --min-chunk-bytes 1, but "):
        shared_settings([plain, one, longer])


def refusal(path: Path | str) -> str:
    """What is said of a list that cannot be used; nothing but UserError may come."""
    with pytest.raises(UserError) as raised:
        settings_of(str(path))
        list(read_list(str(path)))
    return str(raised.value)


@pytest.mark.parametrize(("columns", "said"), [
    ({"sha1": [A, None]}, "row 1: sha1 is None"),
    ({"sha1": [A, "ab"]}, "row 1: sha1 is 'ab'"),
    ({"sha1": [A, "z" * 40]}, "row 1: sha1 is 'zzz"),
    ({"sha1": [b"x" * 20, b"x" * 21]}, "row 0: sha1 is"),
    ({"sha1": [1]}, "column sha1 has type int64"),
    ({"sha1": pa.nulls(1)}, "column sha1 has type null"),
    ({"sha1": [A], "kind": ["page"]}, "row 0: kind is 'page'; it must be file, chunk or any"),
    ({"sha1": [A], "kind": [1]}, "column kind has type int64"),
    ({"sha1": [A], "source_url": [1]}, "column source_url has type int64"),
    ({"sha1": [A], "bytes": ["1"]}, "column bytes has type string"),
    ({"sha1": [A], "text": [1.0]}, "column text has type double"),
    ({"url": ["http://a/"]}, "no column sha1, so this is no list of hashes; it has url"),
])
def test_wrong_parquet_is_refused(columns: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    pq.write_table(pa.table(columns), path)
    assert said in refusal(path)
    assert str(path) in refusal(path)


@pytest.mark.parametrize(("settings", "said"), [
    ({**SETTINGS, "format": 2}, "format 2"),
    ({"format": 1}, "incomplete"),
    ({**SETTINGS, "chunk-tags": "p"}, "incomplete or not allowed"),
    ({**SETTINGS, "chunk-normalise": "all"}, "incomplete or not allowed"),
    ({**SETTINGS, "min-chunk-bytes": -1}, "incomplete or not allowed"),
    ([], "no JSON"),
])
def test_settings_that_cannot_be_understood(settings: Any, said: str, tmp_path: Path) -> None:
    assert said in refusal(write_labels(tmp_path / "l.parquet", ROWS, settings))


def test_what_is_no_list(tmp_path: Path) -> None:
    sound = Path(write_labels(tmp_path / "sound.parquet", ROWS * 100)).read_bytes()
    for name, content, said in [
        ("cut.parquet", sound[:-9], "no sound Parquet file"),
        ("damaged.parquet", sound[:4] + bytes(80) + sound[84:], "damaged after row 0"),
        ("empty.parquet", b"", "no Parquet list but empty"),
        ("text.parquet", A.encode(), "no Parquet list but something else"),
        ("l.txt.gz", b"\x1f\x8b\x08\x00", "compressed"),
        ("page.html", b"<html>\n", "line 1: '<html>' is no hash"),
        ("binary", bytes(range(200, 256)), "is no text in UTF-8"),
        ("wide.txt", A.encode("utf-16"), "is no text in UTF-8"),
        ("wide-unmarked.txt", A.encode("utf-16-be"), "is no text in UTF-8"),
    ]:
        (tmp_path / name).write_bytes(content)
        assert said in refusal(tmp_path / name), name
    (tmp_path / "folder").mkdir()
    assert "no finished result" in refusal(tmp_path / "folder")
    assert "no such file" in refusal(tmp_path / "absent")
    empty = tmp_path / "result"
    write_result(empty, ROWS, SETTINGS)
    (empty / "manifest.json").write_text(
        (empty / "manifest.json").read_text().replace('"labels": {', '"pages": {'))
    assert "has no table labels" in refusal(empty)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lists, "STEP", 1 << 10)
    monkeypatch.setattr(text_lists, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "l.txt"
    path.write_bytes(b"a" * (2 << 20))
    assert "a line of more than 1 MB" in refusal(path)


@pytest.mark.skipif(int(pa.__version__.partition(".")[0]) < 17,
                    reason="Arrow 16 ends the process on some damaged page headers")
def test_no_flipped_bit_of_a_parquet_list_changes_a_label(tmp_path: Path) -> None:
    path, rows = tmp_path / "l.parquet", [(sha1(str(i)), "chunk", f"http://{i}.org/")
                                          for i in range(40)]
    writing.write_labels(
        str(path), read_list(write_labels(tmp_path / "other.parquet", rows)), None)
    expected, content = listed(path), bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    refused = 0
    for bit in range(8 * 4, 8 * footer, 7):
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        content[bit // 8] ^= 1 << bit % 8
        try:
            assert listed(path) == expected
        except UserError as error:
            refused += 1
            assert str(path) in str(error)
    assert refused > 40


def test_a_flipped_bit_in_the_names_of_columns_is_told(tmp_path: Path) -> None:
    path = tmp_path / "l.parquet"
    content = Path(write_labels(path, ROWS)).read_bytes()
    path.write_bytes(content.replace(b"source_url", b"source_ur\xec"))
    with pytest.raises(UserError, match="no sound Parquet file"):
        list(read_list(str(path)))
