"""The text rule of SPEC §4, walked over a tree, and two trees to walk: html5lib's and lexbor's.

A tree is a list of events as `core.trees` gives them; text that is one node comes in one piece.
"""

import re
from collections.abc import Iterator

from resiliparse.parse.html import HTMLTree

from beam_reuse.core.trees import Event, html5lib_events, lexbor_events

INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
}


def html5lib_tree(html: str) -> list[Event]:
    return _merged(html5lib_events(html))


def lexbor_tree(html: str) -> list[Event]:
    return _merged(lexbor_events(HTMLTree.parse(html)))


def _merged(events: Iterator[Event]) -> list[Event]:
    """Events with neighbouring text nodes as one, and no empty ones."""
    merged: list[Event] = []
    for event in events:
        if event[0] != "text":
            merged.append(event)
        elif merged and merged[-1][0] == "text":
            merged[-1] = ("text", merged[-1][1] + event[1])
        elif event[1]:
            merged.append(event)
    return merged


def text_of(tree: list[Event]) -> str:
    """Text with a form feed at block boundaries, a newline where only the line ends."""
    pieces = []
    open_pre = 0
    for event in tree:
        if event[0] == "text":
            text = event[1].replace("\f", " ")
            pieces.append(text if open_pre else text.replace("\n", " "))
            continue
        if event[1] == "pre":
            open_pre += 1 if event[0] == "start" else -1
        if event[1] == "br":
            pieces.append("\n" if event[0] == "start" else "")
        elif event[1] not in INLINE:
            pieces.append("\f")
    return re.sub("\f+", "\f", "".join(pieces)).removeprefix("\f")


def values_of(tree: list[Event], names: set[str]) -> list[str]:
    return [event[2] for event in tree if event[0] == "start" and event[1] in names
            and len(event) > 2]
