"""Everything the analyses need of a page, from one pass over its bytes and one parse."""

from codecs import BOM_UTF8
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from beam_reuse.core.chunking import (
    NO_CHUNKS,
    Chunks,
    chunk_document,
    chunk_page,
    count_chunks,
    count_document_chunks,
    cuts_text,
    file_sha1,
)
from beam_reuse.core.nesting import TooDeep, check_nesting
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import LEXBOR, ChunkSettings
from beam_reuse.core.text import NO_STRINGS, ByteStrings, Document, read_html, read_plain
from beam_reuse.core.tokens import (
    image_tokens,
    line_fingerprints,
    scan_plain,
    scan_text,
    token_texts,
)
from beam_reuse.core.urls import PageName

__all__ = [
    "FeatureSettings", "PageFeatures", "Reads", "Signer", "TooDeep", "TooLarge", "needs_decoding",
    "page_features", "tokens_of",
]

# Of a larger document the hashes of words or chunks may take more than the 2 GB that a value of
# a column may have: a chunk of three bytes has a hash of twenty.
MAX_DOCUMENT = 256 << 20

CHUNKS, TOKENS, LINES, LINKS, PAYLOAD = "chunks", "tokens", "lines", "links", "payload"
LINE_TOKENS = "line_tokens"
STORED = "stored"
"""The record itself, as its file has it; no index keeps it."""
UNSTORED = "unstored"
"""The payload of pages whose record is not there as it is stored."""
EVERYTHING = frozenset((CHUNKS, TOKENS, LINES, LINE_TOKENS, LINKS, PAYLOAD))
_NONE = np.zeros(0, np.uint64)
_NO_NUMBERS = np.zeros(0, np.uint32)


class TooLarge(ValueError):
    """A document of which no features are computed; the message names the limit."""


class Signer(Protocol):
    """Who makes short signatures of a page's tokens where it is parsed, a fraction of them."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the signatures are called where they are stored: the same for the same ones."""

    def sign(
        self, tokens: np.ndarray, offsets: np.ndarray, texts: np.ndarray,
    ) -> tuple[np.ndarray, ...]:
        """For each name the signatures ('V16', or as wide as they are) of the pages whose tokens
        are tokens[offsets[i]:offsets[i + 1]], the first texts[i] of them of the text."""


@dataclass(frozen=True)
class Reads:
    """What an analysis looks at: which features of a page, whether its `text`, and by whom pages
    are signed."""

    features: frozenset[str] = frozenset()
    text: bool = False
    signer: Signer | None = None


@dataclass(frozen=True)
class FeatureSettings:
    """How pages are cut into chunks, whether their text is looked at at all, and what is `kept`
    of them. Chunks, tokens and lines that are not kept are only counted. What `signers` sign is
    kept, too.

    >>> FeatureSettings(ChunkSettings(normalise="text"), text=True).chunks.normalise
    'text'
    """

    chunks: ChunkSettings
    text: bool
    kept: frozenset[str] = EVERYTHING
    signers: tuple[Signer, ...] = ()

    @staticmethod
    def of(chunks: ChunkSettings, reads: Iterable[Reads]) -> "FeatureSettings":
        """What several analyses look at together: nothing else is hashed or written."""
        every = list(reads)
        return FeatureSettings(
            chunks, any(each.text for each in every),
            frozenset().union(*(each.features for each in every)),
            tuple(each.signer for each in every if each.signer is not None))


class PageFeatures(NamedTuple):
    """Features of one page; empty where they were not asked for.

    `tokens`, `images` and `lines` are fingerprints (uint64) in document order, `paragraphs`
    the numbers (uint32) of the lines that start one, `line_tokens` how many tokens (uint32) each
    line has; `links` and `base` are as written.
    """

    sha1: bytes
    chunk_count: int
    chunks: Chunks
    tokens: np.ndarray = _NONE
    line_count: int = 0
    images: np.ndarray = _NONE
    lines: np.ndarray = _NONE
    paragraphs: np.ndarray = _NO_NUMBERS
    line_tokens: np.ndarray = _NO_NUMBERS
    links: ByteStrings = NO_STRINGS
    base: bytes | None = None


