"""Labels: hashes of known content, each with where it came from."""

from dataclasses import dataclass
from enum import IntEnum

from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.urls import BadUrl, name_page


class LabelKind(IntEnum):
    """What a label's hash is of. A bare hash is looked for in both."""

    FILE = 0
    CHUNK = 1
    ANY = 2


@dataclass(frozen=True)
class LabelSettings:
    """How the pages were cut that a list of labels was made from."""

    chunks: ChunkSettings
    min_chunk_bytes: int


def source_name(source_url: str | bytes) -> str:
    """Whom content is attributed to: the registered domain of its source; the source itself
    where that is no URL, and '' where there is none."""
    text = source_url if isinstance(source_url, str) else source_url.decode("utf-8", "replace")
    try:
        return name_page(text).domain
    except BadUrl:
        return text
