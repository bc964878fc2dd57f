"""Our signatures as MinHash objects of datasketch: estimates, unions, look-ups, and back."""

import builtins
import random
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from datasketch import LeanMinHash, MinHash, MinHashLSH

from beam_reuse import NearDuplicateSettings, b_signature, min_hash_of
from beam_reuse.analyses.near_duplicates.definition import signatures
from beam_reuse.core.errors import UserError
from tests.analyses.near_copies import Document, random_documents
from tests.oracles.near_duplicates import NearDuplicates

SETTINGS = NearDuplicateSettings()


def shingles(words: list[str], size: int = SETTINGS.shingle_size) -> set[tuple[str, ...]]:
    return {tuple(words[at:at + size]) for at in range(len(words) - size + 1)}


def hash_of(document: Document, settings: NearDuplicateSettings = SETTINGS) -> LeanMinHash:
    return min_hash_of(document.content, document.url, document.html, settings)


def edited(words: list[str], edits: int, rng: random.Random) -> list[str]:
    out = list(words)
    for at in rng.sample(range(len(words)), edits):
        out[at] = f"new{rng.random()}"
    return out


@pytest.mark.parametrize("min_values", [84, 480])
def test_estimates_are_those_of_the_true_jaccard(min_values: int) -> None:
    """A mean of n trials of probability p has a deviation of sqrt(p (1 - p) / n)."""
    settings = NearDuplicateSettings(min_values=min_values)
    rng = random.Random(1)
    errors = []
    for edits in range(0, 60, 2):
        one = [f"w{rng.randrange(400)}" for _ in range(300)]
        other = edited(one, edits, rng)
        a, b = shingles(one), shingles(other)
        true = len(a & b) / len(a | b)
        estimate = min_hash_of(" ".join(one), html=False, settings=settings).jaccard(
            min_hash_of(" ".join(other), html=False, settings=settings))
        errors.append(estimate - true)
        assert abs(estimate - true) <= 4.5 * sqrt(true * (1 - true) / min_values)
    assert abs(np.mean(errors)) < 0.025


def test_unions_are_those_of_shingles() -> None:
    """Of two texts whose shingles together are those of a third."""
    words = [f"w{number}" for number in range(60)]
    left, right = words[:40], words[40 - SETTINGS.shingle_size + 1:]
    assert shingles(left) | shingles(right) == shingles(words)
    of_left, of_right, of_all = (
        min_hash_of(" ".join(each), html=False) for each in (left, right, words))
    assert of_left.union(of_left, of_right) == of_all


@pytest.mark.parametrize("settings", [SETTINGS, NearDuplicateSettings(
    shingle_size=3, min_values=40, supershingles=10)])
def test_and_back(settings: NearDuplicateSettings) -> None:
    """The supershingles of a MinHash are the signature that a run stores."""
    for document in random_documents(3, 40):
        tokens = np.array(document.page().tokens, np.uint64)
        expected = signatures(tokens, np.array([0, len(tokens)]),
                              np.array([len(tokens)]), settings).b[0]
        found = b_signature(hash_of(document, settings), settings)
        assert found.tolist() == expected.tolist()


def test_their_lookup_finds_our_pairs() -> None:
    """Its bands are our supershingles: it finds each pair that has one in common, so all of B."""
    documents = random_documents(5, 80)
    pairs = NearDuplicates([each.page() for each in documents], SETTINGS).tables()
    each = SETTINGS.min_values // SETTINGS.supershingles
    lookup = MinHashLSH(num_perm=SETTINGS.min_values, params=(SETTINGS.supershingles, each))
    hashes = {each.page().url: hash_of(each) for each in documents}
    for url, min_hash in hashes.items():
        lookup.insert(url, min_hash)
    found = {tuple(sorted((url, other))) for url, min_hash in hashes.items()
             for other in lookup.query(min_hash) if other != url}
    bands = {url: b_signature(min_hash) for url, min_hash in hashes.items()}
    assert found == {tuple(sorted(pair)) for pair in combinations(hashes, 2)
                     if (bands[pair[0]] == bands[pair[1]]).any()}
    similar = {(row["url_a"], row["url_b"]) for row in pairs["near_duplicates"] if row["b"]}
    assert similar and similar <= found


def test_images_count_where_the_url_is_given() -> None:
    page = "<p>" + " ".join(map(str, range(20))) + "<img src=/a/b.png>"
    plain = min_hash_of(page)
    assert min_hash_of(page, "http://a.example/") != plain
    assert min_hash_of(page.partition("<img")[0], "http://a.example/") == plain


def test_signatures_of_others_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="takes what min_hash_of gives, with the same settings"):
        b_signature(MinHash(84))
    with pytest.raises(UserError, match="with 84 values"):
        b_signature(min_hash_of("a"), NearDuplicateSettings(min_values=96))
    with pytest.raises(ValueError, match=r"(?i)same|different"):
        min_hash_of("a").jaccard(MinHash(84))
    known = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == "datasketch":
            raise ImportError(name)
        return known(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match=r"pip install 'beam-reuse\[reference\]'"):
        min_hash_of("a")
