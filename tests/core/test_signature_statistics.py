"""What signatures promise, on real pages: versions of encyclopaedia articles.

Min-values agree as often as sets of shingles overlap, and signs as often as 1 - angle / pi says.
An estimate from n independent trials of probability p has a deviation of sqrt(p (1 - p) / n). The
bounds: errors measured in such deviations spread by 0.9 to 1.15 (independent trials: 1), and the
mean error is below 0.01 for min-values and 0.02 for signs, which are less independent from pair to
pair: a frequent word adds the same signs to all of them.
"""

import tarfile
from collections import Counter
from itertools import combinations
from math import acos, pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from beam_reuse.analyses.near_duplicates.definition import hash_functions, signatures
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.core.tokens import scan_text
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.minhash import min_values, shingles_of

SETTINGS = NearDuplicateSettings()


@pytest.fixture(scope="module")
def versions(corpora: Path) -> list[list[np.ndarray]]:
    """Tokens of the versions of each article."""
    articles: dict[str, list[np.ndarray]] = {}
    with tarfile.open(corpora / "wikipedia_versions.tar.xz") as archive:
        for member in archive:
            if member.name.endswith(".txt") and "version_documents/" in member.name:
                text = archive.extractfile(member).read()  # type: ignore[union-attr]
                tokens = scan_text(text.decode("utf-8", "replace").encode()).tokens
                title = member.name.rsplit("/", 1)[0]
                if len(tokens) >= SETTINGS.shingle_size:
                    articles.setdefault(title, []).append(tokens)
    return [articles[title] for title in sorted(articles)]


@pytest.fixture(scope="module")
def pairs(versions: list[list[np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of versions of one article, and as many of different articles."""
    same = [pair for article in versions for pair in combinations(article, 2)][::4]
    others = [(a[0], b[-1]) for a, b in zip(versions, versions[7:], strict=False)]
    return same + others


def spread(share: np.ndarray, expected: np.ndarray, trials: int) -> np.ndarray:
    """Errors in deviations, where something may vary at all."""
    some = (expected > 0.02) & (expected < 0.98)
    return (share - expected)[some] / np.sqrt(expected[some] * (1 - expected[some]) / trials)


def shingles(tokens: np.ndarray) -> np.ndarray:
    out = np.empty(len(tokens), np.int64)
    return out[: shingles_of(frozen(tokens), 0, len(tokens), SETTINGS.shingle_size, out)]


def test_share_of_equal_min_values_is_the_jaccard_similarity(
    pairs: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    jaccard, equal = [], []
    for pair in pairs:
        one, other = (shingles(tokens) for tokens in pair)
        both = len(np.intersect1d(one, other))
        jaccard.append(both / len(np.union1d(one, other)))
        values = [min_values(frozen(s), *hash_functions(SETTINGS.min_values))
                  for s in (one, other)]
        equal.append(np.mean(values[0] == values[1]))
    error = spread(np.array(equal), np.array(jaccard), SETTINGS.min_values)
    assert len(error) > 500
    assert 0.9 < error.std() < 1.15
    assert abs(np.mean(np.array(equal) - jaccard)) < 0.01


def test_share_of_agreeing_signs_is_one_minus_angle_by_pi(
    pairs: list[tuple[np.ndarray, np.ndarray]],
) -> None:
    expected, agreeing = [], []
    for pair in pairs:
        offsets = np.array([0, len(pair[0]), len(pair[0]) + len(pair[1])])
        c = signatures(np.concatenate(pair), offsets, np.diff(offsets), SETTINGS).c
        differing = sum(int(word).bit_count() for word in (c[0] ^ c[1]).tolist())
        agreeing.append(1 - differing / SETTINGS.projection_bits)
        expected.append(1 - angle(*(Counter(tokens.tolist()) for tokens in pair)) / pi)
    error = spread(np.array(agreeing), np.array(expected), SETTINGS.projection_bits)
    assert len(error) > 500
    assert 0.9 < error.std() < 1.15
    assert abs(np.mean(np.array(agreeing) - expected)) < 0.02


def angle(one: Counter[int], other: Counter[int]) -> float:
    lengths = [sqrt(sum(n * n for n in counts.values())) for counts in (one, other)]
    return acos(min(1, sum(n * other[token] for token, n in one.items())
                    / lengths[0] / lengths[1]))
