"""HTML and SVG of text that anybody may have written.

Everything of a crawl is escaped, and characters that would change how other text is shown
(control characters, marks that turn its direction) are shown as what they are.
"""

import re
from collections.abc import Iterable

_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"}
# C0 and C1 but for line feeds and tabs, marks of direction, what has no width, and what is no
# character.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff]")


def escaped(text: str) -> str:
    """Text that is shown as it is, in an element or in a quoted attribute."""
    seen = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return "".join(_SPECIAL.get(letter, letter) for letter in seen) if (
        any(letter in seen for letter in _SPECIAL)) else seen


def element(name: str, *content: str, **attributes: str | float | None) -> str:
    """An element; `content` is markup. Attributes that are None are left out; `class_` is `class`,
    and `_` in a name is `-`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(_value(value))}"'
        for key, value in attributes.items() if value is not None)
    return f"<{name}{given}>{''.join(content)}</{name}>"


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{round(value, 1):g}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]], caption: str = "") -> str:
    """A table of texts; columns whose every value is a number are set as numbers."""
    names, body = list(head), [list(row) for row in rows]
    numeric = [bool(body) and all(_is_number(row[i]) for row in body) for i in range(len(names))]
    kinds = ["n" if each else None for each in numeric]
    top = element("tr", *(element("th", escaped(name), scope="col", class_=kind)
                          for name, kind in zip(names, kinds, strict=True)))
    lines = (element("tr", *(element("td", escaped(cell), class_=kind)
                             for cell, kind in zip(row, kinds, strict=True))) for row in body)
    said = element("caption", escaped(caption)) if caption else ""
    return element("div", element("table", said, element("thead", top),
                                  element("tbody", *lines)), class_="scroll", tabindex="0")


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?[\d,]+(\.\d+)?( ?[%kMG]|\s[kMG]?B)?", text))
