"""Hexadecimal hashes as raw bytes: from text of equal width, and from lines."""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.sha1 import DIGEST_BYTES

HEX_DIGITS = 2 * DIGEST_BYTES
_NEWLINE, _RETURN, _HASH_SIGN, _BAD = 0x0A, 0x0D, 0x23, 0xFF

# What a line can be.
NOTHING, HASH, OTHER = 0, 1, 2


def _digit_values() -> np.ndarray:
    values = np.full(256, _BAD, np.uint8)
    for value, digit in enumerate(b"0123456789abcdef"):
        values[digit] = values[ord(chr(digit).upper())] = value
    return values


_VALUES = _digit_values()


@kernel
def decode_hex(digits: np.ndarray) -> tuple[np.ndarray, int]:
    """Hashes (rows of 20 bytes) from digits that follow each other, 40 to a hash, and the
    first row with anything but digits in it, or -1."""
    rows = len(digits) // HEX_DIGITS
    hashes = np.empty((rows, DIGEST_BYTES), np.uint8)
    for row in range(rows):
        if not _decode_at(digits, row * HEX_DIGITS, hashes, row):
            return hashes, row
    return hashes, -1


@kernel
def _decode_at(data: np.ndarray, at: int, hashes: np.ndarray, row: int) -> bool:
    """Write the hash whose 40 digits stand at `at` to `row`; False if they are not digits."""
    for i in range(DIGEST_BYTES):
        high, low = _VALUES[data[at + 2 * i]], _VALUES[data[at + 2 * i + 1]]
        if high == _BAD or low == _BAD:
            return False
        hashes[row, i] = high << np.uint8(4) | low
    return True


@kernel
def _is_blank(byte: np.uint8) -> bool:
    """One of the six bytes 09-0D and 20."""
    return bool(byte == 0x20 or 9 <= byte <= 13)


@kernel
def read_hash_lines(data: np.ndarray, unwanted: int) -> tuple[np.ndarray, int, int]:
    """The hashes among the lines of `data` (rows of 20 bytes), how many lines it has, and the
    number of the first line that is `unwanted` (HASH or OTHER), or -1 if there is none.

    A line ends at `\\n`, `\\r\\n` or `\\r`. Blanks around a line do not count; an empty line
    and one that begins with `#` is NOTHING, 40 hexadecimal digits are a HASH, also with a
    comment after blanks, everything else is OTHER. One pass.
    """
    hashes = np.empty((len(data) // HEX_DIGITS + 1, DIGEST_BYTES), np.uint8)
    found = lines = at = 0
    while at < len(data):
        end = at
        while end < len(data) and data[end] != _NEWLINE and data[end] != _RETURN:
            end += 1
        kind = _read_line(data, at, end, hashes, found)
        if kind == unwanted:
            return hashes[:found], lines, lines
        found += kind == HASH
        lines += 1
        if end + 1 < len(data) and data[end] == _RETURN and data[end + 1] == _NEWLINE:
            end += 1
        at = end + 1
    return hashes[:found], lines, -1


@kernel
def _read_line(data: np.ndarray, at: int, end: int, hashes: np.ndarray, row: int) -> int:
    """What the line `data[at:end]` is; a hash is written to `row`."""
    while at < end and _is_blank(data[at]):
        at += 1
    if at == end or data[at] == _HASH_SIGN:
        return NOTHING
    rest = at + HEX_DIGITS
    if rest > end or not _decode_at(data, at, hashes, row):
        return OTHER
    if rest < end and not _is_blank(data[rest]):
        return OTHER
    while rest < end and _is_blank(data[rest]):
        rest += 1
    return HASH if rest == end or data[rest] == _HASH_SIGN else OTHER
