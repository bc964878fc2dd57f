"""The lines of the summary that say what was found."""

import io
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from beam_reuse.cli.summary import HINTS, UNTOLD, findings, print_summary
from beam_reuse.core.wording import counted, percent
from beam_reuse.io.results.manifest import Accounting, Manifest
from beam_reuse.io.results.tables import SCHEMAS, read_manifest
from tests.judging.results import chunk_row, page_row, prefix_row, write_result


def lines(folder: str) -> list[str]:
    return list(findings(read_manifest(folder), folder))


def discovered(folder: Path, rows: list[dict[str, Any]], **settings: Any) -> str:
    histogram = [{"kind": "chunk", "occurrences": 2, "distinct": 405_000 * 20},
                 {"kind": "file", "occurrences": 1000, "distinct": 10**7}]
    return write_result(folder, {
        "frequent_chunks": [rows[:7], [], rows[7:]], "frequent_files": [[]],
        "frequency_histogram": [histogram],
    }, **{"top": None, "chunk_threshold": "auto", "file_threshold": "auto", **settings})


def test_the_most_copied_chunks_are_shown_in_order(tmp_path: Path) -> None:
    rows = [chunk_row(f"{i:040x}", 11 + i, f"<p>\n passage  {i} {'x' * i * 10}") for i in range(20)]
    rows[3]["occurrences"], rows[3]["hosts"] = 12_345, 2
    rows[4]["occurrences"] = rows[19]["occurrences"]
    random.Random(1).shuffle(rows)
    shown = lines(discovered(tmp_path / "r", rows))
    assert shown[0] == "most copied chunks (more than 40 times: automatic for 16,200,000 chunks):"
    assert shown[1] == f"     12,345 times on 2 hosts: <p> passage 3 {'x' * 30}"
    assert shown[2].startswith("         30 times on 1 host: <p> passage 4 xxx")
    assert shown[3].startswith("         30 times on 1 host: <p> passage 19 xxx")
    assert [len(line.split(": ", 1)[1]) for line in shown[3:6]] == [60] * 3
    assert shown[3].endswith("…") and shown[6:] == [""]


@pytest.mark.parametrize(
    ("settings", "short", "hinted"),
    [({"min_chunk_bytes": 0, "min_hosts": 1}, 3, True),
     ({"min_chunk_bytes": 0, "min_hosts": 1}, 2, False),
     ({"min_chunk_bytes": 25, "min_hosts": 1}, 5, False),
     ({"min_chunk_bytes": 0, "min_hosts": 2}, 5, False)],
)
def test_a_first_run_that_shows_mere_markup_says_what_to_do(
    tmp_path: Path, settings: dict, short: int, hinted: bool,
) -> None:
    rows = [chunk_row(f"{i:040x}", 90 - i, "<div>" if i < short else "<p>" + "word " * 40)
            for i in range(5)]
    shown = lines(discovered(tmp_path / "r", rows, **settings))
    assert any("--min-chunk-bytes 100 --min-hosts 2" in line for line in shown) is hinted


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"top": 1000}, "the 1,000 most frequent"), ({"chunk_threshold": 1}, "more than 1 time"),
     ({"chunk_threshold": 2000}, "more than 2,000 times")],
)
def test_the_rule_of_selection_is_told(tmp_path: Path, settings: dict, told: str) -> None:
    folder = discovered(tmp_path / "r", [chunk_row("0" * 40, 3000, "<p>x")], **settings)
    assert lines(folder) == [
        f"most copied chunks ({told}):", "      3,000 times on 1 host: <p>x", ""]


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"top": 1000}, "No chunk occurs more than once."),
     ({"chunk_threshold": 7}, "No chunk occurs more than 7 times; --chunk-threshold lowers")],
)
def test_where_nothing_is_copied_the_way_out_is_told(
    tmp_path: Path, settings: dict, told: str,
) -> None:
    assert lines(discovered(tmp_path / "r", [], **settings))[0].startswith(told)


def detected(folder: Path, pages: list[dict], places: list[dict], matches: int) -> str:
    chunk = {"url": "http://a.example/", "start": 0, "end": 1, "sha1": "0" * 40,
             "source_url": None, "sources": 0, "own": False}
    return write_result(folder, {
        "page_reuse": [pages[:5], pages[5:]], "neighbourhoods": [places], "matched_files": [[]],
        "matched_chunks": [[{**chunk, "position": i} for i in range(matches)]]})


