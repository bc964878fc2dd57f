"""A folder in which the commands of the documentation run: crawls, lists and results that they
name, all of them small."""

import gzip
import json
import random
import shutil
from pathlib import Path

from beam_reuse.cli.main import main
from beam_reuse.demo.cases.leaked_test import QUESTIONS
from tests.cli.cleaning import random_rows
from tests.crawls import random_captures, write_warc

TOP = Path(__file__).parents[2]
PASSAGE = "<p>The account is asked for here, and what it may do is said by the bank alone.</p>"
CRAWLS = {"crawl": 5, "january": 5, "february": 6, "october": 5, "november": 6, "suspects": 7}
RESULTS = ("result", "near", "found", "cleaned")


def make_sandbox(folder: Path) -> None:
    """Fill `folder`; costs one run of all analyses and one index."""
    for name, seed in CRAWLS.items():
        (folder / name).mkdir()
        write_warc(folder / name / "crawl.warc.gz", random_captures(seed, 40))
    for name in ("crawl.warc.gz", "wikipedia.warc.gz"):
        shutil.copy(folder / "crawl" / "crawl.warc.gz", folder / name)
    for site in ("site", "bank"):
        (folder / site / "www.bank.example").mkdir(parents=True)
        for n in range(4):
            (folder / site / "www.bank.example" / f"{n}.html").write_text(
                f"<html>{PASSAGE}<p>Page {n} of a site that has some of its own words.</p>")
    rows = random_rows(1, 80)
    (folder / "corpus").mkdir()
    for name in ("documents.jsonl", "more.jsonl", "rows.jsonl"):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("corpus/rows.jsonl.gz", "more.jsonl.gz"):
        (folder / name).write_bytes(gzip.compress((folder / "rows.jsonl").read_bytes()))
    items = "".join(json.dumps({"id": name, "question": text}) + "\n"
                    for name, text in QUESTIONS.items())
    (folder / "evals").mkdir()
    for name in ("evals.jsonl", "evals/items.jsonl"):
        (folder / name).write_text(items)
    for name in ("page.html", "suspicious.html"):
        (folder / name).write_text(f"<html>{PASSAGE}<p>Something else altogether.</p>")
    (folder / "unwanted.txt").write_text("http://h0.example/0\n")
    rng = random.Random(2)
    hashes = [rng.randbytes(20).hex() for _ in range(4)]
    (folder / "bad.txt").write_text("\n".join(hashes[:2]))
    (folder / "benign.txt").write_text("\n".join(hashes[2:]))
    for name in ("configs", "benchmarks"):
        (folder / name).symlink_to(TOP / name)
    small = ["--workers", "1"]
    crawl = str(folder / "crawl")
    assert main(["run", crawl, "-o", str(folder / "result"), "--min-containment", "0.8",
                 "--chunk-threshold", "2", *small]) == 0
    for name in RESULTS[1:]:
        shutil.copytree(folder / "result", folder / name)
    assert main(["labels", str(folder / "bank"), "-o", str(folder / "bank.brl"), *small]) == 0
    assert main(["index", crawl, "-o", str(folder / "index"), *small]) == 0
