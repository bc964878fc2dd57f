"""Pairs of pages of one site that C returns, with and without --ignore-boilerplate, and how many of
them are alike outside of their site's template.

usage: boilerplate.py [--pages N] [--least X] [--template Y] INPUT...

The inputs are indexed, and `boilerplate` says what the templates are. Of each site N pages (1,000)
are compared, all with all; with Y only those of whose tokens this share or more is template. A pair
is correct if the exact Jaccard similarity of the 5-grams of tokens outside of template lines is X
(0.8) or more (a page with fewer than five such tokens has one gram, of all of them; one without any
is left out, and so are pairs with the same tokens). Every pair has its agreeing bits of C twice: of
all tokens, and of those outside of template lines. So precision and recall follow for every
threshold; they are printed for C's own (372), and for the greatest threshold that reaches the same
recall without template lines.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np

from beam_reuse import tables
from beam_reuse.analyses.near_duplicates.definition import PageSigner, as_words
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.io.parts import read_part

GRAM = 5
RECALLS = (0.5, 0.8, 0.9, 0.95)
COLUMNS = ("url", "site", "host", "tokens", "images", "lines", "line_tokens")
SETTINGS = NearDuplicateSettings()
BITS = SETTINGS.projection_bits


@dataclass(frozen=True)
class Page:
    """Tokens of a page with those of its images, the same without template lines, and the 5-grams
    of the text among the latter."""

    tokens: np.ndarray
    own: np.ndarray
    grams: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--least", type=float, default=0.8)
    parser.add_argument("--template", type=float, default=0.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sites = read_sites(given.inputs, Path(folder))
    counts = np.zeros((2, BITS + 1, 2), np.int64)
    left_out = 0
    for pages in sites.values():
        some = [page for page in pages if len(page.grams)
                and len(page.own) <= (1 - given.template) * len(page.tokens)][:given.pages]
        left_out += len(pages) - len(some)
        if len(some) > 1:
            counts += compare(some, given.least)
    pages = sum(map(len, sites.values()))
    print(f"{pages:,} pages of {len(sites):,} sites, {left_out:,} of them not compared; "
          f"{counts[0, :, 1].sum():,} correct pairs of {counts[0].sum():,}")
    report(*counts)


def read_sites(inputs: Sequence[str], folder: Path) -> dict[str, list[Page]]:
    """The pages of each site, in the order in which they were read."""
    index, result = str(folder / "index"), str(folder / "result")
    for command in (["index", *inputs, "-o", index],
                    ["run", index, "-o", result, "--analyses", "boilerplate"]):
        subprocess.run([sys.executable, "-m", "beam_reuse", *command, "--max-rejects", "1"],
                       check=True, stdout=subprocess.DEVNULL)
    templates: dict[bytes, list[int]] = defaultdict(list)
    for row in tables.read(result, "boilerplate").to_pylist():
        templates[row["host"].encode()].append(int(row["fingerprint"], 16))
    of_hosts = {host: np.array(lines, np.uint64) for host, lines in templates.items()}
    sites: dict[str, list[Page]] = defaultdict(list)
    seen: set[bytes] = set()
    for path in sorted(Path(index, "index").glob("*.parquet")):
        for url, site, page in read_pages(str(path), of_hosts):
            if url not in seen and len(page.tokens):
                seen.add(url)
                sites[site].append(page)
    return sites


def read_pages(
    path: str, templates: dict[bytes, np.ndarray],
) -> Iterator[tuple[bytes, str, Page]]:
    none = np.zeros(0, np.uint64)
    for rows in read_part(path, COLUMNS):
        urls, sites, hosts = (rows.strings(name) for name in COLUMNS[:3])
        tokens, images, lines, counts = (rows.lists(name) for name in COLUMNS[3:])
        for i in range(len(rows)):
            own = ~np.isin(lines[i], templates.get(hosts[i], none))
            stays = tokens[i][np.repeat(own, counts[i])]
            yield urls[i], sites[i].decode(), Page(
                np.concatenate([tokens[i], images[i]]), np.concatenate([stays, images[i]]),
                gram_set(stays))


def gram_set(tokens: np.ndarray) -> np.ndarray:
    """The distinct grams of tokens, ascending; those of fewer tokens than a gram has are one."""
    if not len(tokens):
        return tokens
    size = min(GRAM, len(tokens))
    value = np.zeros(len(tokens) - size + 1, np.uint64)
    for at in range(size):
        value = (value ^ tokens[at:at + len(value)]) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    return np.unique(value)


def compare(pages: Sequence[Page], least: float) -> np.ndarray:
    """For all tokens and own ones: how many pairs agree in so many bits, incorrect and correct."""
    signed = [sign([page.tokens for page in pages]), sign([page.own for page in pages])]
    starts = np.zeros(len(pages) + 1, np.int64)
    np.cumsum([len(page.grams) for page in pages], out=starts[1:])
    grams = np.concatenate([page.grams for page in pages])
    (identity, all_bits), (_, own_bits) = signed
    return _compare(identity, all_bits, own_bits, grams, starts, least)


def sign(sequences: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Words of identities and of C."""
    offsets = np.zeros(len(sequences) + 1, np.int64)
    np.cumsum([len(each) for each in sequences], out=offsets[1:])
    tokens = np.concatenate(sequences).astype(np.uint64)
    identity, _, _, c = PageSigner(SETTINGS).sign(tokens, offsets, np.diff(offsets))
    return as_words(identity), as_words(c)


