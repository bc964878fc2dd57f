"""One pass over HTML as a parser writes it out: text with line breaks, links, images.

The input is a serialised tree, so it is regular: every element that can have children has
an end tag, attributes are in double quotes, `&`, `<`, `>` and U+00A0 in text are escaped,
and only the content of a few elements (RAW below) is written as it is.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.element_names import key_of, name_table, slot_of

INLINE, LEFT_OUT, RAW, FOREIGN, LINE, PRE, LINK, IMAGE, BASE, PLAINTEXT, SCRIPT, VOID = (
    1 << bit for bit in range(12)
)
NAMES = {
    INLINE: "a abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small "
            "span strike strong sub sup time tt u var wbr",
    LEFT_OUT: "script style template noscript iframe object svg math",
    RAW: "script style xmp iframe noembed noframes",
    FOREIGN: "svg math",
    LINE: "br", PRE: "pre", LINK: "a area", IMAGE: "img", BASE: "base", PLAINTEXT: "plaintext",
    SCRIPT: "script",
    VOID: "area base basefont bgsound br col embed frame hr img input keygen link meta param "
          "source track wbr",
}
IS_LINK, IS_IMAGE, IS_BASE = 0, 1, 2

_HREF, _SRC, _PLAINTEX = (np.uint64(key_of(name)) for name in ("href", "src", "plaintext"))
_PLAINTEXT_KEY = np.uint64(1)
_FORM_FEED, _NEWLINE, _BLANK = np.uint8(0x0C), np.uint8(0x0A), np.uint8(0x20)
_LESS, _GREATER, _SLASH, _AND, _EQUALS, _QUOTE, _BANG, _DASH = np.frombuffer(b'<>/&="!-', np.uint8)


# The one name longer than 8 bytes has a key that no name is written as.
_KEYS, _FLAGS = name_table(NAMES, {"plaintext": int(_PLAINTEXT_KEY)})


@kernel
def element_flags(key: np.uint64) -> int:
    """What is known of the element whose name has this key; 0 if nothing."""
    return int(_FLAGS[slot_of(_KEYS, key)])


@kernel
def name_key(data: np.ndarray, at: int, of_tag: bool) -> tuple[np.uint64, int]:
    """Key of the name at `at` (0 if it is no known one) and the position after it.

    A blank or `>` ends a name; so does `=` in an attribute's, after its first byte.
    """
    key = np.uint64(0)
    start = at
    while at < len(data):
        byte = data[at]
        if byte in (_BLANK, _GREATER) or (byte == _EQUALS and at > start and not of_tag):
            break
        if at - start < 8:
            key |= np.uint64(byte) << np.uint64(8 * (at - start))
        at += 1
    if at - start > 8:
        long = at - start == 9 and key == _PLAINTEX and data[at - 1] == 0x74
        key = _PLAINTEXT_KEY if long else np.uint64(0)
    return key, at


@kernel
def skip_attributes(data: np.ndarray, at: int, wanted: np.uint64) -> tuple[int, int, int, int]:
    """From the end of a tag's name: position after the tag, number of attributes, and where
    the value of attribute `wanted` starts and ends (-1, -1 if the tag has none; an empty
    stretch if it has no value)."""
    first, last, count = -1, -1, 0
    while at < len(data) and data[at] != _GREATER:
        key, at = name_key(data, at + 1, False)
        count += 1
        start = end = at
        if at + 1 < len(data) and data[at] == _EQUALS:
            start = end = at + 2
            while end < len(data) and data[end] != _QUOTE:
                end += 1
            at = end + 1
        if key == wanted and wanted:
            first, last = start, end
    return at + 1, count, first, last


@kernel
def skip_declaration(data: np.ndarray, at: int) -> int:
    """Position after the comment or doctype whose `<!` is at `at`."""
    comment = at + 3 < len(data) and data[at + 2] == _DASH and data[at + 3] == _DASH
    at += 4 if comment else 2
    while at < len(data):
        if data[at] == _GREATER and (
                not comment or (data[at - 1] == _DASH and data[at - 2] == _DASH)):
            return at + 1
        at += 1
    return at


@kernel
def raw_end(data: np.ndarray, at: int, name_at: int, name_end: int) -> tuple[int, bool]:
    """Where the raw content from `at` of the element named `data[name_at:name_end]` ends, and
    whether it holds `<!--` and a `<s` later: then a script may hold its own end tag."""
    commented = doubtful = False
    length = name_end - name_at
    while at < len(data):
        if data[at] == _LESS and at + 3 < len(data):
            if data[at + 1] == _SLASH:
                i = 0
                while (i < length and at + 2 + i < len(data)
                       and data[at + 2 + i] == data[name_at + i]):
                    i += 1
                if i == length and at + 2 + i < len(data) and data[at + 2 + i] == _GREATER:
                    return at, doubtful
            elif data[at + 1] == _BANG and data[at + 2] == _DASH and data[at + 3] == _DASH:
                commented = True
            elif commented and data[at + 1] | 0x20 == 0x73:
                doubtful = True
        at += 1
    return at, True


@kernel
def _unescape(data: np.ndarray, at: int, out: np.ndarray, used: int) -> tuple[int, int]:
    """Write the character that the `&` at `at` stands for; positions after it in both."""
    after = data[at + 1] if at + 1 < len(data) else _BLANK
    if after == 0x61:  # &amp;
        out[used] = _AND
        return at + 5, used + 1
    if after == 0x6C:  # &lt;
        out[used] = _LESS
        return at + 4, used + 1
    if after == 0x67:  # &gt;
        out[used] = _GREATER
        return at + 4, used + 1
    if after == 0x71:  # &quot;
        out[used] = _QUOTE
        return at + 6, used + 1
    out[used], out[used + 1] = 0xC2, 0xA0  # &nbsp;
    return at + 6, used + 2


@kernel
def _clean(byte: np.uint8, in_pre: bool) -> np.uint8:
    """A byte of text: newlines break lines in pre only, and form feeds are ours."""
    if byte == _FORM_FEED or (byte == _NEWLINE and not in_pre):
        return _BLANK
    return byte


@kernel
def _is_one_of(data: np.ndarray, at: int, end: int, names: np.ndarray) -> bool:
    """Is `data[at:end]` one of `names`: one name per row, padded with zeros?"""
    for row in range(names.shape[0]):
        i = 0
        while i < names.shape[1] and at + i < end and names[row, i] == data[at + i]:
            i += 1
        if at + i == end and (i == names.shape[1] or names[row, i] == 0):
            return True
    return False


@kernel
def scan(
    data: np.ndarray, cutting: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Text and references of serialised HTML, and where elements named in `cutting` start.

    Returns the text (UTF-8; a form feed wherever block elements start or end, never two in
    a row; a newline at `br` and at newlines inside pre), the references in document order
    as rows (IS_LINK, IS_IMAGE or IS_BASE; start and end of the escaped value in `data`), for
    each element that has one of the names `cutting` (rows of bytes, padded with zeros) how many
    bytes of text are before it, and a doubt: 0 none; 1 if raw text inside svg or math may have
    misled the scan; 2 if a script that holds `<!--` or a plaintext element may have. One pass.
    """
    size = len(data)
    text = np.empty(size + 2, np.uint8)
    references = np.empty((size // 8 + 1, 3), np.int64)
    cuts = np.empty(size // 3 + 1 if len(cutting) else 0, np.int64)
    used = found = doubt = pre = cut = 0
    skipped = np.uint64(0)
    depth = 0
    foreign = False
    at = 0
    while at < size:
        byte = data[at]
        if byte != _LESS:
            if depth:
                at += 1
            elif byte == _AND:
                at, used = _unescape(data, at, text, used)
            else:
                text[used] = _clean(byte, pre > 0)
                used += 1
                at += 1
            continue
        if at + 1 < size and data[at + 1] == _BANG:
            at = skip_declaration(data, at)
            continue
        closing = at + 1 < size and data[at + 1] == _SLASH
        name_at = at + 2 if closing else at + 1
        key, name_end = name_key(data, name_at, True)
        flags = element_flags(key)
        if depth:
            at, _, _, _ = skip_attributes(data, name_end, np.uint64(0))
            if closing:
                depth -= key == skipped
                if depth == 0 and used and text[used - 1] != _FORM_FEED:
                    text[used] = _FORM_FEED
                    used += 1
            else:
                depth += key == skipped
                foreign = foreign or flags & FOREIGN != 0
                if flags & (RAW | PLAINTEXT):
                    at, unsure = raw_end(data, at, name_at, name_end)
                    if foreign:
                        doubt = max(doubt, 1)
                    elif flags & PLAINTEXT or (flags & SCRIPT and unsure):
                        doubt = 2
            continue
        wanted = np.uint64(0)
        if not closing and flags & (LINK | IMAGE | BASE):
            wanted = _SRC if flags & IMAGE else _HREF
        at, _, first, last = skip_attributes(data, name_end, wanted)
        if first >= 0:
            references[found, 0] = (
                IS_IMAGE if flags & IMAGE else IS_BASE if flags & BASE else IS_LINK)
            references[found, 1] = first
            references[found, 2] = last
            found += 1
        if flags & LINE:
            text[used] = _NEWLINE
            used += 1
        elif not flags & INLINE and used and text[used - 1] != _FORM_FEED:
            text[used] = _FORM_FEED
            used += 1
        if flags & PRE:
            pre += -1 if closing else 1
        if closing:
            continue
        if _is_one_of(data, name_at, name_end, cutting):
            cuts[cut] = used
            cut += 1
        if flags & PLAINTEXT:
            doubt = 2
        if flags & LEFT_OUT:
            depth = 1
            skipped = key
            foreign = flags & FOREIGN != 0
        if flags & RAW:
            end, unsure = raw_end(data, at, name_at, name_end)
            if flags & SCRIPT and unsure:
                doubt = 2
            if not flags & LEFT_OUT:
                for i in range(at, end):
                    text[used] = _clean(data[i], pre > 0)
                    used += 1
            at = end
    return text[:used].copy(), references[:found].copy(), cuts[:cut].copy(), doubt


@kernel
def unescape_values(
    data: np.ndarray, references: np.ndarray, kind: int
) -> tuple[np.ndarray, np.ndarray]:
    """Values of one kind of reference, unescaped: their bytes end to end, and the bounds."""
    total = 0
    count = 0
    for i in range(len(references)):
        if references[i, 0] == kind:
            total += references[i, 2] - references[i, 1]
            count += 1
    values = np.empty(total + 2, np.uint8)
    bounds = np.zeros(count + 1, np.int64)
    used = 0
    count = 0
    for i in range(len(references)):
        if references[i, 0] == kind:
            at = references[i, 1]
            while at < references[i, 2]:
                if data[at] == _AND:
                    at, used = _unescape(data, at, values, used)
                else:
                    values[used] = data[at]
                    used += 1
                    at += 1
            count += 1
            bounds[count] = used
    return values[:used].copy(), bounds
