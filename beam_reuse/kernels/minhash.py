"""Min-values and supershingles of token sequences, and hashes of whole sequences.

Page i has tokens `tokens[offsets[i]:offsets[i + 1]]`, which are 64-bit fingerprints.
"""

import numpy as np

from beam_reuse.kernels.compiled import kernel
from beam_reuse.kernels.mixing import chain, mix

IDENTITY_WORDS = 2
_LARGEST = np.int64(2**63 - 1)
_LANES = (np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344))
_SHINGLE = np.uint64(0xA4093822299F31D0)
SUPERSHINGLE = np.uint64(0x082EFA98EC4E6C89)


@kernel
def identities(
    tokens: np.ndarray, offsets: np.ndarray, texts: np.ndarray, least: int,
) -> tuple[np.ndarray, np.ndarray]:
    """For each page 128 bits that identify its token sequence, in two words, and 128 that identify
    its first `texts[i]` tokens, those of its text; zeros where these are fewer than `least`."""
    whole = np.empty((len(offsets) - 1, IDENTITY_WORDS), np.uint64)
    text = np.zeros_like(whole)
    for page in range(len(whole)):
        first, second = _LANES
        start, end = offsets[page], offsets[page + 1]
        for at in range(start, end + 1):
            if at == start + texts[page] and texts[page] >= least:
                length = np.uint64(texts[page])
                text[page, 0] = mix(first ^ length)
                text[page, 1] = mix(second + length)
            if at < end:
                first = mix(chain(first, tokens[at]))
                second = mix(second ^ tokens[at]) + _SHINGLE
        length = np.uint64(end - start)
        whole[page, 0] = mix(first ^ length)
        whole[page, 1] = mix(second + length)
    return whole, text


@kernel
def shingles_of(tokens: np.ndarray, start: int, end: int, size: int, out: np.ndarray) -> int:
    """Write the fingerprint of every `size` neighbouring tokens of `tokens[start:end]` to `out`;
    returns how many there are."""
    count = max(end - start - size + 1, 0)
    for i in range(count):
        state = _SHINGLE
        for at in range(start + i, start + i + size):
            state = chain(state, tokens[at])
        out[i] = np.int64(mix(state))
    return count


@kernel
def _smallest(shingles: np.ndarray, turn: np.int64, factor: np.int64) -> np.int64:
    """The smallest value of one hash function; LLVM makes vectors of it."""
    smallest = _LARGEST
    for i in range(len(shingles)):
        smallest = min(smallest, (shingles[i] ^ turn) * factor)
    return smallest


@kernel
def min_values(shingles: np.ndarray, turns: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """For each hash function x -> (x ^ turn) * factor its smallest value as a signed number."""
    out = np.empty(len(turns), np.int64)
    for i in range(len(turns)):
        out[i] = _smallest(shingles, turns[i], factors[i])
    return out


@kernel
def supershingles(
    tokens: np.ndarray, offsets: np.ndarray, size: int, turns: np.ndarray, factors: np.ndarray,
    count: int,
) -> np.ndarray:
    """For each page `count` fingerprints of equally many consecutive min-values of its shingles
    of `size` tokens, each mixed with its number; zeros for a page with fewer tokens."""
    pages = len(offsets) - 1
    longest = 0
    for page in range(pages):
        longest = max(longest, offsets[page + 1] - offsets[page])
    scratch = np.empty(longest, np.int64)
    out = np.zeros((pages, count), np.uint64)
    each = len(turns) // count
    for page in range(pages):
        found = shingles_of(tokens, offsets[page], offsets[page + 1], size, scratch)
        if found == 0:
            continue
        values = min_values(scratch[:found], turns, factors)
        for number in range(count):
            state = SUPERSHINGLE + np.uint64(number)
            for i in range(number * each, (number + 1) * each):
                state = chain(state, np.uint64(values[i]))
            out[page, number] = mix(state)
    return out
