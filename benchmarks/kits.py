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
EVIL = "https://evil.example/post.php?id="


def unmodified(html: str, dice: random.Random) -> str:
    """Saved as it is."""
    return html


def rewritten(html: str, dice: random.Random) -> str:
    """Every link, class, id, style and script is another, tags are written otherwise, and one text
    in ten has another word."""
    tree = HTMLTree.parse(html)
    for number, element in enumerate(tree.document.query_selector_all("*")):
        for name in element.attrs:
            if name in ("href", "src", "action", "data", "content"):
                element[name] = f"{EVIL}{number}"
            elif name in ("class", "id", "style", "name", "title", "alt"):
                element[name] = f"x{dice.randrange(10 ** 6)}"
        element["data-v"] = str(dice.randrange(10 ** 6))
        if element.tag in ("script", "style"):
            element.text = f"var x{number} = '<p>' + {number};"
    tree = HTMLTree.parse(str(tree))  # lexbor frees memory twice after many changes of one tree
    for node in _texts(tree):
        if dice.random() < 0.1:
            node.text = f"{node.text} {dice.choice(['now', '2026', 'secure', 'update'])}"
    written = str(tree).replace("<b ", "<strong ").replace("</b>", "</strong>")
    return written.replace("<body", f"<!-- {dice.random()} --><body", 1)


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
