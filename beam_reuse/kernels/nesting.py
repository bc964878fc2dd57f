"""What a parser may have to do on some HTML, guessed from above in one pass over its bytes."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.element_names import SLOTS, name_table, slot_of
from beam_reuse.kernels.html import (
    RAW,
    VOID,
    element_flags,
    name_key,
    raw_end,
    skip_attributes,
    skip_declaration,
)

_UNNESTED, _FORMATTING, _SINGLE_FORMATTING, _RUBY, _IN_RUBY = 1, 2, 4, 8, 16
_NAMES = {
    # Elements without content, and those that their next sibling or their parent ends.
    _UNNESTED: "area base basefont bgsound br col embed frame hr image img input keygen link meta "
               "param source track wbr p li dd dt option optgroup tr td th tbody thead tfoot "
               "caption colgroup a nobr button form html head body",
    # Elements that are opened again in the next block if they are not closed in this one.
    _FORMATTING: "b big code em font i s small strike strong tt u",
    # The same, but a second one ends the first.
    _SINGLE_FORMATTING: "a nobr",
    _RUBY: "ruby", _IN_RUBY: "rb rp rt rtc",
}
_LESS, _GREATER, _SLASH, _EQUALS, _DOUBLE, _SINGLE, _BANG = np.frombuffer(b"<>/=\"'!", np.uint8)


_KEYS, _FLAGS = name_table(_NAMES, {})
_RUBY_SLOT = int(np.flatnonzero(_FLAGS == _RUBY)[0])


@kernel
def _key_at(data: np.ndarray, at: int) -> np.uint64:
    """The name at `at`, in any case, as a number (of a name only 8 bytes count)."""
    key = np.uint64(0)
    for i in range(8):
        byte = data[at + i] if at + i < len(data) else _GREATER
        if byte <= 0x20 or byte in (_SLASH, _GREATER):
            break
        if 0x41 <= byte <= 0x5A:
            byte |= np.uint8(0x20)
        key |= np.uint64(byte) << np.uint64(8 * i)
    return key


@kernel
def _words_in_tag(data: np.ndarray, at: int) -> tuple[int, int]:
    """From the `<` of a start tag: its length, and its words outside quotes, the name too."""
    start = at
    words = 0
    before = np.uint8(0x20)
    at += 1
    while at < len(data) and data[at] != _GREATER:
        byte = data[at]
        if byte in (_DOUBLE, _SINGLE) and before == _EQUALS:
            at += 1
            while at < len(data) and data[at] != byte:
                at += 1
            before = np.uint8(0x20)
        elif byte > 0x20 and byte != _SLASH:
            words += before == 0x20
            before = byte
        elif before != _EQUALS:
            before = np.uint8(0x20)
        at += 1
    return at + 1 - start, words


@kernel
def first_suspicion(
    data: np.ndarray, max_depth: int, max_steps: int, max_copied: int, max_words: int
) -> int:
    """First position at which a limit may be passed, or -1 if none can be.

    All that looks like a tag counts, also in scripts and comments. Depth: start tags minus
    end tags of the same name, without elements that cannot nest. Steps: the depth at every
    tag, summed. Copied: bytes of formatting elements not closed yet, at every other tag,
    summed. Words: words of a tag outside quotes, squared and summed over long tags.
    Tags that overlap in long stretches are suspicious too: reading each costs time.
    """
    open_of = np.zeros(SLOTS, np.int64)
    depth = steps = formatting = longest = single = copied = squares = 0
    unread = 4 * len(data)
    for at in range(len(data) - 2):
        if data[at] != _LESS:
            continue
        closing = data[at + 1] == _SLASH
        name_at = at + 2 if closing else at + 1
        if not 0x61 <= data[name_at] | 0x20 <= 0x7A:
            continue
        slot = slot_of(_KEYS, _key_at(data, name_at))
        flags = _FLAGS[slot]
        if flags & _IN_RUBY and open_of[_RUBY_SLOT]:
            flags = _UNNESTED
        change = 1
        if closing:
            change = -1 if open_of[slot] else 0
        else:
            length, words = _words_in_tag(data, at)
            unread -= length
            if flags & _FORMATTING:
                longest = max(longest, length)
            elif flags & _SINGLE_FORMATTING:
                single = length
            if words > 64:
                squares += words * words
        if not flags & _UNNESTED:
            depth += change
            open_of[slot] += change
        steps += depth
        if flags & _FORMATTING:
            formatting = max(formatting + (-1 if closing else 1), 0)
        elif flags & _SINGLE_FORMATTING:
            single = 0 if closing else single
        else:
            copied += formatting * longest + single
        if (depth > max_depth or steps > max_steps or copied > max_copied
                or squares > max_words or unread < 0):
            return at
    return -1


@kernel
def measure_written(data: np.ndarray) -> tuple[int, int]:
    """Depth of the deepest element of serialised HTML; attributes of its elements, squared
    and summed."""
    deepest = depth = squares = 0
    at = 0
    while at + 1 < len(data):
        if data[at] != _LESS:
            at += 1
            continue
        if data[at + 1] == _BANG:
            at = skip_declaration(data, at)
            continue
        if data[at + 1] == _SLASH:
            depth -= 1
            at += 2
            continue
        name_at = at + 1
        key, name_end = name_key(data, name_at, True)
        flags = element_flags(key)
        at, attributes, _, _ = skip_attributes(data, name_end, np.uint64(0))
        squares += attributes * attributes
        if not flags & VOID:
            depth += 1
            deepest = max(deepest, depth)
        if flags & RAW:
            at, _ = raw_end(data, at, name_at, name_end)
    return deepest, squares
