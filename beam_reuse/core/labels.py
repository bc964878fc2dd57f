"""Labels: hashes of known content, each with where it came from."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.urls import BadUrl, name_page

# The number of domains of a label of which it is not known.
UNKNOWN_DOMAINS = (1 << 32) - 1


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
    min_chunk_tokens: int = 0


def evidence(
    domains: NDArray[np.int64], known: NDArray[np.bool_], sourced: NDArray[np.bool_],
) -> NDArray[np.uint32]:
    """How weak each source of a label is: the number of domains that the content occurs on, the
    most where this is not `known`, or the source is not (`sourced`). The strongest source of a
    label has the least, and of these the smallest URL."""
    told = known & sourced & (domains > 0)
    return np.where(told, np.minimum(domains, UNKNOWN_DOMAINS - 1), UNKNOWN_DOMAINS).astype(
        np.uint32)


def source_name(source_url: str | bytes) -> str:
    """Whom content is attributed to: the registered domain of its source; the source itself
    where that is no URL, and '' where there is none."""
    text = source_url if isinstance(source_url, str) else source_url.decode("utf-8", "replace")
    try:
        return name_page(text).domain
    except BadUrl:
        return text
