"""Tokens and lines of UTF-8 text as fingerprints.

The kernels take a table with one entry per code point (see `core.tokens`): the code point
of its lower case in the low 21 bits, and the flags below. LINE_END: where a line of the text of
HTML ends; PLAIN_LINE_END: where `str.splitlines` ends one; WHITE and ENDS_LINE: what is white
space and what ends a line where plain text is cut into chunks.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.fingerprint import fingerprint
from beam_reuse.kernels.mixing import mix

CODE_POINT = 0x1FFFFF
WORD = 1 << 24
ALONE = 1 << 25
SPACE = 1 << 26
BY_CONTEXT = 1 << 27
LINE_END = 1 << 28
PLAIN_LINE_END = 1 << 29
WHITE = 1 << 30
ENDS_LINE = 1 << 23

_DOTTED_I = 0x130
_FORM_FEED, _NEWLINE, _RETURN, _BLANK = 0x0C, 0x0A, 0x0D, 0x20
_NO_BYTES = np.uint64(0)
_TOKEN = np.uint64(0xD1310BA698DFB5AC)  # any constant does, but never another one


@kernel
def _decode(data: np.ndarray, at: int) -> tuple[int, int]:
    """Code point of the character at `at` (not ASCII) and the position after it.

    Surrogates are read like others. Bytes that are no UTF-8 give U+FFFD, one at a time; so do
    characters in more bytes than they need.
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
    least = 0x80 if more == 1 else 0x800 if more == 2 else 0x10000
    if code < least or code > 0x10FFFF:
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
def token_fingerprint(data: np.ndarray, start: int, end: int) -> np.uint64:
    """Fingerprint of the token `data[start:end]`: its bytes eight at a time, big-endian, each mixed
    into a state; then the rest and the low byte of the length. Two tokens of less than eight
    bytes never share one."""
    word, state, length = _NO_BYTES, _TOKEN, 0
    for at in range(start, end):
        word, state, length = _push(data[at], word, state, length)
    return _finished(word, state, length)


@kernel
def token_fingerprints(data: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Fingerprints of the tokens `data[bounds[i]:bounds[i+1]]`."""
    values = np.empty(len(bounds) - 1, np.uint64)
    for i in range(len(values)):
        values[i] = token_fingerprint(data, bounds[i], bounds[i + 1])
    return values


@kernel
def _push(
    byte: int, word: np.uint64, state: np.uint64, length: int
) -> tuple[np.uint64, np.uint64, int]:
    """A token with one more byte."""
    word = (word << np.uint64(8)) | np.uint64(byte)
    length += 1
    if length & 7 == 0:
        return _NO_BYTES, mix(state ^ word), length
    return word, state, length


@kernel
def _finished(word: np.uint64, state: np.uint64, length: int) -> np.uint64:
    return mix(state ^ word ^ (np.uint64(length) << np.uint64(56)))


@kernel
def count_tokens(
    data: np.ndarray, table: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """How many tokens (as `scan_text` finds them) are in each UTF-8 text
    `data[starts[i]:ends[i]]`. Of İ the lower case ends with a dot that is no letter, and so ends
    the token; of others no lower case matters here."""
    counts = np.zeros(len(starts), np.int64)
    for i in range(len(starts)):
        at, inside = starts[i], False
        while at < ends[i]:
            code = int(data[at])
            if code < 0x80:
                at += 1
            else:
                code, at = _decode(data[:ends[i]], at)
            entry = int(table[code])
            counts[i] += (entry & ALONE != 0) or (entry & WORD != 0 and not inside)
            inside = entry & WORD != 0 and code != _DOTTED_I
    return counts


@kernel
def scan_text(
    data: np.ndarray, table: np.ndarray, line_end: int
) -> tuple[np.ndarray, np.ndarray, int, bool]:
    """Fingerprints of the lower-case tokens of UTF-8 `data` in order; how many tokens each of its
    lines has that is not empty; how many chunks it has as plain text; and whether a letter is
    BY_CONTEXT, which no table can lower, so that the tokens are not to be used.

    A token is a maximal run of WORD characters; an ALONE character is a token by itself. Lines
    end at characters with the flag `line_end`; empty ones have SPACE only. Chunks as in
    `kernels.chunks`. What is no UTF-8 counts as U+FFFD. One pass: of a character inside a
    token nothing else is asked.
    """
    size = len(data)
    hashes = np.empty(size // 2 + 1, np.uint64)
    line_tokens = np.empty(size // 2 + 2, np.uint32)
    letter = np.empty(4, np.uint8)
    count, before, lines, chunks = 0, 0, 0, 1
    line, chunk_line = 0, 0  # flags that a character of the line lacks: without SPACE it is full
    after_blank, by_context = False, False
    rare = ALONE | ENDS_LINE | line_end
    word, state, length = _NO_BYTES, _TOKEN, 0
    at = 0
    while at < size:
        if data[at] < 0x80:
            entry = int(table[data[at]])
            at += 1
            if entry & WORD:
                word, state, length = _push(entry & 0x7F, word, state, length)
                continue
        else:
            code, at = _decode(data, at)
            entry = int(table[code])
            by_context |= bool(entry & BY_CONTEXT)
            if entry & WORD:
                for i in range(_encode(entry & CODE_POINT, letter, 0)):
                    word, state, length = _push(letter[i], word, state, length)
                continue
        hashes[count] = _finished(word, state, length)
        count += length > 0
        lacks = ~(entry if length == 0 else 0)
        line |= lacks
        chunk_line |= lacks
        word, state, length = _NO_BYTES, _TOKEN, 0
        if not entry & rare:
            continue
        if entry & ALONE:
            used = _encode(entry & CODE_POINT, letter, 0)
            hashes[count] = token_fingerprint(letter, 0, used)
            count += 1
        if entry & line_end:
            line_tokens[lines] = count - before
            lines += (line & SPACE) != 0
            before, line = count, 0
        if entry & ENDS_LINE and not (at > 1 and data[at - 1] == _NEWLINE
                                      and data[at - 2] == _RETURN):
            is_blank = not chunk_line & WHITE
            chunks += after_blank and not is_blank
            after_blank = is_blank
            chunk_line = 0
    hashes[count] = _finished(word, state, length)
    count += length > 0
    line_tokens[lines] = count - before
    lines += length > 0 or (line & SPACE) != 0
    chunks += after_blank and (length > 0 or (chunk_line & WHITE) != 0)
    return hashes[:count].copy(), line_tokens[:lines].copy(), chunks, by_context


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
