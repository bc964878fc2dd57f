"""What overlap is: how a page is cut into chunks, and from where on pages and hosts overlap.

A chunk is known by a 64-bit fingerprint of its lines, tokens or text; a page is the set of its
fingerprints. Different chunkings have different fingerprints.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.core.tokens import fingerprint64
from beam_reuse.kernels import overlap as kernels
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.fingerprint import fingerprint_each

WHOLE, PARAGRAPH, SENTENCE = "whole", "paragraph", "sentence"
SERVER_THRESHOLD = 25
ALIAS_PAGES = 5
"""Hosts that share fewer whole pages may have nothing but a notice or an empty frame in common."""
LEAST_COLLECTION = 2
"""A directory with fewer pages is no collection."""
NEARLY_ALL = 0.8
"""A host has a page of a collection if it has a page with this share of its fingerprints."""

_BLANK_LINES = re.compile(r"\n\s*\n")
_AFTER_SENTENCE = re.compile(r"(?<=[.!?。！？]) ")  # noqa: RUF001

Ragged = tuple[NDArray[np.int64], NDArray]
"""Values of pages, page after page: page i has values[offsets[i]:offsets[i + 1]]."""


@dataclass(frozen=True)
class Chunking:
    """One way to cut pages: by name, and for `N-lines` and `N-words` the number."""

    name: str

    @property
    def size(self) -> int:
        number, _, unit = self.name.partition("-")
        return int(number) if unit else 0

    @property
    def unit(self) -> str:
        """What is cut: whole, lines, words, paragraph or sentence."""
        return self.name.partition("-")[2] or self.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a part that are needed, beside the lines."""
        return {"words": ("tokens",), PARAGRAPH: ("paragraphs",),
                SENTENCE: ("payload", "kind", "charset")}.get(self.unit, ())

    @property
    def follows_lines(self) -> bool:
        """Whether pages with the same lines have the same fingerprints: lines may be paragraphs
        or parts of one."""
        return self.unit not in (PARAGRAPH, SENTENCE)

    @property
    def threshold(self) -> int:
        """So many shared fingerprints are an overlap of pages: the paper's, as far as it has."""
        if self.unit == WHOLE:
            return 1
        if self.unit == PARAGRAPH:
            return 10
        return 25 if self.unit == "lines" and self.size <= 2 else 15


def chunkings_of(settings: OverlapSettings) -> list[Chunking]:
    return [Chunking(name) for name in settings.chunkings]


def page_threshold(chunking: Chunking, settings: OverlapSettings) -> int:
    """From how many shared fingerprints on two pages overlap."""
    return _given(chunking, settings.thresholds, chunking.threshold)


def server_threshold(chunking: Chunking, settings: OverlapSettings) -> int:
    """The same for two hosts."""
    otherwise = ALIAS_PAGES if chunking.unit == WHOLE else SERVER_THRESHOLD
    return _given(chunking, settings.server_thresholds, otherwise)


def _given(chunking: Chunking, entries: Sequence[str] | None, otherwise: int) -> int:
    """What is given for this chunking, else for all, else `otherwise`."""
    given = {name: int(number) for name, _, number in (e.rpartition("=") for e in entries or ())}
    return given.get(chunking.name, given.get("", otherwise))


def whole_fingerprints(lines: Ragged) -> NDArray[np.uint64]:
    """A fingerprint of the sequence of lines of each page."""
    offsets, values = lines
    return np.asarray(kernels.sequence_fingerprints(
        frozen(offsets), frozen(values), _seed(WHOLE)))


def line_groups(lines: Ragged, chunking: Chunking) -> Ragged:
    """Distinct fingerprints of every N lines, or N words, of each page, in order of value; a
    shorter last group counts."""
    offsets, values = lines
    ends, of_page = kernels.group_bounds(frozen(offsets), chunking.size)
    return _distinct(of_page, kernels.sequence_fingerprints(
        frozen(ends), frozen(values), _seed(chunking.name)))


def paragraph_groups(lines: Ragged, starts: Ragged) -> Ragged:
    """Distinct fingerprints of the paragraphs of each page; `starts` are the numbers of the lines
    that begin one."""
    offsets, values = lines
    start_offsets, first = starts
    bounds = np.append(first + np.repeat(offsets[:-1], np.diff(start_offsets)), len(values))
    return _distinct(start_offsets, kernels.sequence_fingerprints(
        frozen(bounds.astype(np.int64)), frozen(values), _seed(PARAGRAPH)))


def sentence_groups(texts: Sequence[bytes]) -> Ragged:
    """Distinct fingerprints of the sentences of each page, from its text with line breaks as in
    `core.text.Document`."""
    sentences = [sentences_of(text) for text in texts]
    flat = [one for each in sentences for one in each]
    bounds = np.zeros(len(flat) + 1, np.int64)
    np.cumsum([len(one) for one in flat], out=bounds[1:])
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(each) for each in sentences], out=offsets[1:])
    values = fingerprint_each(np.frombuffer(b"".join(flat), np.uint8), bounds)
    return _distinct(offsets, values ^ np.uint64(_seed(SENTENCE)))


def sentences_of(text: bytes) -> list[bytes]:
    """The sentences of each paragraph, white space collapsed; a paragraph's end ends one."""
    paragraphs = (
        " ".join(part.split())
        for block in text.decode("utf-8", "surrogatepass").split("\f")
        for part in _BLANK_LINES.split(block))
    return [sentence.encode("utf-8", "surrogatepass")
            for paragraph in paragraphs if paragraph
            for sentence in _AFTER_SENTENCE.split(paragraph)]


def _distinct(offsets: NDArray[np.int64], values: NDArray[np.uint64]) -> Ragged:
    kept, distinct = kernels.distinct_of_each(frozen(offsets), frozen(values))
    return np.asarray(kept), np.asarray(distinct)


def _seed(name: str) -> np.uint64:
    return np.uint64(fingerprint64(f"overlap {name}".encode()))


def enough_for_aliases(settings: OverlapSettings) -> NDArray[np.int64]:
    """For each chunking how much mirrors share at least that are one server under two names."""
    return np.array([ALIAS_PAGES if each.unit == WHOLE else 1 for each in chunkings_of(settings)])


def containment(shared: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.float64]:
    """Which share of a set of `size` fingerprints is shared."""
    return shared / size


def relations(
    contained_a: NDArray[np.float64], contained_b: NDArray[np.float64], mirror: float
) -> NDArray[np.uint8]:
    """How many of two hosts are nearly contained in the other: 2 for mirrors, 1 for a part."""
    return (contained_a >= mirror).astype(np.uint8) + (contained_b >= mirror)
