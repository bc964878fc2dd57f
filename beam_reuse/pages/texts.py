"""The text of a chunk, as tables show it."""

from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.crawl.payload import decode_text

TEXT_CHARACTERS = 1000


def chunk_bytes(payload: bytes, settings: ChunkSettings) -> bytes:
    """The bytes of a chunk that were hashed."""
    return b" ".join(payload.split()) if settings.normalise == "whitespace" else payload


def chunk_text(chunk: bytes, charset: bytes) -> bytes:
    """The first 1,000 characters of what `chunk_bytes` gives, as UTF-8."""
    return decode_text(chunk, charset.decode())[:TEXT_CHARACTERS].encode("utf-8", "replace")
