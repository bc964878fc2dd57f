"""Tokens of SPEC §4 and lines of §5, character by character."""

import xxhash

SEED = 0x6265616D5F726575
TOKEN = 0xD1310BA698DFB5AC
UNSPACED = [
    range(0x0E00, 0x0EFF + 1), range(0x1000, 0x109F + 1), range(0x1780, 0x17FF + 1),
    range(0x3040, 0x30FF + 1), range(0x3400, 0x4DBF + 1), range(0x4E00, 0x9FFF + 1),
    range(0xF900, 0xFAFF + 1), range(0x20000, 0x3FFFF + 1),
]


def fingerprint(token: str) -> int:
    """docs/definitions.md, Signatures to the bit."""
    data = token.encode("utf-8", "surrogatepass")
    state = TOKEN
    full = len(data) // 8 * 8
    for at in range(0, full, 8):
        state = mix(state ^ int.from_bytes(data[at:at + 8], "big"))
    return mix(state ^ int.from_bytes(data[full:], "big") ^ (len(data) % 256 << 56))


def mix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)


def line_fingerprint(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"), seed=SEED)


def tokens(text: str) -> list[str]:
    found = []
    word = ""
    for char in text.lower():
        alone = any(ord(char) in script for script in UNSPACED)
        if char.isalnum() and not alone:
            word += char
            continue
        if word:
            found.append(word)
            word = ""
        if char.isalnum():
            found.append(char)
    return [*found, word] if word else found


def lines(text: str) -> list[tuple[str, bool]]:
    """Lines of text broken by newlines and form feeds, and which start a paragraph."""
    found = []
    for block in text.split("\f"):
        start = True
        for line in block.split("\n"):
            clean = " ".join(line.split())
            if clean:
                found.append((clean, start))
            start = not clean
    return found
