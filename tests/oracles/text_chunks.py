"""Chunks of text (SPEC §2), walked over any tree: what a few lines in a browser would do.

A tree is a list of events as in `tests.oracles.text`; elements that are left out have no content
in it.
"""

import hashlib
import re
from collections.abc import Collection, Iterable

from tests.oracles.text import INLINE, Event

WHITE = re.compile("[\t-\r ]+")


def chunk_texts(tree: Iterable[Event], tags: Collection[str] = ("p", "div")) -> list[str]:
    """The chunks of a page as they are hashed."""
    chunks = [""]
    for kind, value, *_ in tree:
        if kind == "text":
            chunks[-1] += value
            continue
        if value not in INLINE:
            chunks[-1] += " "
        if kind == "start" and value in tags:
            chunks.append("")
    texts = (WHITE.sub(" ", chunk).strip(" ") for chunk in chunks)
    return [text for text in texts if text]


def chunk_hashes(texts: Iterable[str]) -> list[str]:
    """The SHA-1 of each, in hexadecimal digits."""
    return [hashlib.sha1(text.encode()).hexdigest() for text in texts]
