"""HTML that would make a parser explode, found before the page is parsed.

HTML5's rules allow small pages whose tree takes minutes or gigabytes: elements nested
100,000 deep (each new one looks at all before it), thousands of formatting elements that
are opened again in every paragraph, a tag with a million attributes.
"""

import numpy as np
from resiliparse.parse.html import HTMLTree, NodeType

from beam_reuse.core.text import MAX_WRITTEN
from beam_reuse.kernels.nesting import first_suspicion, measure_written

MAX_NESTING = 10_000
MAX_STEPS = 300_000_000
MAX_SQUARED_ATTRIBUTES = 200_000_000

_SUSPICIOUS_COPIES = 4 << 20
_GROWTH = 16

# Tags of html or body, whose attributes a parser merges into the first one.
MAX_ROOTS = 2_000


class TooDeep(ValueError):
    """A page that is not parsed; the message says what there is too much of."""


def check_nesting(payload: bytes, charset: str = "") -> None:
    """Raise `TooDeep` if parsing this HTML would take time or memory out of all proportion.

    Exact where it matters: a page is refused for the depth, the attributes or the growth of
    its real tree. One cheap pass (about 1 GB/s) clears nearly every page; what it cannot
    clear is parsed from the start in pieces that double in length, so that no piece can
    take more than a few times as long as one within the limits.
    """
    if charset.lower().startswith("utf-16"):
        payload = payload.translate(None, b"\0")  # one byte for each ASCII character
    if payload.count(b"<") > MAX_ROOTS:
        lowered = payload.lower()
        roots = lowered.count(b"<body") + lowered.count(b"<html")
        if roots > MAX_ROOTS:
            raise TooDeep(f"{roots} tags of html or body, more than {MAX_ROOTS}: each is "
                          "compared with the attributes of all before it")
    copies = _SUSPICIOUS_COPIES + 4 * len(payload)
    at = first_suspicion(np.frombuffer(payload, np.uint8), MAX_NESTING, MAX_STEPS // 2, copies,
                         MAX_SQUARED_ATTRIBUTES // 2)
    size = max(at, 1)
    while at >= 0:
        _check_tree(payload[:size])
        if size == len(payload):
            break
        size = min(2 * size, len(payload))


def _check_tree(html: bytes) -> None:
    """Parse and measure; a tag cut at the end is closed, so that its attributes count."""
    tree = HTMLTree.parse(html.decode("latin-1") + "'\">")
    if len(html) > MAX_WRITTEN:
        elements, depth, attributes = _measure(tree)
        grown = elements > _GROWTH * html.count(b"<")
    else:
        written = str(tree)
        grown = len(written) > _GROWTH * len(html) + (1 << 20)
        depth, attributes = measure_written(np.frombuffer(written.encode(), np.uint8))
    if grown:
        raise TooDeep(f"{len(html)} bytes of HTML make a tree of more than {_GROWTH} times as much:"
                      " formatting elements are opened again in every block")
    if depth > MAX_NESTING:
        raise TooDeep(f"elements nested {depth} deep, more than {MAX_NESTING}")
    tags = html.count(b"<")
    if depth * tags > MAX_STEPS:
        raise TooDeep(f"{tags} tags on a page with elements nested {depth} deep")
    if attributes > MAX_SQUARED_ATTRIBUTES:
        raise TooDeep(f"tags with so many attributes that comparing them takes {attributes} steps")


def _measure(tree: HTMLTree) -> tuple[int, int, int]:
    """Number of elements, depth of the deepest, and attributes squared and summed: for trees
    too large to be written out, node by node."""
    elements = deepest = squares = depth = 0
    root = node = tree.document
    entering = True
    while True:
        if entering:
            if node.type == NodeType.ELEMENT:
                elements += 1
                squares += len(node.attrs) ** 2
            if node.first_child is not None:
                node = node.first_child
                depth += 1
                deepest = max(deepest, depth)
                continue
        if node == root:
            return elements, deepest, squares
        entering = node.next is not None
        if not entering:
            depth -= 1
        node = node.next if entering else node.parent
