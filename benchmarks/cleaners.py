"""Corpora cleaned of near-duplicates by the recipes that people use now, each as a program.

usage: cleaners.py rensa|datatrove|text-dedup IN.jsonl OUT.jsonl

Needs the extra `benchmarks`, not beam_reuse, and may run with another interpreter. Every program
reads rows with `url` and `text` and writes the lines that stay. Words are lower-case runs of
letters and digits (others.py), shingles 5 successive words, and both cores are used wherever the
library, or two processes of it, can.

- rensa: RMinHash of 128 permutations (in two processes), RMinHashLSH with 16 bands; a document goes
  if one that stays has a similarity of 0.8 or more by its signature.
- datatrove: its four steps with its defaults (14 x 8, 5-grams), two tasks at a time; one document
  of each cluster stays.
- text-dedup (`pip install text-dedup`): its program `text_dedup.minhash` with its defaults (5-grams
  of its own words, bands for a Jaccard similarity of 0.7): all that share a band are one cluster,
  of which the first stays.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import orjson
import others

others.SHINGLE = 5


def write(path: str, out: str, kept: set[int]) -> None:
    with open(path, "rb") as lines, open(out, "wb") as sink:
        sink.writelines(line for number, line in enumerate(lines) if number in kept)


def rensa(path: str, out: str) -> None:
    from rensa import RMinHashLSH

    numbers, sketches = others.sketched(path, others._rensa_sketches)
    index = RMinHashLSH(others.JACCARD, others.PERMUTATIONS, others.BANDS)
    gone = set()
    for at, sketch in enumerate(sketches):
        if any(sketch.jaccard(sketches[other]) >= others.JACCARD for other in index.query(sketch)):
            gone.add(numbers[at])
        else:
            index.insert(at, sketch)
    write(path, out, _all_but(path, gone))


def _all_but(path: str, gone: set[int]) -> set[int]:
    with open(path, "rb") as lines:
        return {number for number, _ in enumerate(lines)} - gone


def text_dedup(path: str, out: str) -> None:
    folder = tempfile.mkdtemp(prefix="text-dedup-", dir=Path(out).parent)
    subprocess.run([
        sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", path,
        "--split", "train", "--cache_dir", f"{folder}/cache", "--output", f"{folder}/out",
        "--column", "text", "--batch_size", "10000", "--num_proc", str(others.CORES)], check=True)
    from datasets import load_from_disk

    load_from_disk(f"{folder}/out").select_columns(["url", "text"]).to_json(out)
    shutil.rmtree(folder)


def datatrove(path: str, out: str) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import (
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.text import TextNormConfig
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Words(WordTokenizer):
        word_tokenize = staticmethod(others.words)
        sent_tokenize = span_tokenize = None

    plain = TextNormConfig(False, False, False, False, False, False, False)
    config = MinhashConfig(n_grams=5, norm_config=plain)
    folder = tempfile.mkdtemp(prefix="datatrove-", dir=Path(out).parent)
    others._halves(path, folder)
    reader = partial(JsonlReader, f"{folder}/in", id_key="url")
    executor = partial(LocalPipelineExecutor, workers=others.CORES, start_method="fork")
    steps = (
        ([reader(), MinhashDedupSignature(f"{folder}/signatures", config, language=Words())],
         others.CORES),
        ([MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)],
         config.num_buckets),
        ([MinhashDedupCluster(f"{folder}/buckets", f"{folder}/remove", config=config)], 1),
        ([reader(), MinhashDedupFilter(f"{folder}/remove"),
          JsonlWriter(f"{folder}/out", compression=None)], others.CORES),
    )
    for number, (pipeline, tasks) in enumerate(steps):
        executor(pipeline, tasks=tasks, logging_dir=f"{folder}/log{number}").run()
    with open(out, "wb") as sink:
        for row in _written(f"{folder}/out"):
            sink.write(orjson.dumps({"url": row["id"], "text": row["text"]}) + b"\n")
    shutil.rmtree(folder)


def _written(folder: str) -> Iterator[dict]:
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as lines:
            yield from map(orjson.loads, lines)


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
