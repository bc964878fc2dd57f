"""What a template line is, and where on its pages it is. No Beam."""

import re

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings

STEPS = 1000
"""Positions are counted in so many steps from the top of a page to its end."""
TEXT_CHARACTERS = 200

_LINE_ENDS = re.compile("[\n\f]")


def is_template(
    pages: NDArray[np.int64], of_host: NDArray[np.int64], settings: BoilerplateSettings,
) -> NDArray[np.bool_]:
    """Whether a line on so many `pages` is a template line of a host with `of_host` pages that
    have lines. So a host has no more of them than lines of a mean page / `min_share`."""
    return (pages >= settings.min_pages) & (pages / of_host >= settings.min_share)


def positions(above: NDArray[np.int64], lines: NDArray[np.int64]) -> NDArray[np.uint16]:
    """Where a line is that has so many lines `above` it, of all `lines` of its page: whole steps,
    from 0 to STEPS - 1."""
    return (STEPS * above // lines).astype(np.uint16)


def lower_medians(
    position: NDArray[np.uint16], counts: NDArray[np.int64], starts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The lower median of each group as a share: of n positions in order that at (n - 1) // 2 from
    0. A group has ascending positions and how often each occurs."""
    sums = np.cumsum(counts)
    before = np.concatenate([[0], sums])[starts]
    total = np.add.reduceat(counts, starts) if len(starts) else before
    at = np.searchsorted(sums, before + (total - 1) // 2, side="right")
    return position[at] / STEPS


def shown_lines(text: bytes) -> list[bytes]:
    """The first characters of each line of the UTF-8 text of a `Document`, in the order of its
    fingerprints, as UTF-8."""
    lines = (" ".join(line.split())
             for line in _LINE_ENDS.split(text.decode("utf-8", "surrogatepass")))
    return [line[:TEXT_CHARACTERS].encode("utf-8", "replace") for line in lines if line]
