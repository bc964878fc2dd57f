"""The table `origins` of whole runs against its definition, on random crawls full of copies."""

import datetime
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.cli.runs import execute
from beam_reuse.core.settings import ReadSettings
from beam_reuse.core.urls import BadUrl, canonical_url, resolve_url
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.plan import RunPlan
from tests.oracles.origins import EVIDENCE, Member, origin_of, origin_of_hosts
from tests.oracles.text import html5lib_tree, values_of

HOSTS = ["a.example", "b.example", "www.b.example", "c.example"]
URLS = [f"http://{host}/{path}" for host in HOSTS for path in ("", "x", "y?z=1")]
OUTSIDE = ["http://elsewhere.example/", "http://a.example/gone"]
TEXTS = ["\n".join(f"<p>line {n} of {text}" for n in range(6)) for text in "abcdef"]
OVERLAP = OverlapSettings(("whole", "2-lines"), ("1",), ("1",))


def crawl(seed: int, path: Path) -> Path:
    """JSON Lines: few texts on few URLs, with canonical URLs, links and dates."""
    rng = random.Random(seed)
    rows = []
    for n in range(30):
        html = ""
        if rng.random() < 0.15:
            html += f'<link rel=canonical href="{rng.choice(URLS + OUTSIDE)}">'
        if rng.random() < 0.5:
            html += f"<meta property=article:published_time content=2019-01-0{rng.randint(1, 3)}>"
        if rng.random() < 0.2:
            html += f"<base href={rng.choice(URLS)}>"
        html += rng.choice(TEXTS)
        for _ in range(rng.choice([0] * 6 + [1, 3])):
            link = rng.choice([*URLS, "//c.example", "x", "HTTP://A.example:80#top"])
            html += f'<a href="{link}"></a>'
        row = {"url": rng.choice(URLS), "html": html}
        if rng.random() < 0.8:
            row["timestamp"] = f"2020-01-01T00:00:0{rng.randint(0, 4)}Z"
        rows.append(row | {"n": n})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def html_in(crawled: Path) -> Callable[[dict[str, Any]], str]:
    """What gives the HTML of a page of a crawl."""
    html = {}
    with crawled.open("rb") as lines:
        offset = 0
        for line in lines:
            html[offset] = json.loads(line)["html"]
            offset += len(line)
    return lambda row: html[row["offset"]]


def _member(row: dict[str, Any], html: str) -> Member:
    url, tree = canonical_url(row["fetched_url"]), html5lib_tree(html)
    base = resolve_url(url, next(iter(values_of(tree, {"base"})), url))
    links = set()
    for link in values_of(tree, {"a"}):
        try:
            target = canonical_url(resolve_url(base, link))
        except BadUrl:
            continue
        if urlsplit(target).netloc != urlsplit(url).netloc:
            links.add(target)
    moments = (_micros(row[name]) for name in ("declared_date", "timestamp"))
    return Member(row["url"], url, row["host"], row["declared_canonical"], frozenset(links),
                  *moments)


def _micros(moment: datetime.datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1_000_000)


def expected(folder: str, html_of: Callable[[dict[str, Any]], str]) -> list[dict[str, Any]]:
    """The rows that `origins` must have, by the other tables of a result."""
    pages = {row["url"]: _member(row, html_of(row))
             for row in tables.read(folder, "pages").to_pylist()}
    has = tables.read_manifest(folder).tables()
    rows, copies = [], []
    for kind, table, centre in (("copies", "exact_copies", "centre"),
                                ("identity", "identity_sets", "representative")):
        if table not in has:
            continue
        sets: dict[str, list[Member]] = {}
        for row in tables.read(folder, table).sort_by("url").to_pylist():
            sets.setdefault(row[centre], []).append(pages[row["url"]])
        for name, members in sets.items():
            decision = origin_of(members)
            rows.append({"kind": kind, "set": name, **decision._asdict(), "members": len(members),
                         "other": None})
            if kind == "copies":
                copies.append((members, decision))
    if "server_overlap" in has:
        found = tables.read(folder, "server_overlap").to_pylist()
        for a, b in {(row["host_a"], row["host_b"]) for row in found}:
            decision, count = origin_of_hosts(a, b, copies)
            rows.append({"kind": "hosts", "set": a, **decision._asdict(), "members": count,
                         "other": b})
    return sorted(rows, key=lambda row: (row["kind"], row["set"], row["other"] or ""))


def found(folder: str) -> list[dict[str, Any]]:
    rows = tables.read(folder, "origins").to_pylist()
    return sorted(rows, key=lambda row: (row["kind"], row["set"], row["other"] or ""))


def run(crawled: Path, output: Path, settings: Settings, workers: int = 1) -> str:
    execute(RunPlan("run", (str(crawled),), str(output), settings, workers=workers), [])
    return str(output)


SETTINGS = {
    "both": Settings(("overlap", "near-duplicates"), overlap=OVERLAP),
    "all captures": Settings(("overlap", "near-duplicates"), ReadSettings(captures="all"),
                             overlap=OVERLAP),
    "copies alone": Settings(("overlap",), overlap=OVERLAP),
    "identity alone": Settings(("near-duplicates",)),
}


@pytest.mark.parametrize(("name", "seeds"), [
    ("both", range(4)), ("all captures", range(4, 7)), ("copies alone", [7]),
    ("identity alone", [8])])
def test_origins_are_those_of_the_definition(name: str, seeds: list[int], tmp_path: Path) -> None:
    evidence = set()
    for seed in seeds:
        crawled = crawl(seed, tmp_path / f"{seed}.jsonl")
        folder = run(crawled, tmp_path / f"result{seed}", SETTINGS[name], workers=1 + seed % 2)
        rows = found(folder)
        assert rows == expected(folder, html_in(crawled))
        evidence |= {row["evidence"] for row in rows}
    if name == "both":
        assert evidence >= {*EVIDENCE}


def test_no_sets_no_origins(tmp_path: Path) -> None:
    crawled = tmp_path / "one.jsonl"
    crawled.write_text('{"url": "http://a.example/", "html": "<p>alone"}\n')
    assert found(run(crawled, tmp_path / "result", SETTINGS["both"])) == []
    quilts = run(crawled, tmp_path / "quilts", Settings(("quilts",)))
    assert "origins" not in tables.read_manifest(quilts).tables()
    with pytest.raises(Exception, match="--analyses overlap or near-duplicates"):
        tables.read(quilts, "origins")