def test_what_is_flagged_is_told_with_the_places_that_copy_most(tmp_path: Path) -> None:
    pages = [page_row(f"http://h{i}.example/", i, 9, i > 7) for i in range(10)]
    places = [prefix_row(f"h{i}.example/", i, 9, 0, i > 7) for i in range(10)]
    places.append(prefix_row("h9.example/deep/", 9, 9, 0, True))
    assert lines(detected(tmp_path / "r", pages, places, 17)) == [
        "known content (what discovery found) in 17 chunks and 0 files",
        "flagged: 2 of 10 pages, 3 of 11 directories, most in",
        "  h9.example/: 100% of its 9 chunks on 1 page",
        "  h8.example/: 89% of its 9 chunks on 1 page", ""]


def test_nothing_flagged_is_told(tmp_path: Path) -> None:
    pages = [page_row("http://a.example/", 0, 1, False)]
    places = [prefix_row("a.example/", 0, 1, 0, False)]
    assert lines(detected(tmp_path / "r", pages, places, 1)) == [
        "known content (what discovery found) in 1 chunk and 0 files",
        "flagged: 0 of 1 page, 0 of 1 directories", ""]
    pages[0]["own_matching"] = 3
    assert lines(detected(tmp_path / "own", pages, places, 5))[:2] == [
        "known content (what discovery found) in 2 chunks and 0 files",
        "3 chunks and 0 files on pages of their source's own domain did not count (--count-own)"]


def test_the_threshold_and_the_lists_are_told(tmp_path: Path) -> None:
    folder = detected(tmp_path / "r", [page_row("http://a.example/", 0, 1, False)],
                      [prefix_row("a.example/", 0, 1, 0, False)], 1)
    manifest = replace(
        read_manifest(folder), thresholds={"page": 0.15, "neighbourhood": 1.014},
        settings={"labels": ["known.parquet sha256:00"]})
    assert list(findings(manifest, folder))[:2] == [
        "known content (labels of known.parquet) in 1 chunk and 0 files",
        "flagged: 0 of 1 page (share above 0.15), 0 of 1 directories (share above 1.014, so none "
        "can be: give --neighbourhood-threshold)"]


@pytest.mark.parametrize(("threshold", "least", "said"), [
    (0.0, 1, "Any known chunk flags a page, as in `check`: an average is taken of 1,000 pages or "
             "more, of which fewer than half have known content (--page-threshold)."),
    (0.5, 1, "2 more pages have known content, not above mean + one deviation of all pages: "
             "--page-threshold 0 flags any, as `check` does."),
    (0.5, 8, "1 more page has known content, not above mean + one deviation of all pages: "
             "--page-threshold 0 flags any, as `check` does."),
    (0.5, 10, ""),
])
def test_an_automatic_threshold_says_how_to_be_as_check_is(
    threshold: float, least: int, said: str, tmp_path: Path,
) -> None:
    pages = [page_row(f"http://h{n}.example/", matching, chunks, matching > 4)
             for n, (matching, chunks) in enumerate([(0, 9), (5, 9), (1, 9), (1, 7)])]
    folder = detected(tmp_path / "r", pages, [prefix_row("h.example/", 0, 1, 0, False)], 7)
    settings = {"labels": ["known.parquet sha256:00"], "page-threshold": "auto",
                "min-chunks": least, "min-matching": 1}
    manifest = replace(read_manifest(folder), settings=settings,
                       thresholds={"page": threshold, "neighbourhood": 0.0})
    shown = list(findings(manifest, folder))
    where = "any known chunk" if threshold == 0 else "share above 0.5"
    assert shown[1] == f"flagged: 1 of 4 pages ({where}), 0 of 1 directories (any known chunk)"
    assert shown[2:] == ([said, ""] if said else [""])
    given = replace(manifest, settings={**settings, "page-threshold": 0})
    assert list(findings(given, folder))[2:] == [""]


