"""What quilted pages are: sweeps of settings, sets of grams, covers, spans and attribution.

Nothing here knows of Beam: the functions can be used alone, on arrays.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.core.urls import BadUrl, name_page, resolve_url
from beam_reuse.kernels import grams as gram_kernels
from beam_reuse.kernels.compiled import frozen

_ELSEWHERE = re.compile(rb"[\0- ]*(?:[a-zA-Z][a-zA-Z0-9+.\t\r\n-]*:|/[\t\r\n]*/)").match


class Combination(NamedTuple):
    """One combination of the numbers that a sweep varies."""

    gram_size: int
    max_pages_per_gram: int
    min_sources: int
    min_patch_fraction: float

    def is_quilted(
        self, grams: NDArray, patch_grams: NDArray, sources: NDArray
    ) -> NDArray[np.bool_]:
        """Which pages are quilted, by their numbers of grams, patch grams and sources."""
        return self.reaches(grams, patch_grams) & (sources >= self.min_sources)

    def reaches(self, grams: NDArray, patch_grams: NDArray) -> NDArray[np.bool_]:
        """Which pages have patch grams enough; the nearest doubles decide, as tables show them."""
        return np.asarray(
            (patch_grams > 0) & (patch_fractions(grams, patch_grams) >= self.min_patch_fraction))


def patch_fractions(grams: NDArray, patch_grams: NDArray) -> NDArray[np.float64]:
    """The share of patch grams; 0 where there are no grams."""
    return np.asarray(patch_grams / np.maximum(grams, 1))


@dataclass(frozen=True)
class Sweep:
    """The combinations of a run, the pivot first; those whose sources are listed (`told`); and the
    distinct gram sizes and limits of pages per gram among them, in order."""

    combinations: tuple[Combination, ...]
    told: tuple[Combination, ...]
    sizes: tuple[int, ...]
    limits: tuple[int, ...]

    @staticmethod
    @lru_cache(maxsize=8)
    def of(settings: QuiltSettings) -> "Sweep":
        """What `settings` ask for."""
        combinations = tuple(Combination(*each) for each in settings.combinations())
        return Sweep(
            combinations, combinations if settings.sweep_sources else combinations[:1],
            tuple(dict.fromkeys(each.gram_size for each in combinations)),
            tuple(dict.fromkeys(each.max_pages_per_gram for each in combinations)))

    def cover_of(self, combination: Combination) -> int:
        """The number of the cover a combination needs: covers differ by gram size and limit."""
        return (self.sizes.index(combination.gram_size) * len(self.limits)
                + self.limits.index(combination.max_pages_per_gram))

    def covers(self) -> dict[int, list[Combination]]:
        """The combinations that each cover serves."""
        found: dict[int, list[Combination]] = {}
        for each in self.combinations:
            found.setdefault(self.cover_of(each), []).append(each)
        return found


def gram_sets(
    tokens: NDArray[np.uint64], offsets: NDArray[np.int64], size: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The distinct grams of `size` tokens of the pages whose tokens are
    tokens[offsets[i]:offsets[i + 1]], as 64-bit fingerprints, and the offsets of each page's.

    Cost: some 15 ns per token, and for the longest page a table of 16 to 32 bytes per token.
    """
    grams, ends = gram_kernels.gram_sets(frozen(tokens), frozen(offsets), size)
    return grams, ends


class Linked(IntEnum):
    """Whether a page links to a source, or to another page of its domain."""

    NONE = 0
    DOMAIN = 1
    PAGE = 2


def linked_sources(
    page: bytes, base: bytes, links: Sequence[bytes], sources: Sequence[bytes]
) -> list[Linked]:
    """For each source, a URL or the name of a capture, what the links of a page say of it.

    Links are resolved against `base`, '' where the page names none. Links that cannot lead to a
    source's domain are not looked at.
    """
    names = [name_page(_url(source)) for source in sources]
    domains = {name.domain for name in names}
    start = _url(page)
    if base:
        start = resolve_url(start, base.decode("utf-8", "replace"))
    urls, reached = set(), set()
    here = _domain(start) in domains
    for link in dict.fromkeys(links):
        if not here and not _ELSEWHERE(link):
            continue
        try:
            name = name_page(resolve_url(start, link.decode("utf-8", "replace")))
        except BadUrl:
            continue
        urls.add(name.url)
        reached.add(name.domain)
    return [Linked.PAGE if name.url in urls else
            Linked.DOMAIN if name.domain in reached else Linked.NONE for name in names]


def _url(name: bytes) -> str:
    return name.partition(b"#")[0].decode("utf-8", "replace")


def _domain(url: str) -> str | None:
    try:
        return name_page(url).domain
    except BadUrl:
        return None
