"""Near-duplicates by the libraries people use now, each as a program of its own.

usage: others.py datasketch|rensa|rensa-rho|gaoya|gaoya-own|datatrove|datatrove-own IN.jsonl OUT.npy

Needs the extra `benchmarks`, not beam_reuse, and may run with another interpreter. Every program
reads the same lines, takes lower-case runs of letters and digits as words (in scripts without
spaces each character) and sets of 8 successive words as shingles, uses 128 permutations (datatrove:
its 14 x 8) aimed at a Jaccard similarity of 0.8, and writes pairs of line numbers. Both cores are
used wherever the library or two processes of it can; documents without shingles are left out, for
most libraries would find them all alike.

- datasketch: MinHash (hashed by xxhash in two processes), MinHashLSH with the bands it chooses.
- rensa: RMinHash (in two processes), RMinHashLSH with 16 bands, candidates checked by `jaccard`.
- rensa-rho: its fastest way, which samples tokens and only says which documents are duplicates:
  written as pairs of each such document with itself.
- gaoya: words found in two processes, shingles, hashes and queries in Rust on all cores; it checks
  candidates itself. `gaoya-own`: words in Rust, too, but split at ASCII signs only.
- datatrove: signatures and buckets, two tasks at a time, the words as above (a simple expression,
  much faster than its own tokenizer). `datatrove-own`: its defaults (spaCy words, 5 of them).
"""

import os
import re
import shutil
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import orjson

PERMUTATIONS = 128
BANDS = 16
JACCARD = 0.8
SHINGLE = 8
CORES = 2
_BATCH = 500

_UNSPACED = ("\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
             "\uf900-\ufaff\U00020000-\U0003ffff")
_WORDS = re.compile(rf"(?=[^\W_])[{_UNSPACED}]|[^\W_{_UNSPACED}]+").findall
_ASCII_WORDS = re.compile(r"[a-z0-9]+").findall


def words(text: str) -> list[str]:
    lowered = text.lower()
    return _ASCII_WORDS(lowered) if lowered.isascii() else _WORDS(lowered)


def shingles(text: str) -> list[str]:
    """The distinct shingles of a text, in order."""
    tokens = words(text)
    return list(dict.fromkeys(" ".join(tokens[i : i + SHINGLE])
                              for i in range(len(tokens) - SHINGLE + 1)))


def batches(path: str) -> Iterator[list[bytes]]:
    """The lines of a file, some hundred at a time."""
    with open(path, "rb") as lines:
        while batch := list(islice(lines, _BATCH)):
            yield batch


def sketched(path: str, sketch: Callable[[list[list[str]]], list]) -> tuple[list[int], list]:
    """Line numbers of the documents with shingles, and what `sketch` makes of each."""
    numbers, sketches = [], []
    with Pool(CORES, _set_sketch, (sketch,)) as pool:
        for batch, (places, made) in enumerate(pool.imap(_sketch_batch, batches(path))):
            numbers += [batch * _BATCH + place for place in places]
            sketches += made
    return numbers, sketches


_sketch: Callable[[list[list[str]]], list]


def _set_sketch(sketch: Callable[[list[list[str]]], list]) -> None:
    global _sketch
    _sketch = sketch


def _sketch_batch(lines: list[bytes]) -> tuple[list[int], list]:
    sets = [shingles(orjson.loads(line)["text"]) for line in lines]
    places = [place for place, found in enumerate(sets) if found]
    return places, _sketch([sets[place] for place in places])


def save(pairs: list[tuple[int, int]], out: str) -> None:
    np.save(out, np.array(pairs, np.int64).reshape(-1, 2))


def datasketch(path: str, out: str) -> None:
    from datasketch import MinHashLSH

    numbers, sketches = sketched(path, _datasketch_sketches)
    index = MinHashLSH(threshold=JACCARD, num_perm=PERMUTATIONS)
    pairs = []
    for number, sketch in zip(numbers, sketches, strict=True):
        pairs += [(other, number) for other in index.query(sketch)]
        index.insert(number, sketch, check_duplication=False)
    save(pairs, out)


def _datasketch_sketches(sets: list[list[str]]) -> list:
    from datasketch import MinHash
    from xxhash import xxh32_intdigest

    return MinHash.bulk([[shingle.encode() for shingle in found] for found in sets],
                        num_perm=PERMUTATIONS, hashfunc=xxh32_intdigest)


def rensa(path: str, out: str) -> None:
    from rensa import RMinHashLSH

    numbers, sketches = sketched(path, _rensa_sketches)
    index = RMinHashLSH(JACCARD, PERMUTATIONS, BANDS)
    index.insert_many(sketches)
    save([(numbers[a], numbers[b]) for a, found in enumerate(index.query_all(sketches))
          for b in found if b > a and sketches[a].jaccard(sketches[b]) >= JACCARD], out)


def _rensa_sketches(sets: list[list[str]]) -> list:
    from rensa import RMinHash

    return RMinHash.from_token_sets(sets, num_perm=PERMUTATIONS, seed=42)


