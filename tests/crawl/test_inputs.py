"""Which files a run reads, and how they are cut into ranges."""

import errno
import io
import os
import socket
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from apache_beam.io.filesystem import FileMetadata, FileSystem, MatchResult
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.pages import Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.core.urls import name_page
from beam_reuse.io.crawl import window
from beam_reuse.io.crawl.chain import RangeChain
from beam_reuse.io.crawl.inputs import InputError, InputFile, is_result_folder, list_files
from beam_reuse.io.crawl.ranges import FILE_COST, FileRange, cut
from beam_reuse.io.crawl.read import RangeReader
from tests.broken.writing import HTML, gz, page
from tests.crawl.reading import read_cut, read_whole, shape


def _make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(HTML)


def test_paths_globs_and_folders(tmp_path: Path) -> None:
    _make(tmp_path, "c/a.warc.gz", "c/sub/b.html", "c/.git/x.html", "d/z.html", "d/y.html")
    base = str(tmp_path)
    files = list_files([base + "/d/*.html", base + "/c/", base + "/d/z.html"])
    assert [(f.name, f.crawl, f.host, f.relative) for f in files] == [
        ("c/a.warc.gz", "c", "c", "a.warc.gz"), ("c/sub/b.html", "c", "c", "sub/b.html"),
        ("y.html", "y.html", "d", "y.html"), ("z.html", "z.html", "d", "z.html")]
    assert all(f.size == len(HTML) for f in files)
    assert list_files([base + "/c", base + "/d/y.html", base + "/d/z.html"]) == files


def test_names_are_as_short_as_is_unique(tmp_path: Path) -> None:
    _make(tmp_path, "x/a/p.html", "y/a/p.html", "y/b/p.html", "y/b/q.html")
    files = list_files([str(tmp_path) + "/*/*/*.html"])
    assert [f.name for f in files] == ["x/a/p.html", "y/a/p.html", "b/p.html", "q.html"]


def test_where_a_crawl_lies_does_not_show(tmp_path: Path) -> None:
    for place in ("one", "two/three"):
        _make(tmp_path / place, "crawl/a.html", "crawl/b/c.html")
    names = [[(f.name, f.crawl, f.host, f.relative) for f in list_files([str(tmp_path / p)])]
             for p in ("one/crawl", "two/three/crawl/")]
    assert names[0] == names[1]


def test_a_spec_that_matches_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for spec in ("no-such.warc.gz", "*.warc", "empty"):
        with pytest.raises(InputError, match=spec.replace("*", r"\*")):
            list_files([str(tmp_path / spec)])


def test_odd_names(tmp_path: Path) -> None:
    strange = os.fsencode(str(tmp_path)) + b"/caf\xe9"
    os.mkdir(strange)
    with open(strange + b"/p[1].html", "wb") as file:
        file.write(HTML)
    (found,) = list_files([os.fsdecode(strange)])
    assert found.name == "caf%E9/p[1].html"
    piece = FileRange.from_bytes(cut([found])[0].to_bytes())
    (outcome,) = RangeReader(piece, ReadSettings())
    assert outcome.fetched_url == "file://caf-e9/p%5B1%5D.html"  # type: ignore[union-attr]
    assert piece.name_of(outcome.file) == found.name
    assert [f.name for f in list_files([found.path])] == ["p[1].html"]


@pytest.mark.parametrize(("name", "host"), [
    ("a..b", "a-.b"), ("...", "files"), ("v1.2.", "v1.2"), ("My: Site", "my--site")])
def test_any_folder_is_a_host(tmp_path: Path, name: str, host: str) -> None:
    _make(tmp_path / name, "x.html")
    (outcome,) = read_whole(tmp_path / name)
    assert name_page(outcome.fetched_url).host == host  # type: ignore[union-attr]


def _with_irregular_files(folder: Path) -> None:
    _make(folder, "a.html", "result/manifest.json", "result/pages/part.parquet")
    os.mkfifo(folder / "pipe.html")
    (folder / "gone.html").symlink_to(folder / "nothing")
    (folder / "round.html").symlink_to(folder / "round.html")
    (folder / "loop").symlink_to(folder)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket must be short
        try:
            server.bind("socket")
        finally:
            os.chdir(here)


