"""What phishing kits do to a page that they have saved, for `phishing.py`.

Every kit takes the HTML of an original and a source of chance, and gives the HTML of its copy.
"""

import codecs
import random
import re
from collections.abc import Callable

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

Kit = Callable[[str, random.Random], str]
_BLOCK = re.compile(r"<(?:p|div)(?=[\s/>])", re.IGNORECASE)
_LEFT_OUT = ("script", "style", "template", "noscript", "iframe", "object", "svg", "math")
_SCRIPT = re.compile(r"(<(script|style)\b[^>]*>).*?(</\2>)", re.DOTALL)
_TAG = re.compile(r'<[a-z][^\s/>]*(?:\s+[^\s=>"/]+(?:="[^"]*")?)*\s*/?>')
_LINKS = ("href", "src", "action", "data", "content")
_ATTRIBUTE = re.compile(
    rf' ({"|".join(_LINKS)}|class|id|style|name|title|alt)="[^"]*"')
EVIL = "https://evil.example/post.php?id="


def unmodified(html: str, dice: random.Random) -> str:
    """Saved as it is."""
    return html


def rewritten(html: str, dice: random.Random) -> str:
    """Every link, class, id, style and script is another, tags are written otherwise, and one text
    in ten has another word."""
    tree = HTMLTree.parse(html)
    for node in _texts(tree):
        if dice.random() < 0.1:
            node.text = f"{node.text} {dice.choice(['now', '2026', 'secure', 'update'])}"
    # Attributes are changed as text: after many changes of one tree its library ends the process.
    written = _SCRIPT.sub(lambda found: f"{found[1]}var x{found.start()} = '<p>';{found[3]}",
                          str(tree))
    written = _TAG.sub(lambda found: _with_other_attributes(found[0], dice), written)
    written = written.replace("<b ", "<strong ").replace("</b>", "</strong>")
    return written.replace("<body", f"<!-- {dice.random()} --><body", 1)


def _with_other_attributes(tag: str, dice: random.Random) -> str:
    """A start tag, as trees are written out, with other links, classes and so on."""
    def changed(found: re.Match[str]) -> str:
        number = dice.randrange(10 ** 6)
        return f' {found[1]}="{EVIL if found[1] in _LINKS else "x"}{number}"'

    name, attributes = re.fullmatch(r"(<[^\s/>]+)(.*)", tag, re.DOTALL).groups()  # type: ignore
    return f'{name} data-v="{dice.randrange(10 ** 6)}"{_ATTRIBUTE.sub(changed, attributes)}'


def cut(html: str, dice: random.Random) -> str:
    """A third of the page, from one block to another."""
    starts = [found.start() for found in _BLOCK.finditer(html)]
    if len(starts) < 6:
        return html
    first = dice.randrange(len(starts) - len(starts) // 3)
    last = first + len(starts) // 3
    return f"<title>Sign in</title>{html[starts[first]:starts[last]]}"


def translated_frame(html: str, dice: random.Random) -> str:
    """What is around the content is in another language: the first and the last quarter of the
    texts, and the texts of all links. (Words are replaced, not translated.)"""
    tree = HTMLTree.parse(html)
    texts = _texts(tree)
    for at, node in enumerate(texts):
        framed = not len(texts) // 4 <= at < len(texts) - len(texts) // 4
        if framed or (node.parent is not None and node.parent.tag == "a"):
            node.text = codecs.encode(node.text, "rot13")
    return str(tree)


def regrouped(html: str, dice: random.Random) -> str:
    """The same words in a layout of tables: no p and no div is left."""
    return re.sub(r"<(/?)(?:p|div)(?=[\s/>])", r"<\1td", html, flags=re.IGNORECASE)


KITS: dict[str, Kit] = {
    "unmodified": unmodified, "rewritten": rewritten, "cut": cut,
    "translated-frame": translated_frame, "regrouped": regrouped,
}


def _texts(tree: HTMLTree) -> list[DOMNode]:
    """The text nodes that a reader sees, in document order."""
    found = []
    node = tree.document.first_child
    while node is not None:
        if node.type == NodeType.TEXT and node.text.strip():
            found.append(node)
        child = node.first_child if not (
            node.type == NodeType.ELEMENT and node.tag in _LEFT_OUT) else None
        while child is None and node is not None:
            child = node.next
            node = node.parent if child is None else node
        node = child
    return found