def rensa_rho(path: str, out: str) -> None:
    from rensa import RMinHash, RMinHashLSH

    numbers, hashed = sketched(path, _rensa_hashes)
    ends = np.cumsum([0, *map(len, hashed)]).astype(np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes_rho(
        np.concatenate(hashed), ends, num_perm=PERMUTATIONS, seed=42)
    flags = RMinHashLSH(JACCARD, PERMUTATIONS, BANDS).query_duplicate_flags_matrix_one_shot(matrix)
    save([(number, number) for number, flag in zip(numbers, flags, strict=True) if flag], out)


def _rensa_hashes(sets: list[list[str]]) -> list:
    from rensa import RMinHash

    return [np.array(hashes, np.uint64) for hashes in RMinHash.hash_token_sets(sets)]


def gaoya(path: str, out: str) -> None:
    numbers, texts = [], []
    with Pool(CORES) as pool:
        for batch, cleaned in enumerate(pool.imap(_clean_batch, batches(path))):
            numbers += [batch * _BATCH + place for place, text in enumerate(cleaned) if text]
            texts += [text for text in cleaned if text]
    _gaoya(numbers, texts, out)


def _clean_batch(lines: list[bytes]) -> list[str]:
    """The words of each text with one space between them; nothing if too few for a shingle."""
    found = (words(orjson.loads(line)["text"]) for line in lines)
    return [" ".join(tokens) if len(tokens) >= SHINGLE else "" for tokens in found]


def gaoya_own(path: str, out: str) -> None:
    texts = [orjson.loads(line)["text"] for batch in batches(path) for line in batch]
    numbers = [number for number, text in enumerate(texts)
               if len(text) > 1000 or len(words(text)) >= SHINGLE]
    _gaoya(numbers, [texts[number] for number in numbers], out)


def _gaoya(numbers: list[int], texts: list[str], out: str) -> None:
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=JACCARD, num_bands=BANDS, band_size=PERMUTATIONS // BANDS,
        analyzer="word", lowercase=True, ngram_range=(SHINGLE, SHINGLE), id_container="smallvec")
    index.par_bulk_insert_docs(numbers, texts)
    save([(number, other)
          for number, found in zip(numbers, index.par_bulk_query(texts), strict=True)
          for other in found if other > number], out)


def datatrove(path: str, out: str) -> None:
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.utils.text import TextNormConfig
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Words(WordTokenizer):
        word_tokenize = staticmethod(words)
        sent_tokenize = span_tokenize = None

    plain = TextNormConfig(False, False, False, False, False, False, False)
    _datatrove(path, out, MinhashConfig(n_grams=SHINGLE, norm_config=plain), Words())


def datatrove_own(path: str, out: str) -> None:
    from datatrove.pipeline.dedup.minhash import MinhashConfig

    _datatrove(path, out, MinhashConfig(), "eng_Latn")


def _datatrove(path: str, out: str, config, tokenizer) -> None:
    """Two files are two tasks. What it writes of a bucket is a chain through each group of equal
    keys; every two of a group are a pair."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupSignature
    from datatrove.pipeline.readers import JsonlReader

    folder = tempfile.mkdtemp(prefix="datatrove-", dir=Path(out).parent)
    first = _halves(path, folder)
    executor = partial(LocalPipelineExecutor, workers=CORES, start_method="fork")
    signatures = [JsonlReader(f"{folder}/in", id_key="url"),
                  MinhashDedupSignature(f"{folder}/signatures", config, language=tokenizer)]
    buckets = [MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)]
    executor(signatures, tasks=CORES, logging_dir=f"{folder}/log1").run()
    executor(buckets, tasks=config.num_buckets, logging_dir=f"{folder}/log2").run()
    pairs: set[tuple[int, int]] = set()
    for bucket in Path(folder, "buckets").glob("*.dups"):
        rows = [(fa * first + a, fb * first + b)
                for fa, a, fb, b in struct.iter_unpack("<4I", bucket.read_bytes())]
        for group in _chains(rows):
            pairs.update((a, b) for i, b in enumerate(group) for a in group[:i])
    save(sorted(pairs), out)
    shutil.rmtree(folder)


def _halves(path: str, folder: str) -> int:
    """Writes the lines as two files; how many are in the first."""
    os.mkdir(f"{folder}/in")
    lines = Path(path).read_bytes().splitlines(keepends=True)
    first = (len(lines) + 1) // 2
    for number, part in enumerate((lines[:first], lines[first:])):
        Path(folder, "in", f"{number}.jsonl").write_bytes(b"".join(part))
    return first


def _chains(rows: list[tuple[int, int]]) -> Iterator[list[int]]:
    """Links in a row, where each starts at the end of the one before, as lists of members."""
    breaks = [i + 1 for i, (row, after) in enumerate(pairwise(rows)) if row[1] != after[0]]
    for start, end in pairwise([0, *breaks, len(rows)]):
        if start < end:
            yield [rows[start][0], *(b for _, b in rows[start:end])]


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](*sys.argv[2:])