def test_what_is_no_file_is_rejected_in_a_folder_or_glob(tmp_path: Path) -> None:
    _with_irregular_files(tmp_path)
    for spec in (str(tmp_path), f"{tmp_path}/[a-z]*[ltk]"):
        files = list_files([spec])
        assert all(f.size == 0 for f in files if f.unreadable)
        outcomes = {
            os.path.basename(o.file): (o.reason, o.detail) if isinstance(o, Rejected) else "page"
            for piece in cut(files)
            for o in RangeReader(FileRange.from_bytes(piece.to_bytes()), ReadSettings())}
        assert outcomes.pop("round.html")[0] == "unreadable"
        assert outcomes.pop("a.html") == "page"
        assert {k: v for k, v in outcomes.items() if not k.startswith(("manifest", "part"))} == {
            "pipe.html": ("unreadable", "it is a named pipe"),
            "gone.html": ("unreadable", "it is a link to a file that is not there"),
            "socket": ("unreadable", "it is a socket")}


@pytest.mark.parametrize("name", ["a.warc", "a.html", "a.json", "a.parquet"])
@pytest.mark.parametrize("range_bytes", [1 << 20, 100])
def test_a_file_that_may_not_be_opened_is_one_reject(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, range_bytes: int,
) -> None:
    def refuse(path: str, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    (tmp_path / name).write_bytes(HTML * 20)
    monkeypatch.setattr(window, "open", refuse, raising=False)
    reject, = read_cut(tmp_path / name, range_bytes)
    assert reject == Rejected(str(tmp_path / name), 0, "", "unreadable", "Permission denied")


def test_a_right_that_is_lost_while_reading_loses_no_record_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: RangeChain) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    (tmp_path / "a.warc.gz").write_bytes(gz(page()))
    monkeypatch.setattr(RangeChain, "__iter__", refuse)
    with pytest.raises(PermissionError):
        read_cut(tmp_path / "a.warc.gz", 1 << 20)


def test_what_is_no_file_is_refused_where_it_is_named(tmp_path: Path) -> None:
    _with_irregular_files(tmp_path)
    assert is_result_folder(str(tmp_path / "result")) and not is_result_folder(str(tmp_path))
    for name, told in (("pipe.html", "named pipe; save it"), ("gone.html", "no such file")):
        with pytest.raises(InputError, match=f"{name}.*{told}"):
            list_files([str(tmp_path / name)])


@pytest.mark.parametrize("name", ["pages.csv", "pages.TSV", "pages.csv.gz"])
def test_tables_of_text_are_refused_where_they_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"url,html\nhttp://a.example/,<p>x\n")
    for spec in (str(tmp_path / name), f"{tmp_path}/*"):
        with pytest.raises(InputError, match=(
                r"CSV is not read.*Parquet or JSON Lines.*\npython -c .import duckdb")):
            list_files([spec])
    assert [f.relative for f in list_files([str(tmp_path)])] == [name]


ROWS = b'[{"url": "http://a.example/", "html": "<p>x"}]'


@pytest.mark.parametrize(
    "content", [ROWS, b"\xef\xbb\xbf \n" + ROWS, gz(ROWS), b"[\n  " + ROWS[1:]])
def test_a_json_array_of_pages_is_refused_where_it_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / ("pages.json.gz" if content.startswith(b"\x1f") else "pages.json")
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        list_files([str(path)])
    assert "one JSON array" in str(error.value)
    assert "jq -c '.[]' 'pages.json' > 'pages.jsonl'" in str(error.value)
    assert len(list_files([str(tmp_path)])) == 1


