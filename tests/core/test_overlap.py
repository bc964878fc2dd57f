"""Chunks of overlap against their definition, text by text."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.overlap import definition as overlap
from beam_reuse.analyses.overlap.definition import Chunking, page_threshold, server_threshold
from beam_reuse.analyses.overlap.reports import dropped
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block
from beam_reuse.core.tokens import line_fingerprints, scan_text
from tests.oracles.overlap import Page, cut
from tests.refusals import refusal

TEXTS = st.lists(st.lists(st.sampled_from(
    ["one", "Two.", "three", "4!", " ", "\n", "\n\n", "\f", "。", "。 ", "?\t", "\u3000", "É",
     "...", "\x85", "a. b", "\x1c"]), max_size=12).map("".join), max_size=5)


def ragged(pages: list[np.ndarray]) -> overlap.Ragged:
    offsets = np.zeros(len(pages) + 1, np.int64)
    np.cumsum([len(page) for page in pages], out=offsets[1:])
    return offsets, np.concatenate([np.zeros(0, np.uint64), *pages])


def fingerprints(texts: list[str], name: str) -> overlap.Ragged:
    chunking, raw = Chunking(name), [text.encode() for text in texts]
    found = [line_fingerprints(text) for text in raw]
    lines = ragged([each for each, _ in found])
    if chunking.unit == "words":
        return overlap.line_groups(ragged([scan_text(text).tokens for text in raw]), chunking)
    if chunking.unit == "lines":
        return overlap.line_groups(lines, chunking)
    if chunking.unit == "paragraph":
        return overlap.paragraph_groups(lines, ragged([starts for _, starts in found]))
    return overlap.sentence_groups(raw)


def chunks_and_fingerprints(texts: list[str], name: str) -> Iterator[tuple[set, set]]:
    offsets, values = fingerprints(texts, name)
    for n, text in enumerate(texts):
        yield cut(Page("", text, 0), name), set(values[offsets[n] : offsets[n + 1]].tolist())


@pytest.mark.parametrize("name", ["1-lines", "2-lines", "4-lines", "1-words", "3-words",
                                  "paragraph", "sentence"])
@given(TEXTS)
def test_equal_chunks_have_equal_fingerprints_and_others_do_not(
    name: str, texts: list[str],
) -> None:
    known: dict[frozenset, frozenset] = {}
    for chunks, found in chunks_and_fingerprints(texts, name):
        assert len(chunks) == len(found)
        for others, their in known.items():
            assert len(chunks & others) == len(found & their)
        known[frozenset(chunks)] = frozenset(found)


def test_chunkings_of_the_same_text_are_told_apart() -> None:
    texts = ["one\ntwo"]
    found = [set(fingerprints(texts, name)[1].tolist())
             for name in ("2-lines", "3-lines", "paragraph", "2-words")]
    assert sum(map(len, found)) == len(set.union(*found)) == 4


def test_order_and_length_count() -> None:
    lines = [np.array(words, np.uint64) for words in ([1, 2], [2, 1], [1], [1, 0], [0], [0, 0])]
    assert len(set(overlap.whole_fingerprints(ragged(lines)).tolist())) == len(lines)


@pytest.mark.parametrize(("name", "pages", "hosts"), [
    ("whole", 1, 5), ("1-lines", 25, 25), ("2-lines", 25, 25), ("4-lines", 15, 25),
    ("8-words", 15, 25), ("paragraph", 10, 25), ("sentence", 15, 25)])
def test_thresholds(name: str, pages: int, hosts: int) -> None:
    chunking = Chunking(name)
    default = OverlapSettings((name,))
    assert page_threshold(chunking, default) == pages
    assert server_threshold(chunking, default) == hosts
    given_ = OverlapSettings((name, "9-lines"), ("7", "9-lines=3"), (f"{name}=2", "5"))
    assert (page_threshold(chunking, given_), server_threshold(chunking, given_)) == (7, 2)
    other = Chunking("9-lines")
    assert (page_threshold(other, given_), server_threshold(other, given_)) == (3, 5)


@pytest.mark.parametrize(("settings", "told"), [
    ({"chunkings": ()}, "--overlap-chunkings"),
    ({"chunkings": ("0-lines",)}, "--overlap-chunkings: 0-lines is not allowed"),
    ({"chunkings": ("lines",)}, "N-lines"),
    ({"chunkings": ("whole", "whole")}, "each once"),
    ({"thresholds": ("x",)}, "--overlap-threshold: 'x' is not allowed"),
    ({"thresholds": ("0",)}, "N from 1"),
    ({"thresholds": ("3-lines=4",)}, "for one of --overlap-chunkings (whole,4-lines,2-lines)"),
    ({"thresholds": ("4-lines=9", "whole=2")}, "--server-overlap-threshold"),
    ({"server_thresholds": ("2-lines=",)}, "--server-overlap-threshold: '2-lines='"),
    ({"thresholds": ("3", "4")}, "one for each chunking"),
    ({"server_thresholds": ("2-lines=3", "2-lines=4")}, "--server-overlap-threshold"),
    ({"max_df": 1}, "--max-df: 1 is not allowed; it must be from 2 to 20,000"),
    ({"mirror": 0.0}, "--mirror-containment"),
    ({"method": "sort"}, "--overlap-method: 'sort' is not allowed; it must be iceberg or direct"),
])
def test_what_makes_no_sense_is_refused(settings: dict, told: str) -> None:
    assert told in refusal("overlap", **settings)


def test_a_page_goes_for_one_that_is_greater_than_all_that_go() -> None:
    """As a page of a baseline may be: what is beyond the bits of pages that go is not read."""
    rows = Block({"chunking": np.zeros(2, np.uint8), "page": np.array([3, 5], np.uint64),
                  "near": np.array([1 << 30, 3], np.uint64), "share": np.array([0.75, 1.0])})
    for _ in range(50):
        found = Block.concat(list(dropped(iter([rows]))))
        assert found.array("centre").tolist() == [3]
        assert found.array("because").tolist() == [1 << 30]
        assert found.array("share").tolist() == [0.75]