def test_near_duplicates_are_told(tmp_path: Path) -> None:
    flags = {"b": True, "c": True, "combined": True, "hybrid": False}
    pair = {"url_a": "http://a/", "url_b": "http://b/", "b_similarity": 2, "c_similarity": 380,
            "same_site": True}
    kept = [{"url": f"http://{n}/", "keep": n > 2, "because_of": None, "reason": reason,
             "containment": None}
            for n, reason in enumerate(("pair", "equal-signatures", "identity", None))]
    folder = write_result(tmp_path / "r", {
        "near_duplicates": [[pair | flags], [pair | flags | {"c": False}]], "keep": [kept],
        "identity_sets": [[{"representative": first, "url": first + more}
                           for first, more in (("a", ""), ("a", "b"), ("a", "c"), ("d", ""),
                                               ("d", "e"))]]}, keep_by="b")
    assert lines(folder) == [
        "near-duplicates: 2 pairs (2 by b, 1 by c, 2 by combined, 0 by hybrid)",
        "2 sets of pages with the same words, 3 pages superfluous; "
        "3 of 4 pages dropped by b (keep)",
        "  2 of them because signatures agree; --min-containment 0.8 drops only pages whose text "
        "is on the page that stays", ""]
    manifest = read_manifest(folder)
    proven = replace(manifest, settings={**manifest.settings, "min-containment": 0.8})
    assert len(list(findings(proven, folder))) == 3


def test_what_is_noted_is_explained_and_slow_reading_is_told_in_small_units() -> None:
    noted = {"no-tokens": 2, "more-than-ten-neighbours": 1, "pairs-not-compared-c": 7,
             "pairs-not-listed": 9, "no-lines": 1,
             "server-pairs-not-compared": 1, "grams-on-too-many-pages": 1,
             "pages-shorter-than-a-gram": 1, "listed-but-absent": 1, **dict.fromkeys(UNTOLD, 1000)}
    out = io.StringIO()
    print_summary(Console(file=out, width=160), Manifest(
        "result", {}, Accounting(2, 2, noted=noted), ()), "nowhere", 30_000, 10.0)
    told = " ".join(out.getvalue().split())
    assert "pairs-not-listed 9, pairs-not-compared-c 7, no-tokens 2" in told
    for hint in HINTS.values():
        assert hint in told
    assert "overlap" not in told.replace(HINTS["no-lines"], "")
    assert "30.0 kB read in 10.0 s, 3.0 kB/s" in told
    out.truncate(0)
    print_summary(Console(file=out, width=160), Manifest(
        "result", {}, Accounting(2, 2, noted={"encoding-absent": 1}), ()), "nowhere", 0, 1.0)
    assert not any(hint in out.getvalue() for hint in HINTS.values())


