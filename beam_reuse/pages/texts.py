"""Texts of pages parsed again, and the text of chunks, as tables show it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.columnar.block import VarBytes
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.text import read_html, read_plain
from beam_reuse.core.tokens import count_tokens
from beam_reuse.io.crawl.payload import IN_UTF8, decode_text, tokens_between
from beam_reuse.io.part_columns import PAGE_TEXT, PageRows
from beam_reuse.pages.rows import ChunkRows

TEXT_CHARACTERS = 1000


def page_texts(pages: PageRows, some: NDArray[np.bool_]) -> Iterator[bytes]:
    """The texts of `some` of the pages, which have text, as `core.text.Document` has it: parsed
    again from their payloads, by the parser of their part. Needs the columns `payload`, `charset`
    and `kind`."""
    payload, charset = pages.strings("payload"), pages.strings("charset")
    kinds = pages.numbers("kind")
    for i in np.flatnonzero(some).tolist():
        text = decode_text(payload[i], charset[i].decode())
        html = kinds[i] == Kind.HTML
        yield (read_html(text, parser=pages.parser) if html else read_plain(text)).text


def text_columns(settings: ChunkSettings) -> tuple[str, ...]:
    """The columns of pages that `ChunkTexts` needs."""
    return ("payload", "charset", *((PAGE_TEXT,) if settings.normalise == "text" else ()))


def chunk_tokens(chunks: ChunkRows, some: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many tokens each of these chunks of pages that were cut by their text has; needs
    `text_columns`. Pages that are no HTML have their payload as text."""
    rows = chunks.pages.rows
    texts, payloads, charsets = (rows.strings(n) for n in (PAGE_TEXT, "payload", "charset"))
    page = np.searchsorted(chunks.offsets, some, side="right") - 1
    start, end = chunks.start[some].astype(np.int64), chunks.end[some].astype(np.int64)
    of_text = texts.lengths()[page] > 0
    counts = np.zeros(len(some), np.int64)
    for strings, where in ((texts, of_text), (payloads, ~of_text)):
        first = strings.offsets[page[where]]
        counts[where] = count_tokens(strings.data, first + start[where], first + end[where])
    for i in np.flatnonzero(~of_text):
        charset = charsets[int(page[i])].decode()
        if charset not in IN_UTF8:
            counts[i:i + 1] = tokens_between(
                payloads[int(page[i])], start[i:i + 1], end[i:i + 1], charset)
    return counts


@dataclass(frozen=True)
class ChunkTexts:
    """The chunks of some pages, each found by the number of its page and its place there. Of a
    page that was cut by its text this text is stored, and places are those in it; of any other
    they are places in the payload."""

    payloads: pa.Array
    charsets: VarBytes
    texts: pa.Array | None
    squeezes: bool

    @staticmethod
    def of(rows: PageRows, settings: ChunkSettings) -> "ChunkTexts":
        by_text = settings.normalise == "text"
        return ChunkTexts(rows.batch.column("payload"), rows.strings("charset"),
                          rows.batch.column(PAGE_TEXT) if by_text else None, settings.squeezes)

    def source(self, page: int) -> pa.Buffer:
        """What the starts and ends of a page's chunks are places in."""
        return self._text_of(page) or self.payloads[page].as_buffer()

    def hashed(self, page: int, start: int, end: int) -> bytes:
        """The bytes of a chunk that were hashed."""
        chunk = bytes(self.source(page)[start:end])
        return b" ".join(chunk.split()) if self.squeezes else chunk

    def shown(self, page: int, chunk: bytes) -> bytes:
        """The first 1,000 characters of what `hashed` gives, as UTF-8."""
        charset = "utf-8" if self._text_of(page) else self.charsets[page].decode()
        return decode_text(chunk, charset)[:TEXT_CHARACTERS].encode("utf-8", "replace")

    def _text_of(self, page: int) -> pa.Buffer | None:
        text = None if self.texts is None else self.texts[page].as_buffer()
        return text if text is not None and text.size else None
