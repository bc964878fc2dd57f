"""Every config in configs/ finds what is planted, and its queries give the answer it promises."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from beam_reuse.judging.evaluate import PAGES, evaluate
from tests.configs.webs import (
    FARM,
    Web,
    bank,
    copied_passages,
    encyclopaedia,
    farms,
    manuals,
    mirrors,
    scrapers,
)

pytestmark = pytest.mark.xdist_group("configs")

CONFIGS = Path(__file__).parents[2] / "configs"


def config(name: str) -> str:
    return str(CONFIGS / f"{name}.yaml")


def run(*argv: str | Path) -> None:
    assert main([*map(str, argv), "--workers", "1"]) == 0


def rows(folder: Path, table: str) -> list[dict]:
    return tables.read(str(folder), table).to_pylist()


def flagged(folder: Path, table: str, key: str) -> set[str]:
    return {row[key] for row in rows(folder, table) if row["flagged"]}


def queries(name: str) -> list[str]:
    """The queries in a config's comments."""
    text = re.sub(r"(?m)^# ?", "", Path(config(name)).read_text())
    return re.findall(r'beam-reuse sql \w+ "(.*?)"', text, re.DOTALL)


def answers(name: str, result: Path, number: int = 0) -> list[tuple]:
    """What a config's query gives on `result`."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.json")
        assert main(["sql", str(result), queries(name)[number], "--to", "json", "-o",
                     str(path)]) == 0
        return [tuple(json.loads(line).values()) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Web]:
    folder, web = tmp_path_factory.mktemp("clones"), encyclopaedia()
    web.write(folder)
    run("labels", folder / "originals.jsonl", "-o", folder / "originals.parquet")
    run("run", folder / "crawl.jsonl", "-o", folder / "clones",
        "--labels", folder / "originals.parquet", "--config", config("wikipedia-clones"))
    return folder / "clones", web


def test_clones_are_flagged_and_a_quotation_is_not(clones: tuple[Path, Web]) -> None:
    folder, web = clones
    assert flagged(folder, "page_reuse", "url") == web.planted
    (quote,) = [r for r in rows(folder, "page_reuse") if r["url"].endswith("/quote/")]
    assert (quote["matching"], quote["flagged"]) == (1, False)
    hosts = {p for p in flagged(folder, "neighbourhoods", "prefix") if p.count("/") == 1}
    assert hosts == {"www.mirror.example/", "knowledge.example/"}


def test_the_query_names_the_copiers_without_the_original(clones: tuple[Path, Web]) -> None:
    folder, _ = clones
    found = answers("wikipedia-clones", folder)
    assert [row[:4] for row in found] == [
        ("www.mirror.example/", "pedia.example", 48, 48),
        ("knowledge.example/", "pedia.example", 18, 18)]


@pytest.fixture(scope="module")
def phish(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Web]:
    folder, web = tmp_path_factory.mktemp("phish"), bank()
    web.write(folder)
    run("labels", folder / "originals.jsonl", "-o", folder / "bank.parquet",
        "--config", config("phishing"))
    run("run", folder / "crawl.jsonl", "-o", folder / "phish",
        "--labels", folder / "bank.parquet", "--config", config("phishing"))
    return folder / "phish", web


def test_phish_are_flagged_and_other_login_pages_are_not(phish: tuple[Path, Web]) -> None:
    folder, web = phish
    assert flagged(folder, "page_reuse", "url") == web.planted


def test_the_query_names_the_phish_and_what_they_imitate(phish: tuple[Path, Web]) -> None:
    folder, web = phish
    found = {row[0]: row[4] for row in answers("phishing", folder)}
    assert set(found) == web.planted
    for url, sources in found.items():
        imitated = re.search("secure-(login|reset|transfer)", url)
        page = imitated[1] if imitated else "login"
        assert f"https://www.bank.example/{page}" in sources


def test_the_labelled_list_tells_what_is_missed(phish: tuple[Path, Web], tmp_path: Path) -> None:
    folder, web = phish
    labelled = {url: "phish" for url in web.planted | web.missed}
    labelled |= {url: "benign" for url in web.crawl if "shop" in url}
    sheet = tmp_path / "labelled.csv"
    sheet.write_text("url,label\n" + "".join(f"{u},{v}\n" for u, v in labelled.items()))
    found = evaluate(str(folder), str(sheet), PAGES).confusion()
    assert (found.tp, found.fp, found.fn, found.tn) == (5, 0, 1, 10)


@pytest.fixture(scope="module")
def blind(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Web]:
    folder, web = tmp_path_factory.mktemp("blind"), farms()
    web.write(folder)
    run("run", folder / "crawl.jsonl", "-o", folder / "blind",
        "--config", config("blind-discovery"))
    return folder / "blind", web


def test_passages_on_many_hosts_are_found_and_menus_are_not(blind: tuple[Path, Web]) -> None:
    folder, _ = blind
    assert {row["text"] for row in rows(folder, "frequent_chunks")} == copied_passages()


def test_the_farm_is_flagged(blind: tuple[Path, Web]) -> None:
    folder, web = blind
    assert flagged(folder, "page_reuse", "url") == web.planted
    assert flagged(folder, "neighbourhoods", "prefix") == {f"{host}/" for host in FARM}


def test_the_queries_show_passages_and_sites(blind: tuple[Path, Web]) -> None:
    folder, _ = blind
    passages = answers("blind-discovery", folder, 0)
    assert [row[0] for row in passages] == [9, *[3] * 8]
    assert {row[3] for row in passages} == copied_passages()
    assert {row[0] for row in answers("blind-discovery", folder, 1)} == {f"{h}/" for h in FARM}


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Web]:
    folder, web = tmp_path_factory.mktemp("near"), manuals()
    web.write(folder)
    run("run", folder / "crawl.jsonl", "-o", folder / "near", "--config", config("near-duplicates"))
    return folder / "near", web


def test_one_version_of_each_chapter_is_kept(near: tuple[Path, Web]) -> None:
    folder, web = near
    dropped = {row["url"]: row["because_of"] for row in rows(folder, "keep") if not row["keep"]}
    assert set(dropped) == web.planted
    for url, kept in dropped.items():
        (number,) = re.findall(r"(\d)\.html", url)
        assert kept == f"http://docs.tool.example/1/chapter-{number}.html"
    assert {row["representative"].split("/")[2] for row in rows(folder, "identity_sets")} == {
        "docs.tool.example"}
    assert len(rows(folder, "identity_sets")) == 16


def test_the_queries_show_what_was_dropped_and_where(near: tuple[Path, Web]) -> None:
    folder, _ = near
    assert [count for _, count in answers("near-duplicates", folder, 0)] == [3] * 8
    assert sum(row[4] for row in answers("near-duplicates", folder, 1)) == len(
        rows(folder, "near_duplicates"))
    long = {row["url"] for row in rows(folder, "pages") if row["tokens"] >= 50}
    assert {row[:2] for row in answers("near-duplicates", folder, 2)} == {
        (row["url_a"], row["url_b"]) for row in rows(folder, "near_duplicates")
        if row["b"] != row["c"] and row["url_a"] in long}
    assert answers("near-duplicates", folder, 3) == [("tool.example", "tool.example", 24)]


@pytest.fixture(scope="module")
def savings(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Web]:
    folder, web = tmp_path_factory.mktemp("savings"), mirrors()
    web.write(folder)
    run("run", folder / "crawl.jsonl", "-o", folder / "savings",
        "--config", config("crawl-savings"))
    return folder / "savings", web


def test_what_a_crawler_can_save(savings: tuple[Path, Web]) -> None:
    folder, web = savings
    found = answers("crawl-savings", folder, 0)
    assert [(row[0], int(row[1]), int(row[2])) for row in found] == [
        ("whole", 5, 23), ("2-lines", 9, 23), ("4-lines", 9, 23)]
    assert len(web.planted) == 9
    assert [row[:3] for row in answers("crawl-savings", folder, 1)] == [
        ("docs.tool.example", 5, 9), ("mirror.example", 4, 4)]
    skipped = answers("crawl-savings", folder, 2)
    assert [row[0] for row in skipped] == sorted(
        url for url in web.planted if "mirror" in url or "session" in url)
    assert {row[1] for row in skipped} == {f"http://docs.tool.example/2/{n}.html" for n in range(4)}
    assert {row["url"] for row in rows(folder, "skippable")} == web.planted
    assert answers("crawl-savings", folder, 3) == [
        ("server-alias", None, 4, 4), ("url-alias", None, 1, 1)]


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Web]:
    folder, web = tmp_path_factory.mktemp("mirrors"), mirrors()
    web.write(folder)
    run("run", folder / "crawl.jsonl", "-o", folder / "mirrors", "--config", config("mirrors"))
    return folder / "mirrors", web


def test_mirrors_are_named_and_what_they_mirror(mirrored: tuple[Path, Web]) -> None:
    folder, _ = mirrored
    docs, mirror, redesign = "docs.tool.example", "mirror.example", "redesign.example"
    assert {row[:4] for row in answers("mirrors", folder, 0)} == {
        ("paragraph", docs, mirror, "mirror"), ("paragraph", docs, redesign, "mirror"),
        ("paragraph", mirror, redesign, "mirror"), ("whole", docs, mirror, "part")}
    assert {row[:2] for row in answers("mirrors", folder, 1)} == {
        (docs, redesign), (mirror, redesign)}
    assert [row[:3] for row in answers("mirrors", folder, 2)] == [
        ("docs.tool.example/", 3, 8), ("docs.tool.example/1/", 3, 4),
        ("docs.tool.example/2/", 3, 4)]


@pytest.fixture(scope="module")
def quilts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Web]:
    folder, web = tmp_path_factory.mktemp("quilts"), scrapers()
    web.write(folder)
    run("run", folder / "crawl.jsonl", "-o", folder / "quilts", "--config", config("spam-quilts"))
    return folder / "quilts", web


def test_stitched_pages_are_quilts_and_copies_are_not(quilts: tuple[Path, Web]) -> None:
    folder, web = quilts
    assert {row["url"] for row in rows(folder, "quilts") if row["min_sources"] == 4} == web.planted


def test_the_queries_tell_spam_from_a_digest_and_name_sites(quilts: tuple[Path, Web]) -> None:
    folder, web = quilts
    first = answers("spam-quilts", folder, 0)
    assert [row[0] for row in first if row[3] > 0.2] == [row[0] for row in first[-2:]]
    assert all("digest" in row[0] for row in first[-2:]) and len(first) == len(web.planted)
    covered = {row[0]: row[2:] for row in answers("spam-quilts", folder, 1)}
    assert set(covered) == web.planted
    assert all(0.9 < share <= 1 and 0.5 < of_page <= share for share, of_page in covered.values())
    patches = answers("spam-quilts", folder, 2)
    assert all(0 <= row[5] < row[6] for row in patches) and len(patches) == 40
    assert [row[:2] for row in answers("spam-quilts", folder, 3)] == [
        ("best-pills.example", 4), ("cheap-pills.example", 4), ("digest.example", 2)]


QUESTIONS = {"wikipedia-clones", "phishing", "blind-discovery", "near-duplicates", "crawl-savings",
             "mirrors", "spam-quilts"}
ENGINES = {"flink", "spark", "dataflow"}


def test_every_config_answers_a_question_or_names_an_engine() -> None:
    assert {path.stem for path in CONFIGS.glob("*.yaml")} == QUESTIONS | ENGINES


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_every_config_with_a_question_has_a_query(name: str) -> None:
    assert yaml.safe_load(Path(config(name)).read_text())
    assert queries(name)


@pytest.mark.parametrize("name", ["phishing", "wikipedia-clones"])
def test_configs_that_need_a_list_are_refused_without_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = config(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.html").write_text("<p>a page")
    assert main(["run", "a.html", "-o", "out", "--config", path]) == 2
    assert ".parquet: no such file. Give a list" in capsys.readouterr().err


def test_settings_are_what_the_configs_say(
    clones: tuple[Path, Web], phish: tuple[Path, Web], blind: tuple[Path, Web],
    near: tuple[Path, Web], savings: tuple[Path, Web], mirrored: tuple[Path, Web],
    quilts: tuple[Path, Web],
) -> None:
    for (folder, _), name in ((clones, "wikipedia-clones"), (phish, "phishing"),
                              (blind, "blind-discovery"), (near, "near-duplicates"),
                              (savings, "crawl-savings"), (mirrored, "mirrors"),
                              (quilts, "spam-quilts")):
        recorded = json.loads((folder / "manifest.json").read_text())["settings"]
        for key, value in yaml.safe_load(Path(config(name)).read_text()).items():
            if key == "labels":
                assert [name.split(" sha256:")[0] for name in recorded[key]] == [value]
                continue
            listed = isinstance(recorded[key], list) and not isinstance(value, list)
            assert recorded[key] == ([value] if listed else value)
