"""The text of a page with its line breaks, its links, its images.

HTML is parsed once (lexbor), written out again, which makes it regular, and read by one
kernel. Where the written form is ambiguous the tree itself is walked instead, as is the tree of
html5lib, the slow reference.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np
from resiliparse.parse.html import HTMLTree

from beam_reuse.core.settings import HTML5LIB, LEXBOR
from beam_reuse.core.trees import Event, html5lib_events, lexbor_events, parse_html
from beam_reuse.kernels.html import (
    INLINE,
    IS_BASE,
    IS_IMAGE,
    IS_LINK,
    NAMES,
    scan,
    unescape_values,
)

_INLINE_TAGS = frozenset(NAMES[INLINE].split())

# Writing out a tree takes time quadratic in its size from about here on (20 s at 48 MB).
MAX_WRITTEN = 8 << 20

# What `str.splitlines` takes for the end of a line, beside a line feed.
PLAIN_LINE_ENDS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

_RAW = ("style", "script", "xmp", "iframe", "noembed", "noframes", "plaintext")
_RAW_IN_FOREIGN = ", ".join(f"{outer} {inner}" for outer in ("svg", "math") for inner in _RAW)


@dataclass(frozen=True, slots=True)
class ByteStrings:
    """Byte strings end to end in `data` (uint8); string i ends where i + 1 starts."""

    data: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __contains__(self, value: object) -> bool:
        return any(value == mine for mine in self)

    def __iter__(self) -> Iterator[bytes]:
        data, ends = self.data.tobytes(), self.offsets.tolist()
        for start, end in pairwise(ends):
            yield data[start:end]

    @staticmethod
    def of(values: list[bytes]) -> "ByteStrings":
        offsets = np.zeros(len(values) + 1, np.int64)
        np.cumsum([len(value) for value in values], out=offsets[1:])
        return ByteStrings(np.frombuffer(b"".join(values), np.uint8), offsets)


NO_STRINGS = ByteStrings.of([])
_NO_CUTS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Document:
    """What the analyses need of a parsed page.

    `text` is UTF-8. There is a form feed where a block element starts or ends (never two in a
    row, none at the start), a newline where only the line ends: at `br`, at a newline in
    pre, at a line end of plain text. `links` are the `href` of `a` and `area`, `images` the
    `src` of `img`, as written in the page, in document order; `base` is the first
    `<base href>`. What is inside an element that is left out is in none of them. `cuts` are
    the positions in `text` (int64, ascending) where elements start at which the reader was asked
    to cut.
    """

    text: bytes
    links: ByteStrings
    images: ByteStrings
    base: bytes | None
    cuts: np.ndarray = field(default_factory=_NO_CUTS.copy)


def read_plain(text: str) -> Document:
    """Plain text: taken as it is, its lines by `str.splitlines()`."""
    has_others = any(end in text for end in PLAIN_LINE_ENDS)
    lines = "\n".join(text.splitlines()) if has_others else text.removesuffix("\n")
    return Document(lines.encode("utf-8", "surrogatepass"), NO_STRINGS, NO_STRINGS, None)


def read_html(html: str, cutting: tuple[str, ...] = (), parser: str = LEXBOR) -> Document:
    """Text, links and images of HTML, by the tree that HTML5's rules give, and the positions
    where elements of the names `cutting` start.

    Total: any string is HTML; lone surrogates are read as U+FFFD. The caller has refused
    pages whose tree would explode (`core.nesting`). Cost: about 1.4 parses; the interpreter
    lock is held for a third of it. With the `parser` html5lib, the slow reference, the same is read
    of another program's tree, node by node.
    """
    if parser == HTML5LIB:
        return walk(html5lib_events(html), cutting)
    return read_tree(parse_html(html), len(html), cutting)


def read_tree(tree: HTMLTree, length: int, cutting: tuple[str, ...] = ()) -> Document:
    """What `read_html` gives of a tree of so many characters of HTML."""
    scanned = _scan(tree, length, cutting)
    if scanned is None:
        return walk(lexbor_events(tree), cutting)
    written, text, references, cuts = scanned
    base = next(iter(ByteStrings(*unescape_values(written, references, IS_BASE))), None)
    return Document(
        text.tobytes(),
        ByteStrings(*unescape_values(written, references, IS_LINK)),
        ByteStrings(*unescape_values(written, references, IS_IMAGE)),
        base,
        cuts,
    )


def read_text(tree: HTMLTree, length: int, cutting: tuple[str, ...] = ()) -> Document:
    """The same without links, images and base, for whom the text alone matters."""
    scanned = _scan(tree, length, cutting)
    if scanned is None:
        return walk(lexbor_events(tree), cutting)
    return Document(scanned[1].tobytes(), NO_STRINGS, NO_STRINGS, None, scanned[3])


def _scan(
    tree: HTMLTree, length: int, cutting: tuple[str, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """The tree as it is written, and what the kernel finds there: text, references, cuts. None
    where the tree itself has to be walked."""
    if length > MAX_WRITTEN:
        return None
    written = np.frombuffer(str(tree).encode("utf-8"), np.uint8)
    text, references, cuts, doubt = scan(written, name_rows(cutting))
    if doubt == 2 or (doubt == 1 and _misleads(tree)):
        return None
    return written, text, references, cuts


@lru_cache(maxsize=16)
def name_rows(names: tuple[str, ...]) -> np.ndarray:
    """Names of elements as kernels take them: rows of bytes (uint8), padded with zeros."""
    width = max(map(len, names), default=1)
    padded = b"".join(name.encode("ascii").ljust(width, b"\0") for name in names)
    return np.frombuffer(padded, np.uint8).reshape(-1, width)


def _misleads(tree: HTMLTree) -> bool:
    """Does an element in svg or math whose text is written unescaped hold something that
    reads like a tag? (Such text is rare; elements of that kind are not.)"""
    return any(
        node.first_element_child is not None or "</" in node.text
        for node in tree.document.query_selector_all(_RAW_IN_FOREIGN)
    )


def walk(events: Iterable[Event], cutting: Sequence[str] = ()) -> Document:
    """The definition of `Document`, event by event: some 2 µs for each node, under the lock."""
    pieces: list[str] = []
    cuts: list[int] = []
    values: dict[str, list[bytes]] = {"a": [], "img": [], "base": []}
    in_pre = 0
    for kind, value, *reference in events:
        if kind == "text":
            if value:
                pieces.append(_clean(value, in_pre > 0))
            continue
        starts = kind == "start"
        in_pre += (1 if starts else -1) * (value == "pre")
        if value == "br":
            pieces += ["\n"] * starts
        elif value not in _INLINE_TAGS and pieces and pieces[-1] != "\f":
            pieces.append("\f")
        if starts and value in cutting:
            cuts.append(len(pieces))
        if reference:
            values["a" if value == "area" else value].append(reference[0].encode("utf-8"))
    base = values["base"][0] if values["base"] else None
    text = ByteStrings.of([piece.encode("utf-8") for piece in pieces])
    return Document(text.data.tobytes(), ByteStrings.of(values["a"]),
                    ByteStrings.of(values["img"]), base, text.offsets[cuts])


def _clean(text: str, in_pre: bool) -> str:
    text = text.replace("\f", " ")
    return text if in_pre else text.replace("\n", " ")
