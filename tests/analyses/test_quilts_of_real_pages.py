"""Quilts stitched from real pages: sources and places are named rightly."""

import csv
import io
import json
import random
import tarfile
from pathlib import Path
from statistics import mean

import pytest

from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.cli.runs import execute
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results.tables import read
from beam_reuse.plan import RunPlan
from tests.oracles.tokens import tokens

SIZE = 5


def contents(archive: Path) -> dict[str, str]:
    """The texts of an archive by name."""
    with tarfile.open(archive) as opened:
        return {
            member.name: opened.extractfile(member).read().decode("utf-8", "replace")  # type: ignore[union-attr]
            for member in opened if member.isfile()}


def run(folder: Path, pages: dict[str, str], quilts: QuiltSettings) -> dict[str, list]:
    (folder / "pages.jsonl").write_text("".join(
        json.dumps({"url": url, "text": text}) + "\n" for url, text in pages.items()))
    settings = Settings(analyses=("quilts",), quilts=quilts)
    execute(RunPlan("run", (str(folder / "pages.jsonl"),), str(folder / "out"), settings), [])
    return {name: read(str(folder / "out"), name).to_pylist()
            for name in ("quilts", "quilt_sources")}


def stitched(rng: random.Random, words: dict[str, list[str]]) -> tuple[str, list[tuple]]:
    """A text of passages of six articles, and for each its article, start and end."""
    text: list[str] = []
    patches = []
    for article in rng.sample(sorted(words), 6):
        start = rng.randrange(len(words[article]) - 120)
        passage = words[article][start:start + rng.randint(40, 120)]
        patches.append((article, len(text), len(text) + len(passage)))
        text += passage
    return " ".join(text), patches


def answer_url(path: str) -> str:
    """Answers are pages of one domain, which are no sources of each other; originals are not."""
    name = path.rsplit("/", 1)[-1].removesuffix(".txt").lower()
    return f"http://{'originals' if 'orig' in name else 'answers'}.example/{name}"


@pytest.mark.parametrize("versions", [1, 3])
def test_sources_and_spans_of_stitched_articles(
    versions: int, corpora: Path, tmp_path: Path
) -> None:
    """Each passage is found, whole, and but for sentences that others have too, in a version of
    its article."""
    texts = contents(corpora / "wikipedia_versions.tar.xz")
    articles: dict[str, dict[str, str]] = {}
    for name in sorted(texts):
        if "version_documents" in name and len(tokens(texts[name])) > 400:
            title, number = name.split("/")[-2:]
            found = articles.setdefault(title, {})
            if len(found) < versions:
                found[f"http://wiki{len(articles)}.example/{number}"] = texts[name]
        if len(articles) > 60:
            break
    chosen = list(articles.values())[:60]
    home = {url: n for n, found in enumerate(chosen) for url in found}
    pages = {url: text for found in chosen for url, text in found.items()}
    words = {min(found): tokens(found[min(found)]) for found in chosen}
    rng = random.Random(versions)
    planted = {f"http://quilts.example/{n}": stitched(rng, words) for n in range(20)}
    pages |= {url: text for url, (text, _) in planted.items()}
    tables = run(tmp_path, pages, QuiltSettings(gram_size=SIZE))
    assert {row["url"] for row in tables["quilts"]} >= set(planted)
    grams = {url: {tuple(w[i:i + SIZE]) for i in range(len(w) - SIZE + 1)}
             for url, w in ((url, tokens(text)) for url, text in pages.items())}
    for url, (text, patches) in planted.items():
        sources = [row for row in tables["quilt_sources"] if row["url"] == url]
        places: set[tuple[int, int]] = set()
        for row in sources:
            for span in row["spans"]:
                first, last = span["start"], span["end"] - SIZE
                for at in (first, last):
                    assert tuple(text.split()[at:at + SIZE]) in grams[row["source_url"]]
                places |= {(home[row["source_url"]], at) for at in range(first, span["end"])}
        assert {home[article] for article, _, _ in patches} <= {
            home[row["source_url"]] for row in sources}
        for article, start, end in patches:
            right = sum((home[article], at) in places for at in range(start, end))
            assert right >= 0.85 * (end - start), (url, article)
            assert {at for _, at in places} >= set(range(start, end))


def test_answers_against_their_sources(corpora: Path, tmp_path: Path) -> None:
    """What was cut from a source is more patched than what was lightly revised, and that more than
    what was written anew; and the source is the one of its task. As in the paper, without copies:
    a source that holds nine tenths of an answer would be its copy."""
    texts = contents(corpora / "clough_stevenson.tar.xz")
    (table,) = [text for name, text in texts.items() if name.endswith("file_information.csv")]
    labels = {row["File"]: row["Category"] for row in csv.DictReader(io.StringIO(table))}
    pages = {answer_url(name): text for name, text in texts.items() if name.endswith(".txt")}
    found = run(tmp_path, pages, QuiltSettings(
        gram_size=SIZE, min_sources=1, min_patch_fraction=0.0, quilt_copy=1.01))
    patched = {row["url"]: row["patch_fraction"] for row in found["quilts"]}
    first = {row["url"]: row["source_url"] for row in found["quilt_sources"] if row["rank"] == 1}
    fractions: dict[str, list[float]] = {}
    right = []
    for name, label in labels.items():
        url = answer_url(name)
        fractions.setdefault(label, []).append(patched.get(url, 0.0))
        if label in ("cut", "light"):
            right.append(first.get(url) == answer_url(f"orig_{name.split('_')[1]}"))
    means = {label: mean(values) for label, values in fractions.items()}
    assert means["cut"] > means["light"] > means["heavy"] > means["non"]
    assert mean(right) > 0.8
