"""Where HTML declares its canonical URL and its date: one pass over the bytes of a page, as the
tokenizer of a browser reads them, without making a tree."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.element_names import key_of, name_table, slot_of

# Kinds of places: the tags of `link`, `base`, `meta`, `script` and `time`; and the word, in any
# case, that a tag must have to be one.
IS_CANONICAL, IS_BASE, IS_META, IS_LINKED_DATA, IS_TIME = range(5)
_WORDS = ("canonical", "href", "published_time", "ld+json", "datetime")
KINDS = 5
MOST_PLACES = 64
MOST_BYTES = 64 << 10

(_LINK, _BASE, _META, _SCRIPT, _TIME, _TEXT, _PLAINTEXT, _FOREIGN, _TEMPLATE, _ARTICLE, _HEAD,
 _BODY) = (1 << bit for bit in range(12))
_NAMES = {
    _LINK: "link", _BASE: "base", _META: "meta", _SCRIPT: "script", _TIME: "time",
    # Elements whose content is text, whatever it looks like.
    _TEXT: "script title textarea style xmp iframe noembed noframes noscript",
    _PLAINTEXT: "plaintext", _FOREIGN: "svg math", _TEMPLATE: "template", _ARTICLE: "article",
    _HEAD: "head", _BODY: "body",
}
_PLAINTEXT_KEY, _PLAINTEX, _SCRIPT_KEY, _TEMPLATE_KEY = (
    np.uint64(key) for key in (1, key_of("plaintext"), key_of("script"), key_of("template")))
_KEYS, _FLAGS = name_table(_NAMES, {"plaintext": int(_PLAINTEXT_KEY)})
_LESS, _GREATER, _SLASH, _EQUALS, _DOUBLE, _SINGLE, _BANG, _DASH, _MARK = np.frombuffer(
    b"<>/=\"'!-?", np.uint8)
_WORD_ROWS = np.frombuffer(b"".join(
    word.encode().ljust(16, b"\0") for word in _WORDS), np.uint8).reshape(-1, 16)


@kernel
def _is_white(byte: np.uint8) -> bool:
    return bool(byte in (0x20, 0x09, 0x0A, 0x0C, 0x0D))


@kernel
def _is_letter(byte: np.uint8) -> bool:
    return bool(0x61 <= byte | 0x20 <= 0x7A)


@kernel
def _lower(byte: np.uint8) -> np.uint8:
    return np.uint8(byte | 0x20) if 0x41 <= byte <= 0x5A else byte


@kernel
def _name_at(data: np.ndarray, at: int) -> tuple[np.uint64, int]:
    """Key of the name of a tag at `at` (0 if it is no known one), and the position behind it."""
    key = np.uint64(0)
    start = at
    while at < len(data) and not (_is_white(data[at]) or data[at] in (_SLASH, _GREATER)):
        if at - start < 8:
            key |= np.uint64(_lower(data[at])) << np.uint64(8 * (at - start))
        at += 1
    if at - start > 8:
        long = at - start == 9 and key == _PLAINTEX and _lower(data[at - 1]) == 0x74
        key = _PLAINTEXT_KEY if long else np.uint64(0)
    return key, at


@kernel
def _tag_end(data: np.ndarray, at: int) -> tuple[int, bool]:
    """From behind the name of a tag: the position of its `>`, or the length of the data if it has
    none, and whether it closes itself."""
    size = len(data)
    closes = False
    while at < size and data[at] != _GREATER:
        closes = data[at] == _SLASH
        at += 1
        if closes or _is_white(data[at - 1]):
            continue
        while at < size and not (
                _is_white(data[at]) or data[at] in (_SLASH, _GREATER, _EQUALS)):
            at += 1
        while at < size and _is_white(data[at]):
            at += 1
        if at >= size or data[at] != _EQUALS:
            continue
        at += 1
        while at < size and _is_white(data[at]):
            at += 1
        if at < size and data[at] in (_DOUBLE, _SINGLE):
            quote = data[at]
            at += 1
            while at < size and data[at] != quote:
                at += 1
            at += 1
        else:
            while at < size and data[at] != _GREATER and not _is_white(data[at]):
                at += 1
    return min(at, size), closes


@kernel
def _declaration_end(data: np.ndarray, at: int) -> int:
    """The position behind the comment, doctype or the like whose `<` is at `at`."""
    size = len(data)
    comment = (at + 3 < size and data[at + 1] == _BANG and data[at + 2] == _DASH
               and data[at + 3] == _DASH)
    at += 4 if comment else 2
    first = at
    while at < size:
        if data[at] == _GREATER:
            length = at - first
            if not comment or length == 0 or (length == 1 and data[at - 1] == _DASH):
                return at + 1
            bang = length > 2 and data[at - 1] == _BANG
            if length > 1 and data[at - 1 - bang] == _DASH and data[at - 2 - bang] == _DASH:
                return at + 1
        at += 1
    return at


@kernel
def _is_end_tag(data: np.ndarray, at: int, key: np.uint64) -> bool:
    """Whether the end tag of an element begins at `at`."""
    if at + 2 >= len(data) or data[at + 1] != _SLASH or not _is_letter(data[at + 2]):
        return False
    found, end = _name_at(data, at + 2)
    return bool(found == key and end < len(data))


@kernel
def _text_end(data: np.ndarray, at: int, key: np.uint64) -> int:
    """Where the end tag is of an element whose content, from `at`, is text. In a comment in a
    script, a script hides its end tag."""
    size = len(data)
    escaped = double = False
    while at < size:
        if data[at] == _LESS:
            if _is_end_tag(data, at, key):
                if not double:
                    return at
                double = False
            elif key == _SCRIPT_KEY and at + 3 < size:
                if escaped and not double and _is_letter(data[at + 1]):
                    inner, end = _name_at(data, at + 1)
                    double = inner == _SCRIPT_KEY and end < size
                elif (not escaped and data[at + 1] == _BANG and data[at + 2] == _DASH
                      and data[at + 3] == _DASH):
                    escaped = True
                    at += 3
        elif (data[at] == _GREATER and escaped and data[at - 1] == _DASH
              and data[at - 2] == _DASH):
            escaped = double = False
        at += 1
    return size


@kernel
def _has_word(data: np.ndarray, at: int, end: int, kind: int) -> bool:
    """Whether `data[at:end]` has the word of this kind of place."""
    word = _WORD_ROWS[kind]
    length = 0
    while word[length]:
        length += 1
    for i in range(at, end - length + 1):
        j = 0
        while j < length and _lower(data[i + j]) == word[j]:
            j += 1
        if j == length:
            return True
    return False


@kernel
def _next_tag(data: np.ndarray, at: int) -> int:
    """The position of the next `<` that begins a start or an end tag, or the length."""
    size = len(data)
    while at + 1 < size:
        if data[at] != _LESS:
            at += 1
        elif _is_letter(data[at + 1]):
            return at
        elif data[at + 1] == _SLASH and at + 2 < size:
            if _is_letter(data[at + 2]):
                return at
            at = _declaration_end(data, at)
        elif data[at + 1] in (_BANG, _MARK):
            at = _declaration_end(data, at)
        else:
            at += 1
    return size


@kernel
def _kind_of(flags: int, head: bool, article: bool) -> int:
    """The kind of place that a start tag may be; -1 if none."""
    if head and flags & _LINK:
        return IS_CANONICAL
    if head and flags & _BASE:
        return IS_BASE
    if flags & _META:
        return IS_META
    if flags & _SCRIPT:
        return IS_LINKED_DATA
    return IS_TIME if article and flags & _TIME else -1


@kernel
def declared_places(data: np.ndarray, beyond_head: bool) -> np.ndarray:
    """Rows of the places in HTML that may declare a canonical URL or a date, in document order: the
    kind, where the attributes of the tag begin and end, and where the content of a script ends.

    Tags are those that HTML5's rules make of the bytes. None counts in comments, in elements whose
    content is text, in `noscript`, `template`, `svg` and `math`; links and bases count in the head
    (before `</head>` and `<body>`), times in an `article`. Of each kind the first MOST_PLACES, and
    none with more than MOST_BYTES of attributes. Linear: some 2 ns per byte, of the head alone if
    not `beyond_head`.
    """
    size = len(data)
    places = np.empty((KINDS * MOST_PLACES, 4), np.int64)
    found = np.zeros(KINDS, np.int64)
    count = articles = depth = 0
    outer = np.uint64(0)  # the svg, math or template that the tag is in, if `depth`
    head = True
    at = _next_tag(data, 0)
    while at < size and (head or beyond_head):
        closing = data[at + 1] == _SLASH
        key, start = _name_at(data, at + 2 if closing else at + 1)
        flags = _FLAGS[slot_of(_KEYS, key)]
        end, closes = _tag_end(data, start)
        at = end + 1
        foreign = depth > 0 and outer != _TEMPLATE_KEY
        if depth and key == outer:
            depth += -1 if closing else 0 if closes and foreign else 1
        elif closing and not depth:
            head = head and not flags & _HEAD
            articles -= articles > 0 and flags & _ARTICLE != 0
        elif not closing and not foreign:
            if flags & _PLAINTEXT:
                break
            if flags & _TEXT:
                at = _text_end(data, at, key)
            if depth:
                at = _next_tag(data, at)
                continue
            if flags & _TEMPLATE or (flags & _FOREIGN and not closes):
                outer, depth = key, 1
            head = head and not flags & _BODY
            articles += flags & _ARTICLE != 0
            kind = _kind_of(flags, head, articles > 0)
            if (kind >= 0 and found[kind] < MOST_PLACES and end < size
                    and end - start <= MOST_BYTES and _has_word(data, start, end, kind)):
                places[count] = kind, start, end, at
                found[kind] += 1
                count += 1
        at = _next_tag(data, at)
    return places[:count].copy()
