"""A site as numbers: what an experiment needs to know of its pages, and of the background.

Equal hashes have equal numbers, counted from 0, so that everything known of a distinct file
or chunk is an array over these numbers.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SiteFiles:
    """The files of a site that count, one entry per page: `number` of its hash, and whether
    the page has `chunked` content, which can take a further paragraph."""

    number: Ints
    chunked: NDArray[np.bool_]
    distinct: int

    def occurrences(self, of: NDArray[np.bool_] | None = None) -> Ints:
        """How often each distinct file occurs in the site, or in the pages `of`."""
        numbers = self.number if of is None else self.number[of]
        return np.bincount(numbers, minlength=self.distinct).astype(np.int64)


@dataclass(frozen=True)
class SiteChunks:
    """The chunk vectors of the pages that have a chunk that counts: page i has the numbers
    `number[offsets[i] : offsets[i + 1]]`."""

    offsets: Ints
    number: Ints
    distinct: int

    @property
    def pages(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        """Chunks of each page."""
        return np.diff(self.offsets)

    @property
    def mean(self) -> Fraction:
        """Mean chunks per page, exactly; 0 without pages."""
        return Fraction(len(self.number), self.pages) if self.pages else Fraction(0)

    def occurrences(self) -> Ints:
        """How often each distinct chunk occurs in the site."""
        return np.bincount(self.number, minlength=self.distinct).astype(np.int64)


@dataclass(frozen=True)
class Site:
    """`chunked_pages`: pages whose content is cut into chunks, whether these count or not."""

    files: SiteFiles
    chunks: SiteChunks
    chunked_pages: int


@dataclass(frozen=True)
class Background:
    """What is beside the site: occurrences of each distinct file and chunk of the site,
    and of all files and chunks, those of the site or not."""

    files: Ints
    chunks: Ints
    all_files: int
    all_chunks: int

    @staticmethod
    def empty(site: Site) -> "Background":
        """No background at all."""
        return Background(np.zeros(site.files.distinct, np.int64),
                          np.zeros(site.chunks.distinct, np.int64), 0, 0)
