"""Inject: which files and chunks of a site does discovery find once it was copied d times?

Discovery is counting, so the answer follows from counts and no copy is made: what occurs b
times in the background and s times in the site occurs b + d*s times in both together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.settings import DiscoverySettings
from beam_reuse.core.discovery import auto_threshold
from beam_reuse.experiments.vectors import Background, Ints, Site


@dataclass(frozen=True)
class Injection:
    """How the copies are made. `partial`: every copy of every page whose content is cut into
    chunks has a paragraph of its own before its second chunk and another behind its last, so
    that no file of it is like another, and every chunk of the page is still there."""

    discovery: DiscoverySettings
    partial: bool = False


def found_files(
    site: Site, background: Background, copies: int, how: Injection,
) -> tuple[NDArray[np.bool_], int]:
    """Which distinct files are found, and the threshold."""
    alike = ~site.files.chunked if how.partial else None
    counts = background.files + copies * site.files.occurrences(alike)
    total = background.all_files + copies * len(site.files.number)
    return _above(counts, "file", how.discovery.file_threshold, total)


def found_chunks(
    site: Site, background: Background, copies: int, how: Injection,
) -> tuple[NDArray[np.bool_], int]:
    """Which distinct chunks are found, and the threshold."""
    counts = background.chunks + copies * site.chunks.occurrences()
    added = 2 * site.chunked_pages if how.partial else 0
    total = background.all_chunks + copies * (len(site.chunks.number) + added)
    return _above(counts, "chunk", how.discovery.chunk_threshold, total)


def _above(
    counts: Ints, kind: str, given: int | None, total: int,
) -> tuple[NDArray[np.bool_], int]:
    threshold = auto_threshold(kind, total) if given is None else given
    return counts > threshold, threshold