def test_quilts_are_told(tmp_path: Path) -> None:
    row = {"gram_size": 5, "max_pages_per_gram": 50, "min_sources": 4, "min_patch_fraction": 0.5,
           "variant": "foreign", "min_source_share": 0.0, "grams": 90, "patch_grams": 60,
           "patch_fraction": 2 / 3, "linked_page_share": 0.0, "linked_domain_share": 0.25,
           "copies": 0, "covered": 0.75}
    rows = [row | {"url": f"http://{n}/", "sources": 4 + n % 3, "copies": n // 2} for n in range(5)]
    other = [row | {"url": "http://0/", "sources": 9, "gram_size": 8}]
    lists = {"gram-size": [5], "max-pages-per-gram": [50], "min-sources": [4],
             "min-patch-fraction": [0.5], "quilt-sources": "foreign", "sweep": "pivot"}
    folder = write_result(tmp_path / "r", {"quilts": [rows[:2], rows[2:]]}, **lists)
    told = ["quilts (sources on other domains): 5 pages, 3 of them with copies elsewhere, 25% of "
            "their patches linked to the domain they came from; most sources:",
            "  50% of it from 6 sources, 1 copy: http://2/",
            "  50% of it from 5 sources: http://1/",
            "  50% of it from 5 sources, 2 copies: http://4/"]
    assert lines(folder) == [*told, ""]
    lists["gram-size"] = [5, 12, 8]
    folder = write_result(tmp_path / "s", {"quilts": [rows, other]}, **lists)
    assert lines(folder) == [*told, "          5 with --gram-size 5 (pivot)",
                             "          1 with --gram-size 8",
                             "          0 with --gram-size 12", ""]
    lists |= {"min-sources": [4, 2], "gram-size": [5, 8], "sweep": "grid"}
    folder = write_result(tmp_path / "g", {"quilts": [rows, other]}, **lists)
    assert lines(folder) == [*told, "          0 with --gram-size 5 --min-sources 2",
                             "          5 with --gram-size 5 --min-sources 4 (pivot)",
                             "          0 with --gram-size 8 --min-sources 2",
                             "          1 with --gram-size 8 --min-sources 4", ""]
    lists |= {"min-sources": [4], "sweep": "pivot"}
    folder = write_result(tmp_path / "t", {"quilts": [[]]}, **lists | {"gram-size": [5]})
    assert lines(folder) == ["quilts (sources on other domains): 0 pages", ""]


@pytest.mark.parametrize(("sources", "domains", "said"), [
    ("foreign", ["a.example", "a.example"], True), ("ip", ["a.example"], True),
    ("any", ["a.example", "a.example"], False), ("foreign", ["a.example", "b.example"], False),
    ("foreign", [], False),
])
def test_one_domain_has_no_foreign_sources(
    sources: str, domains: list[str], said: bool, tmp_path: Path,
) -> None:
    texts = ("url", "fetched_url", "kind", "host", "site", "sha1", "crawl", "file")
    numbers = ("bytes", "chunks", "offset", "record_length")
    empty: dict[str, Any] = {name: None for name in SCHEMAS["pages"].names}
    empty |= dict.fromkeys(texts, "x") | dict.fromkeys(numbers, 0)
    folder = write_result(
        tmp_path / "r", {"quilts": [[]], "pages": [[empty | {"domain": d}] for d in domains]},
        **{"gram-size": [5], "max-pages-per-gram": [50], "min-sources": [4],
           "min-patch-fraction": [0.5], "quilt-sources": sources, "sweep": "pivot"})
    hint = "  all pages are of one domain: --quilt-sources any"
    assert (hint in lines(folder)) == said


def test_a_run_without_a_page_says_so() -> None:
    nothing = Manifest("result", {}, Accounting(1, 0, {"status": 1}), ())
    assert "No record became a page" in next(findings(nothing, "nowhere"))
    assert list(findings(Manifest("result", {}, Accounting(0, 0), ()), "nowhere")) == []


def test_one_is_singular() -> None:
    assert [counted(n, "host") for n in (0, 1, 2, 1000)] == [
        "0 hosts", "1 host", "2 hosts", "1,000 hosts"]


@pytest.mark.parametrize(("share", "digits", "text"), [
    (0.0, 0, "0%"), (1 / 10**9, 0, "under 1%"), (0.004, 0, "under 1%"), (0.006, 0, "1%"),
    (0.5, 0, "50%"), (0.994, 0, "99%"), (2999 / 3001, 0, "over 99%"), (1.0, 0, "100%"),
    (0.0, 2, "0.00%"), (1 / 10**9, 2, "under 0.01%"), (0.005, 2, "0.50%"),
    (1 - 1 / 10**9, 2, "over 99.99%"), (1.0, 2, "100.00%"),
])
def test_only_all_is_a_hundred_per_cent(share: float, digits: int, text: str) -> None:
    assert percent(share, digits) == text


def overlap_result(folder: Path, mirrors: int, **noted: int) -> list[str]:
    pairs = [{"chunking": name, "host_a": f"a{n}.example", "host_b": f"b{n}.example", "shared": 9,
              "containment_a": 1.0, "containment_b": 0.95, "relation": relation}
             for name, relation in (("whole", "part"), ("2-lines", "mirror"), ("x", "mirror"))
             for n in range(mirrors)]
    savings = [{"chunking": name, "host": f"{n}.example", "pages": 10, "redundant_pages": n,
                "bytes": 500, "redundant_bytes": 100}
               for name in ("whole", "2-lines") for n in range(3)]
    path = write_result(folder, {
        "server_overlap": [pairs, []], "crawl_savings": [savings[:2], savings[2:]],
        "page_overlap": [[]],
        "exact_copies": [[{"centre": "a", "url": "b", "cause": None, "same_ip": None}]],
    }, overlap_chunkings=["whole", "2-lines"], max_df=200)
    manifest = read_manifest(path)
    accounting = replace(manifest.accounting, noted=noted)
    return list(findings(replace(manifest, accounting=accounting), path,
                         {"overlap-pairs-shuffled": 42}))


def test_overlap_is_summed_up(tmp_path: Path) -> None:
    noted = {"overlap-fingerprints": 1000, "overlap-fingerprints-too-frequent": 5,
             "overlap-occurrences": 4000, "overlap-occurrences-too-frequent": 1500,
             "overlap-pairs-made": 3500, "overlap-pairs-kept": 3,
             "overlap-pairs-not-compared": 9000}
    assert overlap_result(tmp_path / "r", 1, **noted) == [
        "overlap: 0 pairs of pages and 3 pairs of hosts; 1 page in sets with the same lines",
        "pairs with a chunk in common: 3,500 made, 42 rows shuffled, 3 kept",
        "crowds: 5 chunks on more than 200 pages (--max-df), 0.50% of all and 37.50% of all "
        "occurrences; 9,000 pairs not compared",
        "  a0.example and b0.example are mirrors: they share 9 chunks (2-lines)",
        "  whole: 3 of 30 pages (10%), 300 B of 1.5 kB, are exact copies of a page that stays",
        "  2-lines: 3 of 30 pages (10%), 300 B of 1.5 kB, have 90% of their own lines on a page "
        "that stays and share 25 chunks with it, or are copies",
        "  skippable lists them, each with the page that stays",
        "",
    ]
    many = overlap_result(tmp_path / "many", 7)
    assert sum("are mirrors" in line for line in many) == 5
    assert "  and more: server_overlap has all" in many
    assert not any("crowds" in line for line in many)


def test_mirrors_that_share_most_come_first(tmp_path: Path) -> None:
    row = {"containment_a": 1.0, "containment_b": 1.0, "relation": "mirror"}
    small = [row | {"chunking": "whole", "host_a": f"a{n}", "host_b": f"b{n}", "shared": 1}
             for n in range(9)]
    large = [row | {"chunking": name, "host_a": "y", "host_b": "z", "shared": shared}
             for name, shared in (("2-lines", 70), ("4-lines", 1_234), ("whole", 2))]
    part = row | {"chunking": "whole", "host_a": "p", "host_b": "q", "shared": 5000,
                  "relation": "part"}
    for number, parts in enumerate(([small, large, [part]], [[*large[::-1], part], small])):
        path = write_result(tmp_path / str(number), {
            "server_overlap": parts, "crawl_savings": [[]], "page_overlap": [[]],
            "exact_copies": [[]]}, overlap_chunkings=["whole"], max_df=200)
        assert [line for line in lines(path) if "mirrors" in line] == [
            "  y and z are mirrors: they share 1,234 chunks (4-lines)",
            "  mirrors that share one chunk only, perhaps that of a tiny page: 9 rows of "
            "server_overlap"]


def test_origins_are_told_by_what_says_so(tmp_path: Path) -> None:
    def row(kind: str, evidence: str, origin: str | None, agree: int, against: int = 0) -> dict:
        return {"kind": kind, "set": f"http://{agree}.example/", "origin": origin,
                "evidence": evidence, "members": 9, "agree": agree, "against": against,
                "other": None}

    folder = write_result(tmp_path / "r", {"origins": [
        [row("copies", "canonical", "http://a/", 1200, 1), row("copies", "none", None, 0),
         row("copies", "first-capture", "http://x/", 5000),
         row("identity", "link", "http://b/", 7)],
        [row("copies", "date", "http://c/", 1), row("identity", "canonical", "http://a/", 30),
         row("hosts", "date", "a.example", 8), row("copies", "date", "http://d/", 1)],
    ]})
    assert lines(folder) == [
        "origins of 5 sets of pages with the same lines: 3 by what pages declare (1 by canonical "
        "URLs, 2 by dates), 1 by nothing but the first capture, 1 unknown",
        "origins of 2 sets of pages with the same words: 2 by what pages declare (1 by canonical "
        "URLs, 1 by links)",
        "origins of 1 pair of hosts: 1 by what pages declare (1 by dates)",
        "  http://a/: by canonical URLs of 1,200 pages, 1 against",
        "  http://b/: by links of 7 pages",
        "  http://c/: by dates of 1 page",
        "",
    ]


def test_no_character_of_a_crawl_acts_on_the_terminal(tmp_path: Path) -> None:
    acting = "\u202e\u202d\u2066\u200b\ufeff\x1b[31m\x07"
    folder = discovered(tmp_path / "r", [chunk_row(f"{1:040x}", 11, f"turn{acting}ed")])
    shown = io.StringIO()
    print_summary(Console(file=shown, width=160), read_manifest(folder), folder, 1, 1.0)
    (line,) = (each for each in shown.getvalue().splitlines() if "turn" in each)
    assert line.isprintable() and line.rstrip().endswith("ed")