@pytest.mark.parametrize("content", [b"", b"[1, 2]", b'{"url": "x"}', ROWS[1:-1], b'[{"a": 1}]'])
def test_other_json_files_are_read_as_before(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data.json").write_bytes(content)
    assert len(list_files([str(tmp_path / "data.json")])) == 1


SIZES = st.lists(st.integers(0, 5_000_000) | st.sampled_from([0, 1, 10**9]), max_size=30)


@given(sizes=SIZES, range_bytes=st.sampled_from([1000, 10**6, 64 << 20]))
def test_ranges_cover_every_byte_once(sizes: list[int], range_bytes: int) -> None:
    range_bytes = max(range_bytes, sum(sizes) // 300 + 1)
    files = [InputFile(f"f{i}", size, "c", "h", f"f{i}", f"f{i}") for i, size in enumerate(sizes)]
    ranges = cut(files, range_bytes)
    assert [piece.number for piece in ranges] == list(range(len(ranges)))
    seen: dict[str, list[tuple[int, int]]] = {}
    for piece in ranges:
        assert piece.size <= range_bytes
        if not piece.is_part:
            assert (piece.start, piece.end) == (0, sum(f.size for f in piece.files))
            assert len(piece.files) == 1 or len(piece.files) <= range_bytes // FILE_COST
        for file in piece.files:
            part = (piece.start, piece.end) if piece.is_part else (0, file.size)
            seen.setdefault(file.path, []).append(part)
        assert FileRange.from_bytes(piece.to_bytes()) == piece
    assert list(seen) == [file.path for file in files]
    for file in files:
        parts = seen[file.path]
        assert parts[0][0] == 0 and parts[-1][1] == file.size
        assert all(a[1] == b[0] for a, b in pairwise(parts))


def test_many_small_files_are_one_piece_of_work(tmp_path: Path) -> None:
    _make(tmp_path, *(f"{i}.html" for i in range(300)))
    (piece,) = cut(list_files([str(tmp_path)]))
    reader = RangeReader(piece, ReadSettings())
    progress = [reader.bytes_read for _ in reader]
    assert progress == sorted(progress) and reader.bytes_read == piece.size
    assert reader.records == 300


def test_progress_inside_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(gz(page(n)) for n in range(200)))
    for piece in cut(list_files([str(path)]), 9000):
        reader = RangeReader(piece, ReadSettings())
        progress = [reader.bytes_read for _ in reader]
        assert progress == sorted(progress)
        assert 0 < progress[-1] <= reader.bytes_read == piece.size


class MemoryFiles(FileSystem):
    """A filesystem of Beam's that holds a few files; its paths are `memory://…`."""

    files: dict[str, bytes]

    @classmethod
    def scheme(cls) -> str:
        return "memory"

    def match(self, patterns: list[str], limits: Any = None) -> list[MatchResult]:
        found = []
        for pattern in patterns:
            start = pattern.removesuffix("**")
            hits = [path for path in FILES if path == pattern
                    or (start != pattern and path.startswith(start))]
            found.append(MatchResult(pattern, [FileMetadata(h, len(FILES[h])) for h in hits]))
        return found

    def open(self, path: str, *_: Any, **__: Any) -> io.BytesIO:
        return io.BytesIO(FILES[path])

    def exists(self, path: str) -> bool:
        return path in FILES

    def join(self, base: str, *paths: str) -> str:
        return "/".join([base, *paths])

    def split(self, path: str) -> tuple[str, str]:
        head, _, tail = path.rpartition("/")
        return head, tail

    def has_dirs(self) -> bool:
        return False

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("these tests only match and open")

    mkdirs = create = copy = rename = delete = size = checksum = last_updated = metadata = _unused
    _list = _unused


def test_a_remote_table_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FILES, "memory://b/x.csv", b"url,html")
    monkeypatch.setitem(FILES, "memory://b/x.json", ROWS)
    for name, told in (("x.csv", "x.csv: CSV is not read"), ("x.json", "x.json: this is one JSON")):
        with pytest.raises(InputError, match=told):
            list_files([f"memory://b/{name}"])


FILES = {"memory://b/crawl/a.warc.gz": gz(page(1)) + gz(page(2)),
         "memory://b/crawl/sub/b.html": HTML, "memory://b/crawl/.hidden.html": HTML}


def test_any_beam_filesystem() -> None:
    files = list_files(["memory://b/crawl"])
    assert [(f.name, f.crawl, f.host) for f in files] == [
        ("crawl/a.warc.gz", "crawl", "crawl"), ("crawl/sub/b.html", "crawl", "crawl")]
    outcomes = [o for piece in cut(files) for o in RangeReader(piece, ReadSettings())]
    assert shape(outcomes) == ("page",) * 3
    assert [f.host for f in list_files(["memory://b/crawl/sub/b.html"])] == ["sub"]
    assert not is_result_folder("memory://b/crawl")
    with pytest.raises(InputError, match="memory://b/nothing"):
        list_files(["memory://b/nothing"])


def test_a_remote_folder_is_a_mirror_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.org/index.html", "x.html"):
        monkeypatch.setitem(FILES, f"memory://m/sites/{name}", HTML)
    monkeypatch.setitem(FILES, "memory://m/sites/urls.tsv", b"file\turl\nx.html\thttp://b.org/x\n")
    assert [(file.relative, file.url) for file in list_files(["memory://m/sites"])] == [
        ("a.org/index.html", "http://a.org/"), ("x.html", "http://b.org/x")]


def test_folders_of_one_name_have_hosts_of_their_own(tmp_path: Path) -> None:
    for above in ("c1", "c2"):
        (tmp_path / above / "site").mkdir(parents=True)
        (tmp_path / above / "site" / "x.html").write_text(f"<p>{above}")
    folders = [str(tmp_path / above / "site") for above in ("c1", "c2")]
    assert [file.host for file in list_files(folders)] == ["c1-site", "c2-site"]
    assert [file.host for file in list_files(folders[:1])] == ["site"]


def test_web_servers_are_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="download it first"):
        list_files(["https://a.example/crawl.warc.gz"])
