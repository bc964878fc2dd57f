"""What phishing kits do to a page that they have saved, for `phishing.py`.

Every kit takes the HTML of an original and a source of chance, and gives the HTML of its copy.
"""

import codecs
import random
import re
from collections.abc import Callable
from html import escape, unescape

from resiliparse.parse.html import HTMLTree

Kit = Callable[[str, random.Random], str]
_BLOCK = re.compile(r"<(?:p|div)(?=[\s/>])", re.IGNORECASE)
_PIECE = re.compile(
    r"<!--.*?-->|<(script|style|template|noscript|iframe|object|svg|math)\b.*?</\1>|"
    r'<(?:[^">]|"[^"]*")*>|[^<]+|<', re.DOTALL)
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
    def another(text: str, _: bool, __: bool) -> str:
        if dice.random() >= 0.1:
            return text
        return f"{text} {dice.choice(['now', '2026', 'secure', 'update'])}"

    written = _SCRIPT.sub(lambda found: f"{found[1]}var x{found.start()} = '<p>';{found[3]}",
                          _with_texts(html, another))
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
    def translated(text: str, framed: bool, linked: bool) -> str:
        return codecs.encode(text, "rot13") if framed or linked else text

    return _with_texts(html, translated)


def regrouped(html: str, dice: random.Random) -> str:
    """The same words in a layout of tables: no p and no div is left."""
    return re.sub(r"<(/?)(?:p|div)(?=[\s/>])", r"<\1td", html, flags=re.IGNORECASE)


KITS: dict[str, Kit] = {
    "unmodified": unmodified, "rewritten": rewritten, "cut": cut,
    "translated-frame": translated_frame, "regrouped": regrouped,
}


def _with_texts(html: str, change: Callable[[str, bool, bool], str]) -> str:
    """The page with each text that a reader sees as `change` makes it of the text, of whether it is
    in the first or the last quarter of all texts, and of whether a link begins before it.

    Written as text: the library that parses ends the process when many nodes of a tree change.
    """
    pieces = list(_PIECE.finditer(str(HTMLTree.parse(html))))
    places = [at for at, piece in enumerate(pieces)
              if piece[0].strip() and not piece[0].startswith("<")]
    written = [piece[0] for piece in pieces]
    for number, at in enumerate(places):
        framed = not len(places) // 4 <= number < len(places) - len(places) // 4
        linked = at > 0 and written[at - 1].startswith("<a ")
        written[at] = escape(change(unescape(written[at]), framed, linked), quote=False)
    return "".join(written)
