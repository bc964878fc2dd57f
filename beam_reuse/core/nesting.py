"""HTML that would make a parser explode, found before the page is parsed.

HTML5's rules allow small pages whose tree takes minutes or gigabytes: elements nested
100,000 deep (each new one looks at all before it), thousands of formatting elements that
are opened again in every paragraph, a tag with a million attributes.
"""

import numpy as np
from resiliparse.parse.html import HTMLTree

from beam_reuse.kernels.nesting import first_suspicion, measure_written

MAX_NESTING = 10_000
MAX_STEPS = 300_000_000
MAX_SQUARED_ATTRIBUTES = 200_000_000

_SUSPICIOUS_COPIES = 4 << 20
_MAX_CHECKED = 12 << 20
_GROWTH = 16


class TooDeep(ValueError):
    """A page that is not parsed; the message says what there is too much of."""


def check_nesting(payload: bytes) -> None:
    """Raise `TooDeep` if parsing this HTML would take time or memory out of all proportion.

    Exact where it matters: a page is refused for the depth, the attributes or the growth of
    its real tree. One cheap pass (about 1 GB/s) clears nearly every page; what it cannot
    clear is parsed from the start in pieces that double in length, so that no piece can
    take more than a few times as long as one within the limits.
    """
    data = np.frombuffer(payload, np.uint8)
    at = first_suspicion(
        data, MAX_NESTING, MAX_STEPS // 2, _SUSPICIOUS_COPIES, MAX_SQUARED_ATTRIBUTES // 2)
    if at < 0:
        return
    size = max(at, 1)
    while True:
        _check_tree(payload[:size])
        if size >= len(payload):
            return
        size = min(2 * size, len(payload))
        if size > _MAX_CHECKED:
            raise TooDeep(f"more than {_MAX_CHECKED >> 20} MB of HTML with tags not closed")


def _check_tree(html: bytes) -> None:
    """Parse and measure; a tag cut at the end is closed, so that its attributes count."""
    written = str(HTMLTree.parse(html.decode("latin-1") + "'\">"))
    if len(written) > _GROWTH * len(html) + (1 << 20):
        raise TooDeep(f"{len(html)} bytes of HTML make a tree of {len(written)}: formatting "
                      "elements are opened again in every block")
    depth, attributes = measure_written(np.frombuffer(written.encode(), np.uint8))
    if depth > MAX_NESTING:
        raise TooDeep(f"elements nested {depth} deep, more than {MAX_NESTING}")
    tags = html.count(b"<")
    if depth * tags > MAX_STEPS:
        raise TooDeep(f"{tags} tags on a page with elements nested {depth} deep")
    if attributes > MAX_SQUARED_ATTRIBUTES:
        raise TooDeep(f"tags with so many attributes that comparing them takes {attributes} steps")
