"""The tree of a page as events in document order, of either parser.

An event is ("start", name), ("text", characters) or ("end", name). Start tags of `a`, `area`,
`base` and `img` have their `href` or `src` as a third value, if they have one. Of elements that are
left out (`script` ...) there is no content. Text may come in pieces.
"""

from collections.abc import Iterator

from resiliparse.parse.html import HTMLTree, NodeType

from beam_reuse.kernels.html import LEFT_OUT, NAMES

Event = tuple[str, ...]

_LEFT_OUT = frozenset(NAMES[LEFT_OUT].split())
_REFERENCES = {"a": "href", "area": "href", "base": "href", "img": "src"}


def without_surrogates(html: str) -> str:
    """The same characters, lone surrogates read as U+FFFD."""
    return html.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_html(html: str) -> HTMLTree:
    """lexbor's tree of any string."""
    try:
        return HTMLTree.parse(html)
    except UnicodeEncodeError:
        return HTMLTree.parse(without_surrogates(html))


def lexbor_events(tree: HTMLTree) -> Iterator[Event]:
    """The events of lexbor's tree; memory: the names of the elements above a node."""
    above: list[str] = []
    node = tree.document.first_child
    while node is not None:
        if node.type == NodeType.TEXT:
            yield "text", node.value
        elif node.type == NodeType.ELEMENT:
            tag = node.tag
            reference = _REFERENCES.get(tag)
            value = None if reference is None else node.getattr(reference)
            yield ("start", tag) if value is None else ("start", tag, value)
            child = None if tag in _LEFT_OUT else node.first_child
            if child is not None:
                above.append(tag)
                node = child
                continue
            yield "end", tag
        while node.next is None and above:
            node = node.parent
            yield "end", above.pop()
        node = node.next


def html5lib_events(html: str) -> Iterator[Event]:
    """The events of html5lib's tree of any string: some fifty times the time that lexbor takes."""
    import html5lib  # which is installed for this alone

    builder = html5lib.getTreeBuilder("etree")
    parser = html5lib.HTMLParser(builder, namespaceHTMLElements=False)
    root = parser.parse(without_surrogates(html))
    stack = [(True, root)]
    while stack:
        enters, node = stack.pop()
        if not enters or not isinstance(node.tag, str):  # comments have a function as their tag
            if not enters:
                yield "end", _local(node.tag)
            if node.tail:
                yield "text", node.tail
            continue
        tag = _local(node.tag)
        value = node.get(_REFERENCES.get(tag, ""))
        yield ("start", tag) if value is None else ("start", tag, value)
        stack.append((False, node))
        if tag not in _LEFT_OUT:
            if node.text:
                yield "text", node.text
            stack += [(True, child) for child in reversed(node)]


def _local(tag: str) -> str:
    """A name without its namespace, which those of svg and math have."""
    return tag.rpartition("}")[2]
