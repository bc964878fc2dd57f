"""No pair is missed on real pages: the tables against a comparison of all with all."""

import json
import os
import tarfile
from collections import defaultdict
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow.parquet as pq
import pytest

from beam_reuse.analyses.near_duplicates.definition import MOST_EQUAL, Signatures, signatures
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.cli.runs import execute
from beam_reuse.core.urls import name_page
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.plan import RunPlan
from tests.core.real_pages import real_pages

PAGES = 5_000
Pairs = set[tuple[str, str]]


def documentation(folder: str) -> list[tuple[str, str]]:
    """HTML below the folder that BEAM_REUSE_DEBDOCS names (one folder for each release of a
    package): some documents evenly from all of it, each in all of its versions."""
    paths = sorted(Path(folder).rglob("*.html")) if folder else []
    names = {path: path.relative_to(folder) for path in paths}
    some = [path for path, name in names.items()
            if crc32("/".join(name.parts[1:]).encode()) % max(1, len(paths) // PAGES) == 0]
    return [(f"http://debdocs.example/{names[path]}",
             path.read_bytes().decode("utf-8", "replace")) for path in some]


def articles(corpora: Path) -> list[tuple[str, str]]:
    """Versions of encyclopaedia articles."""
    with tarfile.open(corpora / "wikipedia_versions.tar.xz") as archive:
        return [
            (f"http://wiki.example/{member.name}",
             archive.extractfile(member).read().decode("utf-8", "replace"))  # type: ignore[union-attr]
            for member in archive if member.name.endswith(".txt")]


@pytest.fixture(scope="module")
def index(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Up to 5,000 real pages, parsed once: documentation where it is at hand, else what there
    is in the archives and the versions of articles."""
    folder = tmp_path_factory.mktemp("real")
    crawled = documentation(os.environ.get("BEAM_REUSE_DEBDOCS", ""))
    if not crawled:
        crawled = [(f"http://crawl.example/{n}", html)
                   for n, (_, html) in enumerate(real_pages(corpora))]
    with (folder / "pages.jsonl").open("w") as lines:
        texts = [{"url": url, "text": text} for url, text in articles(corpora)]
        for row in islice([*({"url": u, "html": h} for u, h in crawled), *texts], PAGES):
            lines.write(json.dumps(row) + "\n")
    execute(RunPlan("index", (str(folder / "pages.jsonl"),), str(folder / "index"), Settings()), [])
    return str(folder / "index")


@pytest.fixture(scope="module")
def distinct(index: str) -> tuple[list[str], Signatures]:
    """URLs and signatures of the smallest URL of each token sequence, in order of URLs."""
    found = {}
    for path in sorted(Path(index).glob("index/*.parquet")):
        for row in pq.read_table(path, columns=["url", "tokens", "images"]).to_pylist():
            found[row["url"]] = tuple(np.frombuffer(row["tokens"] + row["images"], "<u8").tolist())
    first: dict[tuple[int, ...], str] = {}
    for url in sorted(found):
        if found[url]:
            first.setdefault(found[url], url)
    offsets = np.concatenate([[0], np.cumsum([len(tokens) for tokens in first])])
    flat = np.array([token for tokens in first for token in tokens], np.uint64)
    return list(first.values()), signatures(
        flat, offsets, np.diff(offsets), NearDuplicateSettings())


def compared(urls: list[str], signed: Signatures) -> np.ndarray:
    """All but those of more than MOST_EQUAL pages of a site that are equal, save the first."""
    equal = defaultdict(list)
    for n, url in enumerate(urls):
        same = name_page(url).site, signed.b[n].tobytes(), signed.c[n].tobytes()
        equal[same if signed.b[n].any() else n].append(n)
    return np.array(sorted(
        n for members in equal.values()
        for n in (members[:1] if len(members) > MOST_EQUAL else members)))


def similar(urls: list[str], signed: Signatures, threshold: int) -> Pairs:
    """Every similar pair of pages that are compared, each page with every other."""
    found = set()
    at = compared(urls, signed)
    b, c = signed.b[at], signed.c[at]
    shingled = b.any(axis=1)
    for i in range(len(at)):
        alike = (b == b[i]).sum(axis=1) * (shingled & shingled[i])
        differing = np.bitwise_count(c ^ c[i]).sum(axis=1)
        both = np.flatnonzero((alike >= 2) | (differing <= 384 - threshold))
        found |= {(urls[at[i]], urls[at[j]]) for j in both if i < j}
    return found


@pytest.mark.parametrize("threshold", [372, 360, 340])
def test_no_similar_pair_is_missed(
    threshold: int, index: str, distinct: tuple[list[str], Signatures], tmp_path: Path,
) -> None:
    near = NearDuplicateSettings(
        c_threshold=threshold, combined_threshold=340, max_group=1_000_000)
    settings = Settings(analyses=("near-duplicates",), near_duplicates=near)
    execute(RunPlan("run", (index,), str(tmp_path / "out"), settings), [])
    urls, signed = distinct
    expected = similar(urls, signed, threshold)
    place = {url: n for n, url in enumerate(urls)}
    found: Pairs = set()
    for row in tables.read(str(tmp_path / "out"), "near_duplicates").to_pylist():
        i, j = place[row["url_a"]], place[row["url_b"]]
        alike = int((signed.b[i] == signed.b[j]).sum()) if signed.b[i].any() else 0
        agreeing = 384 - int(np.bitwise_count(signed.c[i] ^ signed.c[j]).sum())
        assert (row["b_similarity"], row["c_similarity"]) == (alike, agreeing)
        assert alike >= 2 or agreeing >= threshold
        found.add((row["url_a"], row["url_b"]))
    assert len(urls) > 2_000 and len(expected) > 100
    assert not expected - found
