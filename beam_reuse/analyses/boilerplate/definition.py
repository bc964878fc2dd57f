"""What a template line is, and where on its pages it is. No Beam."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings

STEPS = 1000
"""Positions are counted in so many steps from the top of a page to its end."""
TEXT_CHARACTERS = 200


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
    return [line[:TEXT_CHARACTERS].encode("utf-8", "replace") for line, _ in text_lines(text)]


def own_text(text: bytes, own: NDArray[np.bool_]) -> bytes:
    """The text of a `Document` of which only the lines stay that are the page's `own`, as plain
    text: what stays of a paragraph is one, after a blank line."""
    pieces: list[str] = []
    new = True
    for (line, starts), stays in zip(text_lines(text), own.tolist(), strict=True):
        new |= starts
        if stays:
            pieces += ["\n\n" if new else "\n", line]
            new = False
    return "".join(pieces).encode("utf-8", "surrogatepass")


def text_lines(text: bytes) -> Iterator[tuple[str, bool]]:
    """The lines of the text of a `Document`, white space collapsed, in the order of its
    fingerprints, and which start a paragraph."""
    for block in text.decode("utf-8", "surrogatepass").split("\f"):
        starts = True
        for line in block.split("\n"):
            clean = " ".join(line.split())
            if clean:
                yield clean, starts
            starts = not clean


def paragraph_starts(
    offsets: NDArray[np.int64], start_offsets: NDArray[np.int64], starts: NDArray[np.uint32],
    own: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The lines of each page that start a paragraph, numbered among those that stay, from all that
    do: the first that stays of each paragraph. Page i has lines offsets[i] to offsets[i + 1]."""
    first = np.zeros(len(own), np.bool_)
    first[np.repeat(offsets[:-1], np.diff(start_offsets)) + starts] = True
    paragraph = np.cumsum(first)[own]
    begins = np.flatnonzero(np.diff(paragraph, prepend=0))
    stay = np.concatenate([[0], np.cumsum(own)])[offsets]
    after = np.searchsorted(begins, stay)
    return after, (begins - np.repeat(stay[:-1], np.diff(after))).astype(np.uint32)
