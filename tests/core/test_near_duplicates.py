"""Signatures and keys against their definitions."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.analyses.graphs import crowds
from beam_reuse.analyses.near_duplicates import definition as near
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.core.tokens import scan_text
from tests.oracles import near_duplicates as slow
from tests.oracles import tokens as slow_tokens
from tests.refusals import refusal

WORDS = st.integers(0, 2**64 - 1)
FEW = st.sampled_from([1, 2, 3, 2**63, 2**64 - 1])
SETTINGS = st.builds(
    NearDuplicateSettings, shingle_size=st.integers(1, 9), min_values=st.just(12),
    supershingles=st.sampled_from([1, 3, 12]), b_threshold=st.just(1),
    projection_bits=st.sampled_from([1, 63, 64, 65, 130]), c_threshold=st.just(1),
    combined_threshold=st.just(1))


def signatures(pages: list[list[int]], settings: NearDuplicateSettings) -> near.Signatures:
    offsets = np.concatenate([[0], np.cumsum([len(page) for page in pages])]).astype(np.int64)
    tokens = np.array([word for page in pages for word in page], np.uint64)
    return near.signatures(tokens, offsets, np.diff(offsets), settings)


def bits_of(words: np.ndarray, bits: int) -> tuple[int, ...]:
    number = sum(int(word) << (64 * n) for n, word in enumerate(words))
    assert number >> bits == 0
    return tuple(number >> n & 1 for n in range(bits))


@given(st.lists(st.lists(WORDS | FEW, max_size=40), min_size=1, max_size=4), SETTINGS)
def test_signatures_are_those_of_the_definition(
    pages: list[list[int]], settings: NearDuplicateSettings,
) -> None:
    found = signatures(pages, settings)
    for row, page in enumerate(pages):
        b = slow.b_signature(tuple(page), settings)
        assert tuple(found.b[row].tolist()) == (b or (0,) * settings.supershingles)
        assert bits_of(found.c[row], settings.projection_bits) == slow.c_signature(
            tuple(page), settings)
    for (i, one), (j, other) in combinations(enumerate(pages), 2):
        assert (one == other) == (found.identity[i].tolist() == found.identity[j].tolist())


@pytest.mark.parametrize("length", [255, 256, 4_097, 100_003, 1_000_000])
def test_projections_of_long_pages_are_exact(length: int) -> None:
    """Few tokens, very often: sums as whole numbers."""
    rng = np.random.default_rng(length)
    page = rng.choice(rng.integers(0, 2**63, 5).astype(np.uint64), length)
    settings = NearDuplicateSettings(projection_bits=64, c_threshold=64, combined_threshold=64)
    found = near.signatures(page, np.array([0, length]), np.array([length]), settings)
    assert bits_of(found.c[0], 64) == slow.c_signature(tuple(page.tolist()), settings)


def test_order_and_repeats_matter_where_they_should() -> None:
    settings = NearDuplicateSettings()
    words = list(range(1, 31))
    found = signatures([words, words[::-1], words * 2, words * 2 + words[:9]], settings)
    assert found.c[0].tolist() == found.c[1].tolist() == found.c[2].tolist()
    assert found.b[0].tolist() != found.b[1].tolist()
    assert found.b[2].tolist() == found.b[3].tolist()


@pytest.mark.parametrize("threshold", [384, 380, 372, 369, 368, 360, 354])
def test_similar_signatures_share_a_key(threshold: int) -> None:
    settings = NearDuplicateSettings(c_threshold=threshold)
    masks = near.key_masks(settings)
    assert masks is not None and len(masks) <= near.MOST_KEYS
    assert min(sum(int(word).bit_count() for word in mask) for mask in masks) >= 24
    rng = np.random.default_rng(threshold)
    c = rng.integers(0, 2**63, (400, 6)).astype(np.uint64)
    other = c.copy()
    for row in other:
        for bit in rng.choice(384, 384 - threshold, replace=False).tolist():
            row[bit // 64] ^= np.uint64(1 << bit % 64)
    keys, others = near.c_keys(c, masks), near.c_keys(other, masks)
    assert (keys == others).any(axis=1).all()
    assert not (keys == others[::-1]).any()
    assert (keys & np.uint64(1)).all()


def test_the_worst_way_to_differ_is_found_too() -> None:
    """One differing bit in as many pieces as there may be differing bits."""
    for threshold in (372, 360):
        settings = NearDuplicateSettings(c_threshold=threshold)
        masks = near.key_masks(settings)
        assert masks is not None
        same = 1 if threshold == 372 else 2
        pieces = near._masks(near._cut(384, 384 - threshold + same), 1, 384)
        c = np.zeros((1, 6), np.uint64)
        other = c.copy()
        for piece in pieces[same:]:
            word = int(np.flatnonzero(piece)[0])
            other[0, word] ^= np.uint64(int(piece[word]) & -int(piece[word]))
        assert (near.c_keys(c, masks) == near.c_keys(other, masks)).sum() == 1


@pytest.mark.parametrize("threshold", [353, 340, 200, 1])
def test_low_thresholds_have_no_keys(threshold: int) -> None:
    settings = NearDuplicateSettings(c_threshold=threshold, combined_threshold=threshold)
    assert near.key_masks(settings) is None
    assert len(near.wide_masks(settings)) == 13


@given(st.lists(WORDS, min_size=6, max_size=6), st.sets(st.integers(0, 5), min_size=2),
       st.integers(1, 6))
def test_b_similar_signatures_share_a_key(words: list[int], agree: set[int], least: int) -> None:
    settings = NearDuplicateSettings(b_threshold=least)
    other = [word if n in agree else word ^ 1 for n, word in enumerate(words)]
    keys = near.b_keys(np.array([words, other], np.uint64), settings)
    assert not (keys & np.uint64(1)).any()
    if len(agree) >= least:
        assert (keys[0] == keys[1]).any()
    assert (keys[0] == keys[1]).sum() == len([n for n in agree if n < 7 - least])


@pytest.mark.parametrize("pages", [1, 2, 10, 11, 12, 13, 40])
def test_pairs_of_crowds_that_are_not_compared(pages: int) -> None:
    left_out = [(a, b) for a, b in combinations(range(pages), 2) if a > 0 and b - a > crowds.NEXT]
    assert crowds.not_compared(np.array([pages])).tolist() == [len(left_out)]


def test_fewer_bits_need_thresholds_of_their_own() -> None:
    """What to add is named, and is allowed."""
    told = refusal("near_duplicates", projection_bits=64)
    assert told == ("--projection-bits: 64 is less than the default thresholds ask for; add "
                    "--c-threshold 62 --combined-threshold 59, which is as strict")
    told = refusal("near_duplicates", projection_bits=64, c_threshold=62)
    assert "add --combined-threshold 59, which" in told
    assert "add --c-threshold 349, which" in refusal("near_duplicates", projection_bits=360)
    NearDuplicateSettings(projection_bits=64, c_threshold=62, combined_threshold=59)
    NearDuplicateSettings(projection_bits=372)


@pytest.mark.parametrize(("bad", "words"), [
    ({"min_values": 85}, "--min-values: 85 is not allowed; it must be a multiple of "
                         "--supershingles (6)"),
    ({"b_threshold": 7}, "--b-threshold: 7"), ({"b_threshold": 0}, "from 1 to --supershingles"),
    ({"c_threshold": 385}, "--c-threshold: 385"), ({"combined_threshold": 0}, "--combined"),
    ({"projection_bits": 0}, "--projection-bits"), ({"max_group": 1}, "--max-group: 1"),
    ({"max_group": 1 << 32}, "--max-group: 4294967296"),
    ({"shingle_size": 0}, "--shingle-size"), ({"keep_by": "d"}, "--keep-by: 'd'"),
    ({"keep_rule": "best"}, "smallest-url or earliest or longest"),
    ({"supershingles": 0}, "--supershingles"),
])
def test_settings_out_of_range_are_refused(bad: dict, words: str) -> None:
    assert words in refusal("near_duplicates", **bad)


def test_the_docs_tell_signatures_to_the_bit() -> None:
    """Their constants are those of the oracle, and their example is what comes out."""
    text = (Path(__file__).parents[2] / "docs" / "definitions.md").read_text()
    section = text.partition("### Signatures to the bit")[2].partition("\n## ")[0]
    rules, _, example = section.partition("Other settings")
    source = "".join(Path(str(module.__file__)).read_text() for module in (slow, slow_tokens))
    constants = set(re.findall("0x[0-9A-F]+", rules))
    assert len(constants) == 9 and constants <= set(re.findall("0x[0-9A-F]+", source))
    sentence = re.findall("`(The [^`]*)`", example)[0]
    tokens = [slow_tokens.fingerprint(word) for word in slow_tokens.tokens(sentence)]
    assert tokens == scan_text(sentence.encode()).tokens.tolist()
    found = signatures([tokens], NearDuplicateSettings())
    assert re.findall("0x[0-9A-F]+", example) == [
        f"0x{int(word):016X}" for word in (tokens[0], found.b[0, 0], found.c[0, 0])]
