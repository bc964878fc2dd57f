"""The labelled data of benchmarks/phishing.py: what kits do to a page, and what is found of it."""

import csv
import json
import random
import sys
from pathlib import Path

import pytest

from beam_reuse import ChunkSettings, Detector, StopSettings

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import kits
import phishing

PAGE = "<html><head><title>A bank</title></head><body class=a>" + "".join(
    f"<div id=d{n}><a href=/{n}>Link number {n}</a><p>This is passage number {n} of the page, and "
    f"it <b>says</b> something.</p></div>" for n in range(20)) + "</body></html>"


def share_found(html: str) -> float:
    detector = Detector((), chunks=ChunkSettings(normalise="text"),
                        stops=StopSettings(min_chunk_bytes=25, min_chunk_tokens=5))
    detector.learn(PAGE, "https://bank.example/")
    return detector.check(html, "https://evil.example/").distinct_matching / 20


@pytest.mark.parametrize(("kit", "least", "most"), [
    ("unmodified", 1.0, 1.0), ("rewritten", 0.5, 0.95), ("cut", 0.2, 0.4),
    ("translated-frame", 0.3, 0.6), ("regrouped", 0.0, 0.0)])
def test_what_a_kit_leaves(kit: str, least: float, most: float) -> None:
    copy = kits.KITS[kit](PAGE, random.Random(1))
    assert least <= share_found(copy) <= most
    assert (copy == PAGE) is (kit == "unmodified")
    if kit == "rewritten":
        assert 'href="/' not in copy and "<b" not in copy.replace("<body", "")


def test_packages_of_one_product_are_one_site() -> None:
    names = {"python3.9-doc": "python", "python3.11-doc": "python",
             "postgresql-doc-13": "postgresql",
             "installation-guide-amd64": "installation-guide", "python-django-doc": "django",
             "libstdc++-12-doc": "libstdc", "openjdk-17-doc": "openjdk", "r-doc-html": "r",
             "libbiojava5-java-doc": "libbiojava", "python-flask-doc": "pallets",
             "tomcat9-docs": "tomcat", "cppreference-doc-en-html": "cppreference"}
    assert {package: phishing.site_of(package) for package in names} == names


def test_a_corpus_is_labelled(tmp_path: Path) -> None:
    lines = ["doc_id\tsuite\tpackage\tversion\tsite\tpath\tbytes\tsha1"]
    for package in ("one-doc", "two-doc", "three-doc"):
        for name in ("index.html", "genindex.html", "a.html", "b.html"):
            path = tmp_path / "html" / f"{package}-1" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"<title>{package}</title>{PAGE} Created using Sphinx.")
            lines.append(f"0\tsid\t{package}\t1\t{package}-1\t{name}\t100\t0")
    (tmp_path / "manifest.tsv").write_text("\n".join(lines) + "\n")
    sites = phishing.pages_in([tmp_path])
    phishing.make_corpus(sites, tmp_path, 1, 4, random.Random(1))
    read = {name: [json.loads(line) for line in (tmp_path / f"{name}.jsonl").open()]
            for name in ("originals", "suspects", "background")}
    assert [row["url"] for row in read["originals"]] == [
        f"https://www.{site}.example/{site}-doc-1/index.html" for site in ("one", "three", "two")]
    assert all(phishing.FORM in row["html"] for row in read["originals"])
    labelled = list(csv.DictReader((tmp_path / "labelled.csv").open()))
    assert [row["url"] for row in labelled] == [row["url"] for row in read["suspects"]]
    assert [row["kit"] for row in labelled[:5]] == list(kits.KITS)
    assert [(row["label"], row["kit"]) for row in labelled[15:]] == [
        ("benign", "unrelated, sphinx")] * 4
    others = {row["url"] for row in read["background"]}
    assert len(others) == 4 and not others & {row["url"] for row in labelled}
