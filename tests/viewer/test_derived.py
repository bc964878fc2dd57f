"""Tables that DuckDB makes of others say what the obvious loops over rows do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from beam_reuse.cli.main import main
from beam_reuse.core.urls import site_of
from beam_reuse.io.results import tables
from beam_reuse.viewer.derived import _site
from beam_reuse.viewer.passages import search
from beam_reuse.viewer.shared import shared
from beam_reuse.viewer.view import View, open_view


@pytest.fixture(scope="module")
def view(demo_made: Path) -> Iterator[View]:
    with open_view(str(demo_made / "result"), ()) as opened:
        yield opened


def rows(view: View, name: str) -> list[dict[str, Any]]:
    return tables.read(view.folder, name).to_pylist()


def test_the_site_of_a_url(view: View) -> None:
    hosts = ["a.example", "www.a.example", "x.y.z.example", "localhost", "127.0.0.1", "[::1]",
             "1.2.3.4.example", "10.0.0.1", "a-b.c_d.example"]
    for host in hosts:
        for url in (f"http://{host}/", f"https://{host}:8080/a?b=://c.d.e/", f"http://{host}?q"):
            assert view.database.rows(f"select {_site('$url')}", {"url": url})[0][0] == (
                site_of(host)), url


def test_overlapping_pages_by_the_larger_containment_and_site(view: View) -> None:
    made = view.ask("overlapping", "*", "true order by chunking, url_a, url_b")
    wanted = [{**row, "larger": max(row["containment_a"], row["containment_b"]),
               "same_site": site_of(str(urlsplit(row["url_a"]).hostname)) == site_of(
                   str(urlsplit(row["url_b"]).hostname))} for row in rows(view, "page_overlap")]
    assert made == sorted(wanted, key=lambda row: (row["chunking"], row["url_a"], row["url_b"]))
    assert made


def test_lines_with_their_hosts(view: View) -> None:
    lines: dict[str, list[dict[str, Any]]] = {}
    for row in rows(view, "boilerplate"):
        lines.setdefault(row["fingerprint"], []).append(row)
    made = {row["fingerprint"]: row for row in view.ask("by_line", "*")}
    assert set(made) == set(lines) and lines
    for fingerprint, mine in lines.items():
        assert made[fingerprint]["hosts"] == len(mine)
        assert made[fingerprint]["pages"] == sum(row["pages"] for row in mine)
        assert made[fingerprint]["letters"] == len(made[fingerprint]["text"])


def test_pages_by_words_of_a_passage(view: View) -> None:
    chunk = max(rows(view, "frequent_chunks"), key=lambda row: row["hosts"])
    words = " ".join(chunk["text"].split(">")[1].split("<")[0].split()[:4])
    found = search(view, f"  {words.upper()} ")
    assert chunk["sha1"] in [row["sha1"] for row in found["chunks"]]
    hashes = {row["sha1"] for row in found["chunks"]}
    assert {url for url, _ in found["pages"]} == {
        row["url"] for row in rows(view, "matched_chunks") if row["sha1"] in hashes}
    assert not search(view, "words that nobody has written")["chunks"]
    assert not search(view, "a")["chunks"]


def test_what_two_hosts_share_and_what_only_one_has(view: View) -> None:
    hosts = {row["url"]: row["host"] for row in rows(view, "pages")}
    links: dict[str, set[str]] = {url: set() for url in hosts}
    for name in ("page_overlap", "near_duplicates"):
        for row in rows(view, name):
            links[row["url_a"]].add(row["url_b"])
            links[row["url_b"]].add(row["url_a"])
    for name, key in (("exact_copies", "centre"), ("identity_sets", "representative")):
        sets: dict[str, set[str]] = {}
        for row in rows(view, name):
            sets.setdefault(row[key], {row[key]}).add(row["url"])
        for members in sets.values():
            for url in members:
                links[url] |= members - {url}
    checked = 0
    for row in rows(view, "server_overlap"):
        a, b = row["host_a"], row["host_b"]
        found = shared(view, a, b)
        for one, other, side in ((a, b, "only_a"), (b, a, "only_b")):
            mine = {url for url in hosts if hosts[url] == one}
            both = {url for url in mine if any(hosts[each] == other for each in links[url])}
            assert found[side] == {"pages": len(mine), "shared": len(both), "urls": sorted(
                mine - both), "more": False}
            checked += len(both)
    assert checked


def test_hosts_that_are_not_there_share_nothing(view: View) -> None:
    found = shared(view, "nobody.example", "nowhere.example")
    assert found["only_a"] == {"pages": 0, "shared": 0, "urls": [], "more": False}


def test_a_result_without_pairs(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "a.html").write_text("<p>One page and nothing else")
    assert main(["run", str(tmp_path / "crawl"), "-o", str(tmp_path / "r"), "--workers", "1",
                 "--analyses", "quilts"]) == 0
    with open_view(str(tmp_path / "r"), ()) as opened:
        host = rows(opened, "pages")[0]["host"]
        assert shared(opened, host, "other.example")["only_a"]["pages"] == 1
        assert not search(opened, "one page and nothing")["chunks"]
