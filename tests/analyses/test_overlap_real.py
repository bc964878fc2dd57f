"""Overlap on real texts: revisions of articles, and answers that were copied from sources."""

import csv
import io
import json
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import mean

import pytest

from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.cli.runs import execute
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results import tables
from beam_reuse.plan import RunPlan
from tests.oracles.overlap import Page, cut

Files = dict[str, str]


def files_of(corpora: Path, name: str) -> Files:
    """The text files of an archive, by their paths."""
    with tarfile.open(corpora / name) as archive:
        return {
            member.name.removeprefix("./"): archive.extractfile(member).read()  # type: ignore[union-attr]
            .decode("utf-8", "replace")
            for member in archive if member.name.endswith((".txt", ".csv", ".tsv"))}


def run(texts: Files, settings: OverlapSettings, folder: Path) -> str:
    with (folder / "texts.jsonl").open("w") as lines:
        for url, text in texts.items():
            lines.write(json.dumps({"url": url, "text": text}) + "\n")
    plan = RunPlan("run", (str(folder / "texts.jsonl"),), str(folder / "out"),
                   Settings(analyses=("overlap",), overlap=settings))
    execute(plan, [])
    return str(folder / "out")


def pairs_by_definition(
    texts: Files, chunking: str, settings: OverlapSettings, least: int,
) -> Iterator[tuple[str, str, int, float, float]]:
    """Overlapping pages that are no exact copies, by an inverted index."""
    centres: dict[object, str] = {}
    for url in sorted(texts):
        centres.setdefault(Page(url, texts[url], 0).lines, url)
    chunks = {url: cut(Page(url, "\n".join(texts[url].splitlines()), 0), chunking)
              for lines, url in centres.items() if lines}
    on = defaultdict(list)
    for url, found in chunks.items():
        for chunk in found:
            on[chunk].append(url)
    shared = Counter(pair for urls in on.values() if len(urls) <= settings.max_df
                     for pair in combinations(sorted(urls), 2))
    compared = {pair for urls in on.values() if len(urls) > settings.max_df
                for i, pair in enumerate(combinations(sorted(urls), 2)) if i < len(urls) - 1
                or sorted(urls).index(pair[1]) - sorted(urls).index(pair[0]) <= 10}
    for a, b in sorted({pair for pair, n in shared.items() if n >= least} | compared):
        n = len(chunks[a] & chunks[b])
        if n >= least:
            yield a, b, n, n / len(chunks[a]), n / len(chunks[b])


@pytest.fixture(scope="module")
def revisions(
    corpora: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Files, OverlapSettings, str]:
    """Revisions of articles and the result of a run; titles become numbers in the URLs."""
    found = files_of(corpora, "wikipedia_versions.tar.xz")
    titles = sorted({name.split("/")[1] for name in found if name.startswith("version_doc")})
    texts = {f"http://wiki.example/{titles.index(name.split('/')[1])}/{name.split('/')[2]}": text
             for name, text in found.items() if name.startswith("version_doc")}
    settings = OverlapSettings(("whole", "sentence", "1-lines", "8-words"))
    return texts, settings, run(texts, settings, tmp_path_factory.mktemp("wiki"))


@pytest.mark.parametrize(("chunking", "least"), [("sentence", 15), ("1-lines", 25),
                                                 ("8-words", 15)])
def test_revisions_overlap_as_defined(
    revisions: tuple[Files, OverlapSettings, str], chunking: str, least: int,
) -> None:
    texts, settings, output = revisions
    rows = tables.read(output, "page_overlap").to_pylist()
    assert [tuple(row.values())[1:] for row in rows if row["chunking"] == chunking] == list(
        pairs_by_definition(texts, chunking, settings, least))


def test_revisions_overlap_with_their_own_article(
    revisions: tuple[Files, OverlapSettings, str], corpora: Path,
) -> None:
    """By sentences: hardly any pair across articles, most pairs that are nearly the same."""
    texts, _, output = revisions
    found = {(row["url_a"], row["url_b"]) for row in tables.read(
        output, "page_overlap").to_pylist() if row["chunking"] == "sentence"}
    own = sum(a.split("/")[3] == b.split("/")[3] for a, b in found)
    assert len(found) > 1500 and own > 0.99 * len(found)
    centre = {row["url"]: row["centre"] for row in tables.read(output, "exact_copies").to_pylist()}
    listed = files_of(corpora, "wikipedia_versions.tar.xz")
    titles = sorted({name.split("/")[1] for name in listed if name.startswith("version_doc")})
    near = []
    for row in csv.DictReader(io.StringIO(listed["pairs.tsv"]), delimiter="\t"):
        if float(row["jaccard5"]) >= 0.8:
            urls = [f"http://wiki.example/{titles.index(title)}/{file}" for title, file in (
                row[side].split("/") for side in "ab")]
            if min(len(cut(Page(url, texts[url], 0), "sentence")) for url in urls) >= 25:
                near.append(tuple(sorted(centre.get(url, url) for url in urls)))
    assert len(near) > 500
    assert sum(a == b or (a, b) in found for a, b in near) > 0.9 * len(near)


def test_answers_overlap_with_the_source_they_were_cut_from(
    corpora: Path, tmp_path: Path,
) -> None:
    """The more of a source was kept, the more sentences are in both."""
    found = files_of(corpora, "clough_stevenson.tar.xz")
    texts = {f"http://texts.example/{name.split('/')[-1]}": text for name, text in found.items()
             if "_task" in name}
    settings = OverlapSettings(("sentence",), ("1",))
    rows = tables.read(run(texts, settings, tmp_path), "page_overlap").to_pylist()
    assert [tuple(row.values())[1:] for row in rows] == list(
        pairs_by_definition(texts, "sentence", settings, 1))
    contained = {row["url_a"].split("/")[-1]: row["containment_a"] for row in rows
                 if row["url_b"].endswith(f"orig_{row['url_a'].split('_')[-1]}")}
    classes = defaultdict(list)
    for row in csv.DictReader(io.StringIO(found["data/file_information.csv"])):
        classes[row["Category"]].append(contained.get(row["File"], 0.0))
    cut_, light, heavy, non = (mean(classes[name]) for name in ("cut", "light", "heavy", "non"))
    assert cut_ > 2 * light > 2 * heavy > 10 * non
    assert sum(share > 0 for share in classes["cut"]) >= 0.8 * len(classes["cut"])
