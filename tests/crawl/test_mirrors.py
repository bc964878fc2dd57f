"""Folders as programs that copy sites leave them: pages have their true URLs."""

import os
from pathlib import Path

import pytest

from beam_reuse.core.errors import UserError
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.urls import is_public_host, name_page
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.mirrors import mirrored_url
from beam_reuse.io.crawl.ranges import FileRange, cut
from tests.broken.writing import HTML
from tests.crawl.reading import read_whole


def mirror(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(HTML)
    return folder


def urls(folder: Path) -> dict[str, str]:
    """The URL of each page, by its path in the folder."""
    return {os.path.relpath(page.file, folder): page.fetched_url for page in read_whole(folder)
            if isinstance(page, RawPage)}


def test_a_mirror_of_sites(tmp_path: Path) -> None:
    """As `wget --mirror -H` lays it out."""
    folder = mirror(
        tmp_path / "My crawl", "www.example.org/index.html", "www.example.org/about.html",
        "www.example.org/news/index.html", "www.example.org/news/index.html?page=2",
        "www.example.org/show.php?id=1&x=a b", "www.example.org/robots.txt",
        "blog.example.co.uk:8080/2020/01/post", "münchen.de/straße.html", "192.0.2.7/index.html",
        "notes/todo.html", "start.html")
    http = "http://www.example.org/"
    assert urls(folder) == {
        "www.example.org/index.html": http,
        "www.example.org/about.html": http + "about.html",
        "www.example.org/news/index.html": http + "news/",
        "www.example.org/news/index.html?page=2": http + "news/?page=2",
        "www.example.org/show.php?id=1&x=a b": http + "show.php?id=1&x=a%20b",
        "www.example.org/robots.txt": http + "robots.txt",
        "blog.example.co.uk:8080/2020/01/post": "http://blog.example.co.uk:8080/2020/01/post",
        "münchen.de/straße.html": "http://münchen.de/stra%C3%9Fe.html",
        "192.0.2.7/index.html": "http://192.0.2.7/",
        "notes/todo.html": "file://my-crawl/notes/todo.html",
        "start.html": "file://my-crawl/start.html",
    }
    assert name_page(urls(folder)["münchen.de/straße.html"]).host == "xn--mnchen-3ya.de"
    (piece,) = cut(list_files([str(folder)]))
    assert FileRange.from_bytes(piece.to_bytes()) == piece


@pytest.mark.parametrize(("relative", "url"), [
    ("example.org/a%20b/c%2Fd", "http://example.org/a%20b/c%2Fd"),
    ("example.org/100%/50%zz", "http://example.org/100%25/50%25zz"),
    ("example.org/a#b", "http://example.org/a%23b"),
    ("example.org/a?b?c#d", "http://example.org/a?b?c%23d"),
    ("example.org/my-index.html", "http://example.org/my-index.html"),
    ("example.org/index.htm", "http://example.org/index.htm"),
    ("example.org/index.html.1", "http://example.org/index.html.1"),
    ("EXAMPLE.org/A", "http://EXAMPLE.org/A"),
    ("example.org+8080/a", "http://example.org:8080/a"),
    ("localhost:8000/a", "http://localhost:8000/a"),
    ("a.example/b", "http://a.example/b"),
    (os.fsdecode(b"example.org/caf\xe9"), "http://example.org/caf%E9"),
    ("example.org", ""), ("notes/a", ""), ("v1.2/a", ""), ("conf.d/a", ""), ("localhost/a", ""),
    ("a..org/b", ""), ("my site.org/a", ""), ("-a.org/b", ""), ("x/example.org/a", ""),
    ("example.org:x/a", ""), (os.fsdecode(b"caf\xe9.org/a"), ""),
])
def test_urls_of_files(relative: str, url: str) -> None:
    assert mirrored_url(relative) == url


@pytest.mark.parametrize("name", ["", ".", "...", "a b.org", "org", "1.2.3", "file.txt", "a_b"])
def test_names_that_are_of_no_host(name: str) -> None:
    assert not is_public_host(name)


def test_the_query_is_no_part_of_the_type(tmp_path: Path) -> None:
    (tmp_path / "example.org").mkdir()
    for name, content in (("style.css?v=1.2", b"p {}"), ("a.php?of=x.css", HTML)):
        (tmp_path / "example.org" / name).write_bytes(content)
    kinds = [page.kind for page in read_whole(tmp_path) if isinstance(page, RawPage)]
    assert kinds == [Kind.HTML, Kind.CODE]


@pytest.mark.parametrize(("name", "table"), [
    ("urls.csv", 'file,url\r\na.html,http://a.example/x\r\n"b, c.html","http://b.example/?q=1,2"\r\n'),
    ("urls.tsv", "\ufefffile\turl\tnote\na.html\thttp://a.example/x\t1\n"
                 "./b, c.html\t http://b.example/?q=1,2 \t\n"),
    ("urls.csv", "url,file\nhttp://a.example/x,a.html\nhttp://b.example/?q=1#2,gone.html\n"
                 'http://b.example/?q=1\\,,x\nhttp://b.example/?q=1,"b, c.html"\n'),
])
def test_a_table_names_urls(tmp_path: Path, name: str, table: str) -> None:
    folder = mirror(tmp_path / "pages", "a.html", "b, c.html", "d.html", "example.org/e.html",
                    "example.org/f.html")
    (folder / name).write_text(table, newline="")
    found = urls(folder)
    assert found["a.html"] == "http://a.example/x"
    assert found["b, c.html"].startswith("http://b.example/?q=1")
    assert found["d.html"] == "file://pages/d.html"
    assert found["example.org/e.html"] == "http://example.org/e.html"
    assert len(found) == 5  # the table is no page


def test_a_table_goes_before_the_names_of_folders(tmp_path: Path) -> None:
    folder = mirror(tmp_path / "pages", "example.org/e.html", "sub/urls.csv")
    (folder / "urls.csv").write_text("file,url\nexample.org/e.html,https://example.org/e\n")
    assert urls(folder)["example.org/e.html"] == "https://example.org/e"
    assert list_files([str(folder)])[-1].relative == "sub/urls.csv"  # only one in the folder itself


def test_other_files_of_that_name_are_read_as_before(tmp_path: Path) -> None:
    folder = mirror(tmp_path / "pages", "a.html")
    for content in ("", "name,address\na.html,http://a.example/\n", "http://a.example/\n"):
        (folder / "urls.csv").write_text(content)
        assert [file.relative for file in list_files([str(folder)])] == ["a.html", "urls.csv"]
    (folder / "urls.csv").unlink()
    os.mkfifo(folder / "urls.csv")
    assert len(list_files([str(folder)])) == 2


def test_a_file_with_two_urls_is_refused(tmp_path: Path) -> None:
    folder = mirror(tmp_path / "pages", "a.html")
    (folder / "urls.csv").write_text("file,url\na.html,http://a.example/\na.html,http://b.example/\n")
    with pytest.raises(UserError, match=r"urls.csv, line 3: a.html has another URL"):
        list_files([str(folder)])