@numba.njit(cache=True)
def _compare(identity, all_bits, own_bits, grams, starts, least):  # type: ignore[no-untyped-def]
    found = np.zeros((2, BITS + 1, 2), np.int64)
    for a in range(len(identity)):
        for b in range(a + 1, len(identity)):
            if (identity[a] == identity[b]).all():
                continue
            correct = int(_jaccard(grams, starts, a, b, least) >= least)
            found[0, _agreeing(all_bits[a], all_bits[b]), correct] += 1
            found[1, _agreeing(own_bits[a], own_bits[b]), correct] += 1
    return found


@numba.njit(cache=True)
def _agreeing(a, b):  # type: ignore[no-untyped-def]
    differ = 0
    for i in range(len(a)):
        word = a[i] ^ b[i]
        while word:
            word &= word - np.uint64(1)
            differ += 1
    return BITS - differ


@numba.njit(cache=True)
def _jaccard(grams, starts, a, b, least):  # type: ignore[no-untyped-def]
    """The Jaccard similarity of two sets, or 0 where their sizes say that it is below `least`."""
    i, j, end_i, end_j = starts[a], starts[b], starts[a + 1], starts[b + 1]
    total, common = end_i - i + end_j - j, 0
    if min(end_i - i, end_j - j) < least * max(end_i - i, end_j - j):
        return 0.0
    while i < end_i and j < end_j:
        left, right = grams[i], grams[j]
        common += left == right
        i += left <= right
        j += right <= left
    return common / (total - common)


def report(of_all: np.ndarray, of_own: np.ndarray) -> None:
    """Precision and recall with template lines at C's threshold, and without them at the same
    recall; then at fixed recalls."""
    own = SETTINGS.c_threshold
    precision, recall, pairs = rates(of_all, own)
    print(f"  with template lines,    t = {own}: {pairs:>9,} pairs, precision {precision:.3f}, "
          f"recall {recall:.3f}")
    for name, least in (("same threshold", None), ("same recall", recall)):
        t = own if least is None else threshold_for(of_own, least)
        precision, reached, pairs = rates(of_own, t)
        print(f"  without them,           t = {t}: {pairs:>9,} pairs, precision {precision:.3f}, "
              f"recall {reached:.3f} ({name})")
    for least in RECALLS:
        (t_all, *all_rates), (t_own, *own_rates) = (
            (t, *rates(each, t)) for each in (of_all, of_own)
            for t in (threshold_for(each, least),))
        print(f"  recall {least:4.2f}: precision {all_rates[0]:.3f} (t = {t_all}) with, "
              f"{own_rates[0]:.3f} (t = {t_own}) without")


def threshold_for(counts: np.ndarray, recall: float) -> int:
    """The greatest threshold that reaches a recall."""
    return next(t for t in range(BITS, -1, -1) if rates(counts, t)[1] >= recall)


def rates(counts: np.ndarray, threshold: int) -> tuple[float, float, int]:
    """Precision, recall and number of the pairs that reach a threshold."""
    wrong, right = counts[threshold:].sum(0)
    return (right / max(right + wrong, 1), right / max(counts[:, 1].sum(), 1),
            int(right + wrong))


if __name__ == "__main__":
    main()
