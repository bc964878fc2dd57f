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
    "in the spring", "after the war", "every second year", "before dawn", "on market days",
    "during the long winter", "for three decades", "at the end of the season", "since 1911",
    "in its first year", "on the last Sunday of May", "between two storms", "at low tide",
    "when the snow melts", "by lamplight", "within a single week",
)
PATTERNS = (
    "The {a} {n} {v} the {n} {t}.",
    "{T}, a {a} {n} {v} the {a} {n}.",
    "Few people know that the {n} {v} a {a} {n} {t}.",
    "The {n} of the {a} {n} {v} the {n}, and the {n} {v} the {a} {n}.",
    "According to the {n}, every {a} {n} {v} a {n} {t}.",
    "{T} the {n} {v} what the {a} {n} and the {n} leave behind.",
    "Its {a} {n} still {v} the {a} {n} beside the {n}.",
    "Nobody who {v} the {n} {t} forgets the {a} {n}.",
)


class Prose:
    """A stream of sentences drawn from `seed`.

    Only `random()` of the generator is used: its sequence is fixed across Python versions.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def sentence(self) -> str:
        text = "".join(self._fill(part) for part in _cut(self._one_of(PATTERNS)))
        return re.sub(r"\ba (?=[aeiou])", "an ", text)

    def paragraph(self, sentences: int = 5) -> str:
        return " ".join(self.sentence() for _ in range(sentences))

    def title(self) -> str:
        return f"The {self._one_of(ADJECTIVES)} {self._one_of(NOUNS)}"

    def _fill(self, part: str) -> str:
        lists = {"{n}": NOUNS, "{a}": ADJECTIVES, "{v}": VERBS, "{t}": TIMES, "{T}": TIMES}
        if part not in lists:
            return part
        word = self._one_of(lists[part])
        return word[0].upper() + word[1:] if part == "{T}" else word

    def _one_of(self, items: Sequence[str]) -> str:
        return items[int(self._random.random() * len(items))]


def _cut(pattern: str) -> list[str]:
    """A pattern as its slots and the text between them."""
    parts: list[str] = []
    for piece in pattern.split("{"):
        slot, closed, text = piece.partition("}")
        parts += ["{" + slot + "}", text] if closed else [piece]
    return parts
