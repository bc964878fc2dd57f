"""SHA-1 of many short byte strings in one call, without the interpreter."""

import numpy as np

from beam_reuse.kernels.compiled import kernel

DIGEST_BYTES = 20
_BLOCK = 64


@kernel
def _compress(state: np.ndarray, words: np.ndarray, data: np.ndarray, at: int) -> None:
    """Fold the 64 bytes of `data` from `at` into `state`; `words` is scratch of 80 words.

    Five rounds at a time, so that the five registers change names instead of places.
    """
    for i in range(16):
        j = at + 4 * i
        words[i] = np.uint32(
            (np.uint32(data[j]) << np.uint32(24)) | (np.uint32(data[j + 1]) << np.uint32(16))
            | (np.uint32(data[j + 2]) << np.uint32(8)) | np.uint32(data[j + 3]))
    for i in range(16, 80):
        words[i] = _rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1)
    a, b, c, d, e = state[0], state[1], state[2], state[3], state[4]
    for i in range(0, 20, 5):
        e, b = _add5(e, a, d ^ (b & (c ^ d)), 0x5A827999, words[i]), _rotate(b, 30)
        d, a = _add5(d, e, c ^ (a & (b ^ c)), 0x5A827999, words[i + 1]), _rotate(a, 30)
        c, e = _add5(c, d, b ^ (e & (a ^ b)), 0x5A827999, words[i + 2]), _rotate(e, 30)
        b, d = _add5(b, c, a ^ (d & (e ^ a)), 0x5A827999, words[i + 3]), _rotate(d, 30)
        a, c = _add5(a, b, e ^ (c & (d ^ e)), 0x5A827999, words[i + 4]), _rotate(c, 30)
    for i in range(20, 40, 5):
        e, b = _add5(e, a, b ^ c ^ d, 0x6ED9EBA1, words[i]), _rotate(b, 30)
        d, a = _add5(d, e, a ^ b ^ c, 0x6ED9EBA1, words[i + 1]), _rotate(a, 30)
        c, e = _add5(c, d, e ^ a ^ b, 0x6ED9EBA1, words[i + 2]), _rotate(e, 30)
        b, d = _add5(b, c, d ^ e ^ a, 0x6ED9EBA1, words[i + 3]), _rotate(d, 30)
        a, c = _add5(a, b, c ^ d ^ e, 0x6ED9EBA1, words[i + 4]), _rotate(c, 30)
    for i in range(40, 60, 5):
        e, b = _add5(e, a, (b & c) | (d & (b | c)), 0x8F1BBCDC, words[i]), _rotate(b, 30)
        d, a = _add5(d, e, (a & b) | (c & (a | b)), 0x8F1BBCDC, words[i + 1]), _rotate(a, 30)
        c, e = _add5(c, d, (e & a) | (b & (e | a)), 0x8F1BBCDC, words[i + 2]), _rotate(e, 30)
        b, d = _add5(b, c, (d & e) | (a & (d | e)), 0x8F1BBCDC, words[i + 3]), _rotate(d, 30)
        a, c = _add5(a, b, (c & d) | (e & (c | d)), 0x8F1BBCDC, words[i + 4]), _rotate(c, 30)
    for i in range(60, 80, 5):
        e, b = _add5(e, a, b ^ c ^ d, 0xCA62C1D6, words[i]), _rotate(b, 30)
        d, a = _add5(d, e, a ^ b ^ c, 0xCA62C1D6, words[i + 1]), _rotate(a, 30)
        c, e = _add5(c, d, e ^ a ^ b, 0xCA62C1D6, words[i + 2]), _rotate(e, 30)
        b, d = _add5(b, c, d ^ e ^ a, 0xCA62C1D6, words[i + 3]), _rotate(d, 30)
        a, c = _add5(a, b, c ^ d ^ e, 0xCA62C1D6, words[i + 4]), _rotate(c, 30)
    state[0] = np.uint32(state[0] + a)
    state[1] = np.uint32(state[1] + b)
    state[2] = np.uint32(state[2] + c)
    state[3] = np.uint32(state[3] + d)
    state[4] = np.uint32(state[4] + e)


@kernel
def _rotate(value: np.uint32, bits: int) -> np.uint32:
    return np.uint32((value << np.uint32(bits)) | (value >> np.uint32(32 - bits)))


@kernel
def _add5(e: np.uint32, a: np.uint32, mix: np.uint32, constant: int, word: np.uint32) -> np.uint32:
    return np.uint32(e + _rotate(a, 5) + mix + np.uint32(constant) + word)


@kernel
def sha1_into(
    digests: np.ndarray, row: int, data: np.ndarray, size: int, state: np.ndarray,
    words: np.ndarray, tail: np.ndarray,
) -> None:
    """Write SHA-1 of `data[:size]` to a row of `digests`.

    Scratch: `state` of 5 and `words` of 80 uint32, `tail` of 128 uint8.
    """
    state[0], state[1], state[2] = 0x67452301, 0xEFCDAB89, 0x98BADCFE
    state[3], state[4] = 0x10325476, 0xC3D2E1F0
    whole = size // _BLOCK * _BLOCK
    for at in range(0, whole, _BLOCK):
        _compress(state, words, data, at)
    rest = size - whole
    padded = _BLOCK if rest < _BLOCK - 8 else 2 * _BLOCK
    for i in range(padded):
        tail[i] = data[whole + i] if i < rest else 0
    tail[rest] = 0x80
    bits = np.uint64(size) << np.uint64(3)
    for i in range(8):
        tail[padded - 1 - i] = np.uint8((bits >> np.uint64(8 * i)) & np.uint64(255))
    for at in range(0, padded, _BLOCK):
        _compress(state, words, tail, at)
    for i in range(DIGEST_BYTES):
        byte = state[i >> 2] >> np.uint32(24 - 8 * (i & 3))
        digests[row, i] = np.uint8(byte & np.uint32(255))
