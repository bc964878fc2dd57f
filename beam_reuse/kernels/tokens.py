"""Tokens and lines of UTF-8 text as fingerprints.

Both kernels take a table with one entry per code point (see `core.tokens`): the code point
of its lower case in the low 21 bits, and the flags below.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.fingerprint import fingerprint

CODE_POINT = 0x1FFFFF
WORD = 1 << 24
ALONE = 1 << 25
SPACE = 1 << 26
BY_CONTEXT = 1 << 27

_FORM_FEED, _NEWLINE, _BLANK = 0x0C, 0x0A, 0x20


@kernel
def _decode(data: np.ndarray, at: int) -> tuple[int, int]:
    """Code point of the character at `at` (not ASCII) and the position after it.

    Surrogates are read like others. Bytes that are no UTF-8 give U+FFFD, one at a time.
    """
    first = int(data[at])
    if first >= 0xF0:
        more, code = 3, first & 0x07
    elif first >= 0xE0:
        more, code = 2, first & 0x0F
    else:
        more, code = 1, first & 0x1F
    if first < 0xC0 or at + more >= len(data):
        return 0xFFFD, at + 1
    for i in range(1, more + 1):
        byte = int(data[at + i])
        if byte & 0xC0 != 0x80:
            return 0xFFFD, at + 1
        code = (code << 6) | (byte & 0x3F)
    if code > 0x10FFFF:
        return 0xFFFD, at + 1
    return code, at + 1 + more


@kernel
def _encode(code: int, out: np.ndarray, at: int) -> int:
    """Write `code` as UTF-8 to `out` at `at`; the position after it."""
    if code < 0x80:
        out[at] = code
        return at + 1
    if code < 0x800:
        out[at] = 0xC0 | (code >> 6)
    else:
        if code < 0x10000:
            out[at] = 0xE0 | (code >> 12)
        else:
            out[at] = 0xF0 | (code >> 18)
            out[at + 1] = 0x80 | ((code >> 12) & 0x3F)
            at += 1
        out[at + 1] = 0x80 | ((code >> 6) & 0x3F)
        at += 1
    out[at + 1] = 0x80 | (code & 0x3F)
    return at + 2


@kernel
def hash_tokens(data: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, bool]:
    """Fingerprints of the lower-case tokens of UTF-8 `data`, in order, and False; but some of them
    and True at the first letter that is BY_CONTEXT, which no table can lower.

    A token is a maximal run of WORD characters; an ALONE character is a token by itself.
    One pass; memory about six times the text, most of it never touched.
    """
    size = len(data)
    hashes = np.empty(size // 2 + 1, np.uint64)
    token = np.empty(size + size // 2 + 4, np.uint8)
    count = 0
    length = 0
    at = 0
    while at < size:
        if data[at] < 0x80:
            entry = table[data[at]]
            at += 1
            if entry & WORD:
                token[length] = entry & 0x7F
                length += 1
                continue
        else:
            code, at = _decode(data, at)
            entry = table[code]
            if entry & BY_CONTEXT:
                return hashes[:count], True
            if entry & WORD:
                length = _encode(int(entry & CODE_POINT), token, length)
                continue
        if length:
            hashes[count] = fingerprint(token, 0, length)
            count += 1
            length = 0
        if entry & ALONE:
            length = _encode(int(entry & CODE_POINT), token, 0)
            hashes[count] = fingerprint(token, 0, length)
            count += 1
            length = 0
    if length:
        hashes[count] = fingerprint(token, 0, length)
        count += 1
    return hashes[:count].copy(), False


@kernel
def full_lines(data: np.ndarray, table: np.ndarray) -> int:
    """The number of lines of UTF-8 `data` that are not empty; lines as `hash_lines` has them."""
    size = len(data)
    count = 0
    at = 0
    while at < size:
        byte = data[at]
        if byte >= 0x80:
            code, after = _decode(data, at)
            full = not table[code] & SPACE
        else:
            after = at + 1
            full = not table[byte] & SPACE
        at = after
        if full:
            count += 1
            while at < size and data[at] != _NEWLINE and data[at] != _FORM_FEED:
                at += 1
    return count


@kernel
def hash_lines(data: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fingerprints of the lines of UTF-8 `data`, and which of them start a paragraph.

    Lines end at newlines and form feeds; runs of SPACE become one blank, none at the ends;
    empty lines are dropped. A paragraph starts after a form feed or an empty line.
    """
    size = len(data)
    hashes = np.empty(size // 2 + 1, np.uint64)
    starts = np.empty(size // 2 + 1, np.bool_)
    line = np.empty(size + 2, np.uint8)
    count = 0
    length = 0
    start = True
    after_space = True
    at = 0
    while at <= size:
        byte = data[at] if at < size else np.uint8(_FORM_FEED)
        if byte >= 0x80:
            code, after = _decode(data, at)
            if table[code] & SPACE:
                byte = np.uint8(_BLANK)
            else:
                for i in range(at, after):
                    line[length] = data[i]
                    length += 1
                at = after
                after_space = False
                continue
            at = after
        else:
            at += 1
        if byte > _BLANK:
            line[length] = byte
            length += 1
            after_space = False
        elif byte in (_FORM_FEED, _NEWLINE):
            length -= after_space and length > 0
            if length:
                hashes[count] = fingerprint(line, 0, length)
                starts[count] = start
                count += 1
            start = byte == _FORM_FEED or length == 0
            length = 0
            after_space = True
        elif table[byte] & SPACE:
            line[length] = _BLANK
            length += not after_space
            after_space = True
        else:
            line[length] = byte
            length += 1
            after_space = False
    return hashes[:count].copy(), starts[:count].copy()
