"""A page drawn as a browser draws it, without anything that acts or loads.

What is sent is written anew from the parsed page: elements and attributes of the lists below,
the text of all others but those that browsers do not show, and rules of style that name no address.
Two walls are behind it, for what this forgets: the
frame's sandbox, which is empty, and a policy that lets it load nothing.
"""

import re
from collections.abc import Iterator
from html import escape

from resiliparse.parse.html import DOMNode, HTMLTree, NodeType

from beam_reuse.core.nesting import TooDeep, check_nesting
from beam_reuse.core.pages import Kind
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.stored_pages import StoredPage
from beam_reuse.viewer.contents import NoContent
from beam_reuse.viewer.pages import row_of
from beam_reuse.viewer.view import View

POLICY = ("sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
HEADERS = {"Content-Security-Policy": POLICY, "X-Frame-Options": "SAMEORIGIN",
           "X-DNS-Prefetch-Control": "off"}
MOST_BYTES = 4 << 20


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ELEMENTS = _names(
    "a abbr acronym address article aside b bdi bdo big blockquote body br caption center cite "
    "code col colgroup data dd del dfn dir div dl dt em fieldset figcaption figure font footer "
    "h1 h2 h3 h4 h5 h6 head header hgroup hr html i img ins kbd label legend li main mark "
    "menu nav nobr ol p pre q rp rt ruby s samp section small span strike strong style sub "
    "summary sup table tbody td tfoot th thead time title tr tt u ul var wbr")
_WITHOUT_END = _names("br col hr img wbr")
_LEFT_OUT = _names("datalist iframe noembed noframes script template")
"""What a browser shows no text of. Of other elements, of whatever name, the contents stay."""
_ATTRIBUTES = _names(
    "align alt bgcolor border cellpadding cellspacing class color cols colspan dir face height id "
    "lang nowrap reversed rowspan rows size span start style title type valign value width")
_PICTURE = re.compile(r"data:image/(png|gif|jpeg|webp|bmp);base64,[A-Za-z0-9+/=\s]+", re.I)
_ADDRESSED = re.compile(r"[\\<]|@import|@font-face|@namespace|url\(|src\(|image-set", re.I)
_RULES = re.compile(r"(?<=})")


def rendered(view: View, url: str) -> bytes:
    """A document in UTF-8 that shows the page and loads nothing, or why there is none. Cost: the
    page is parsed."""
    try:
        return harmless(_page(view, url)).encode("utf-8", "replace")
    except NoContent as error:
        return f"<!doctype html><meta charset=utf-8><p>{escape(str(error))}".encode()


def _page(view: View, url: str) -> StoredPage:
    page = view.contents.of(row_of(view, url))
    if page.kind is not Kind.HTML:
        raise NoContent("Only HTML can be drawn. Look at its source.")
    if len(page.payload) > MOST_BYTES:
        raise NoContent(f"This page has more than {MOST_BYTES:,} bytes: it is not drawn. Look at "
                        "its text.")
    try:
        check_nesting(page.payload, page.charset)
    except TooDeep as error:
        raise NoContent(f"This page is not parsed: {error}") from error
    return page


def harmless(page: StoredPage) -> str:
    """The page of nothing but what the lists above name."""
    tree = HTMLTree.parse(decode_text(page.payload, page.charset))
    root = tree.document
    return "<!doctype html><meta charset=utf-8>" + "".join(_written(root))


def _written(root: DOMNode) -> Iterator[str]:
    """A tree as markup. Without recursion: trees may be 10,000 deep."""
    todo: list[DOMNode | str] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            yield node
        elif node.type == NodeType.TEXT:
            yield escape(node.text, quote=False)
        elif node.type == NodeType.ELEMENT and node.tag == "style":
            yield f"<style>{_style(node.text)}</style>"
        elif node.type == NodeType.DOCUMENT or (
                node.type == NodeType.ELEMENT and node.tag not in _LEFT_OUT):
            kept = node.type == NodeType.ELEMENT and node.tag in _ELEMENTS
            if kept:
                yield f"<{node.tag}{_attributes(node)}>"
            if not (kept and node.tag in _WITHOUT_END):
                todo += [f"</{node.tag}>"] if kept else []
                todo += reversed(node.child_nodes)


def _attributes(node: DOMNode) -> str:
    found = []
    for name in node.attrs or ():
        value = node.getattr(name) or ""
        if (name in _ATTRIBUTES and not (name == "style" and _ADDRESSED.search(value))) or (
                name == "src" and node.tag == "img" and _PICTURE.fullmatch(value)):
            found.append(f' {name}="{escape(value)}"')
    return "".join(found)


def _style(text: str) -> str:
    """The rules that name no address."""
    return "".join(rule for rule in _RULES.split(text) if not _ADDRESSED.search(rule))
