"""Chunks of SPEC §2 by regular expressions, html5lib and hashlib."""

import hashlib
import re
from functools import cache
from itertools import pairwise

from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from tests.oracles.text import html5lib_tree
from tests.oracles.text_chunks import chunk_texts

WHITE = rb"[\t\n\v\f\r ]"


def chunk_bounds(payload: bytes, kind: Kind, settings: ChunkSettings) -> list[int]:
    if kind is Kind.HTML or settings.classic:
        after = rb"[ \t/>]" if settings.classic else rb"[\t\n\v\f\r />]"
        tags = b"|".join(tag.encode() for tag in settings.tags)
        breaks = [m.start() for m in re.finditer(rb"(?i)<(?:%s)%s" % (tags, after), payload)]
    else:
        breaks = []
        position = 0
        previous = b"x"
        for line in re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", payload):
            if line.strip() and not previous.strip():
                breaks.append(position)
            previous = line
            position += len(line)
    return [0, *(b for b in breaks if b > 0), len(payload)]


def normalise(chunk: bytes) -> bytes:
    return re.sub(WHITE + b"+", b" ", chunk).strip(b" ")


@cache
def source(payload: bytes, kind: Kind, settings: ChunkSettings) -> bytes:
    """What chunks are places in: the payload, or the text of a page in UTF-8."""
    if settings.normalise != "text" or kind is not Kind.HTML:
        return payload
    tree = html5lib_tree(payload.decode("utf-8", "replace"))
    return "\n".join(chunk_texts(tree, settings.tags)).encode()


def hashed(chunk: bytes, settings: ChunkSettings) -> bytes:
    """What is hashed of a chunk of the source."""
    return chunk if settings.normalise == "none" else normalise(chunk)


def chunks(payload: bytes, kind: Kind, settings: ChunkSettings) -> list[tuple[str, int, int, int]]:
    """(hex SHA-1, start, end, normalised length) of each chunk."""
    whole = source(payload, kind, settings)
    rows = []
    for start, end in _places(payload, kind, settings):
        chunk = hashed(whole[start:end], settings)
        rows.append((hashlib.sha1(chunk).hexdigest(), start, end, len(chunk)))
    return rows


def _places(payload: bytes, kind: Kind, settings: ChunkSettings) -> list[tuple[int, int]]:
    if settings.normalise != "text" or kind is not Kind.HTML:
        return list(pairwise(chunk_bounds(payload, kind, settings)))
    text = source(payload, kind, settings)
    return [match.span() for match in re.finditer(rb"[^\n]+", text)]
