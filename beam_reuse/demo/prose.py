"""Readable made-up prose: the same words for the same seed on every machine."""

import random
import re
from collections.abc import Sequence

NOUNS = (
    "harbour", "archive", "orchard", "library", "committee", "festival", "lantern", "railway",
    "council", "workshop", "museum", "garden", "ferry", "market", "village", "observatory",
    "painter", "bakery", "theatre", "cartographer", "river", "newspaper", "bridge", "choir",
    "teacher", "laboratory", "lighthouse", "mill", "expedition", "café", "clockmaker", "meadow",
    "canal", "manuscript", "engineer", "quarry", "regatta", "glacier", "vineyard", "printer",
)
ADJECTIVES = (
    "old", "quiet", "unfinished", "northern", "celebrated", "narrow", "forgotten", "modest",
    "busy", "weathered", "generous", "curious", "distant", "restored", "crowded", "early",
    "patient", "careful", "bright", "stubborn", "local", "annual", "remote", "famous",
    "wooden", "temporary", "peculiar", "public", "southern", "ambitious",
)
VERBS = (
    "describes", "replaces", "remembers", "supports", "follows", "surrounds", "changes",
    "collects", "measures", "welcomes", "repairs", "admires", "borrows", "protects", "explains",
    "discovers", "records", "questions", "improves", "visits", "observes", "catalogues",
)
TIMES = (
    "in spring", "before dawn", "by lamplight", "at dusk", "in winter", "at noon", "in {y}",
    "since {y}", "until {y}", "after {y}", "around {y}",
)
DETERMINERS = ("the", "a", "this", "that", "one", "every", "each", "some", "another", "no")
SYLLABLES = (
    ("b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "st", "tr"),
    ("a", "e", "i", "o", "u", "ei", "au"),
    ("ld", "rn", "nd", "ss", "ll", "v", "m", "rk", "sh", "nt", "g", "z"),
    ("a", "en", "o", "is", "um", "ey", "ing", "or"),
)
# No five words in a row without two that are drawn from many: else phrases would be patches.
PATTERNS = (
    "{P}, like {d} {a} {n}, {v} {p} {t}.",
    "{T}, {p} {v} {d} {a} {n} of {p}.",
    "{D} {n} near {p} {v} {d} {a} {n} {t}.",
    "{P}, {d} {n} of {p}, {v} {p} before {d} {n}.",
    "According to {p}, {d} {a} {n} {v} {p} {t}.",
    "{T} {p} {v} what {p} and {d} {n} leave to {p}.",
    "{D} {a} {n} still {v} {p} beside {d} {n}.",
    "Nobody who {v} {p} {t} forgets {d} {a} {n}.",
)


class Prose:
    """A stream of sentences drawn from `seed`.

    Only `random()` of the generator is used: its sequence is fixed across Python versions.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def sentence(self) -> str:
        text = "".join(self._fill(part) for part in _cut(self._one_of(PATTERNS)))
        return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)

    def paragraph(self, sentences: int = 5) -> str:
        return " ".join(self.sentence() for _ in range(sentences))

    def title(self) -> str:
        return f"The {self._one_of(ADJECTIVES)} {self._one_of(NOUNS)}"

    def _fill(self, part: str) -> str:
        lists = {"{n}": NOUNS, "{a}": ADJECTIVES, "{v}": VERBS, "{t}": TIMES, "{d}": DETERMINERS}
        slot = part.lower()
        if slot == "{p}":
            return self._name()
        if slot not in lists:
            return part
        year = str(1500 + int(self._random.random() * 500))
        word = self._one_of(lists[slot]).replace("{y}", year)
        return word if part == slot else word[0].upper() + word[1:]

    def _name(self) -> str:
        """A made-up name of a person or a place."""
        return "".join(self._one_of(sounds) for sounds in SYLLABLES).capitalize()

    def _one_of(self, items: Sequence[str]) -> str:
        return items[int(self._random.random() * len(items))]


def _cut(pattern: str) -> list[str]:
    """A pattern as its slots and the text between them."""
    parts: list[str] = []
    for piece in pattern.split("{"):
        slot, closed, text = piece.partition("}")
        parts += ["{" + slot + "}", text] if closed else [piece]
    return parts