def needs_decoding(page: RawPage, settings: FeatureSettings) -> bool:
    """Whether the features of a page are computed from its decoded text: not those of kinds without
    text, nor those of plain text in UTF-8, which is read as it is where it is cut into chunks as
    text and lines are not kept. HTML that is cut by its text always."""
    if cuts_text(page.kind, settings.chunks):
        return True
    read_as_it_is = (
        page.kind is Kind.TEXT and page.charset == "utf-8" and not settings.chunks.classic
        and LINES not in settings.kept and not page.payload.startswith(BOM_UTF8))
    return settings.text and page.kind.has_text and not read_as_it_is


def page_features(
    page: RawPage, name: PageName, text: str | None, settings: FeatureSettings,
    parser: str = LEXBOR,
) -> PageFeatures:
    """Features of a page. `text` is its decoded payload, where it `needs_decoding`; `parser` reads
    its HTML.

    Raises `TooDeep` for HTML no parser should see and `TooLarge` for documents above the limit,
    whether or not text is asked for, so that the accounting of a run does not depend on its
    analyses. Parses at most once, and not at all where neither analyses nor chunks need text.
    Cost: some 15 µs, 4 ns per byte, and the parse.
    """
    if page.kind.has_chunks and len(page.payload) > MAX_DOCUMENT:
        raise TooLarge(f"a document of more than {MAX_DOCUMENT} bytes, whatever "
                       "--max-record-bytes allows")
    if page.kind is Kind.HTML:
        check_nesting(page.payload, page.charset)
    sha1 = file_sha1(page.payload)
    if settings.text and page.kind is Kind.TEXT and text is None:
        chunks = _byte_chunks(page, settings)
        scanned = scan_plain(page.payload)
        return PageFeatures(sha1, scanned.chunks, chunks, scanned.tokens, scanned.lines)
    document = _parsed(page, text, settings, parser)
    chunks, chunk_count = _counted_chunks(page, document, settings)
    if document is None or not settings.text:
        return PageFeatures(sha1, chunk_count, chunks)
    scanned = scan_text(document.text)
    images = image_tokens(document.images, document.base, name)
    lines, paragraphs = (
        line_fingerprints(document.text) if LINES in settings.kept else (_NONE, _NO_NUMBERS))
    return PageFeatures(sha1, chunk_count, chunks, scanned.tokens, scanned.lines, images, lines,
                        paragraphs, scanned.line_tokens, document.links, document.base)


def _parsed(
    page: RawPage, text: str | None, settings: FeatureSettings, parser: str,
) -> Document | None:
    """The page parsed, once for all who need its text; None if nobody does."""
    if text is None or not page.kind.has_text:
        return None
    if cuts_text(page.kind, settings.chunks):
        return read_html(text, settings.chunks.tags, parser)
    if not settings.text:
        return None
    return read_html(text, parser=parser) if page.kind is Kind.HTML else read_plain(text)


def _counted_chunks(
    page: RawPage, document: Document | None, settings: FeatureSettings
) -> tuple[Chunks, int]:
    """The chunks, if they are kept, and their number."""
    kept = CHUNKS in settings.kept
    if cuts_text(page.kind, settings.chunks):
        assert document is not None, "a page that is cut by its text, without it"
        chunks = chunk_document(document) if kept else NO_CHUNKS
        return chunks, len(chunks) if kept else count_document_chunks(document)
    chunks = _byte_chunks(page, settings)
    return chunks, len(chunks) if kept else count_chunks(page.payload, page.kind, settings.chunks)


def _byte_chunks(page: RawPage, settings: FeatureSettings) -> Chunks:
    if CHUNKS not in settings.kept:
        return NO_CHUNKS
    return chunk_page(page.payload, page.kind, settings.chunks)


def tokens_of(page: str, html: bool = True) -> list[str]:
    """The tokens of a page's text in order, as quilts and `N-words` count them, without those of
    images: of HTML, or of plain text. `tokens_of(page)[start:end]` are the words of a span.

    >>> tokens_of("<p>Once upon <b>a</b> time")
    ['once', 'upon', 'a', 'time']
    >>> tokens_of("Plain: 2 < 3", html=False)
    ['plain', '2', '3']
    """
    return token_texts((read_html(page) if html else read_plain(page)).text)
