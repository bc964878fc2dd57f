"""The text rule of SPEC §4, walked over a tree, and two trees to walk: html5lib's and lexbor's.

A tree is a list of events in document order: ("start", name, attributes), ("text", data) and
("end", name). Elements that are left out have no content in it; svg and math are such.
"""

import re
from collections.abc import Iterator

import html5lib
from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

INLINE = {
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
    "time", "tt", "u", "var", "wbr",
}
LEFT_OUT = {"script", "style", "template", "noscript", "iframe", "object", "svg", "math"}

Event = tuple[str, ...]


def html5lib_tree(html: str) -> list[Event]:
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    return _merged(_etree_events(parser.parse(html)))


def _etree_events(root: object) -> Iterator[Event]:
    stack = [("enter", root)]
    while stack:
        step, node = stack.pop()
        if step == "leave":
            yield ("end", _local(node.tag))  # type: ignore[attr-defined]
            if node.tail:  # type: ignore[attr-defined]
                yield ("text", node.tail)  # type: ignore[attr-defined]
        elif not isinstance(node.tag, str):  # type: ignore[attr-defined]
            if node.tail:  # type: ignore[attr-defined]
                yield ("text", node.tail)  # type: ignore[attr-defined]
        else:
            name = _local(node.tag)  # type: ignore[attr-defined]
            yield ("start", name, *_wanted(name, dict(node.attrib)))  # type: ignore[attr-defined]
            stack.append(("leave", node))
            if name not in LEFT_OUT:
                if node.text:  # type: ignore[attr-defined]
                    yield ("text", node.text)  # type: ignore[attr-defined]
                stack += [("enter", child) for child in reversed(node)]  # type: ignore[call-overload]


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def lexbor_tree(html: str) -> list[Event]:
    document = HTMLTree.parse(html).document
    return _merged(event for child in document.child_nodes for event in _dom_events(child))


def _dom_events(root: DOMNode) -> Iterator[Event]:
    stack = [("enter", root)]
    while stack:
        step, node = stack.pop()
        if step == "leave":
            yield ("end", node.tag)
        elif node.type == NodeType.TEXT:
            yield ("text", node.value)
        elif node.type == NodeType.ELEMENT:
            attributes = {name: node.getattr(name, "") for name in ("href", "src")
                          if node.hasattr(name)}
            yield ("start", node.tag, *_wanted(node.tag, attributes))
            stack.append(("leave", node))
            if node.tag not in LEFT_OUT:
                stack += [("enter", child) for child in reversed(node.child_nodes)]


def _wanted(name: str, attributes: dict[str, str]) -> list[str]:
    attribute = {"a": "href", "area": "href", "base": "href", "img": "src"}.get(name)
    return [attributes[attribute]] if attribute and attribute in attributes else []


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
