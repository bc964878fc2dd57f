"""Chunks of SPEC §2 by regular expressions and hashlib."""

import hashlib
import re
from itertools import pairwise

from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings

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


def chunks(payload: bytes, kind: Kind, settings: ChunkSettings) -> list[tuple[str, int, int, int]]:
    """(hex SHA-1, start, end, normalised length) of each chunk."""
    bounds = chunk_bounds(payload, kind, settings)
    rows = []
    for start, end in pairwise(bounds):
        chunk = payload[start:end]
        if settings.normalise == "whitespace":
            chunk = normalise(chunk)
        rows.append((hashlib.sha1(chunk).hexdigest(), start, end, len(chunk)))
    return rows
