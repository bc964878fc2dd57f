"""Kinds of option values: how each is read from text, shown, and written to the manifest."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from beam_reuse.core.settings import KINDS, SettingError

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class OptionKind:
    """One kind of value. `parse` raises ValueError; `allowed` completes "it must be …"."""

    metavar: str
    allowed: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str] = str

    def read(self, option: str, text: str) -> Any:
        """The value that `text` gives `option`, or an error naming both and what is allowed."""
        try:
            return self.parse(text.strip())
        except (ValueError, OverflowError):
            raise SettingError(
                f"--{option}: {text!r} is not allowed; it must be {self.allowed}"
            ) from None


def words_of(text: str) -> tuple[str, ...]:
    """The items of a comma-separated list, without blanks; none may be empty."""
    words = tuple(word.strip() for word in text.split(","))
    if not all(words):
        raise ValueError(text)
    return words


def listed(items: tuple[Any, ...]) -> str:
    """A list as it is given on the command line."""
    return ",".join(str(item) for item in items)


def parse_size(text: str) -> int:
    """Bytes from `64M`, `500K`, `1G`, `1.5G` or a plain number."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)(?:i?B)?", text, re.IGNORECASE)
    if not match:
        raise ValueError(text)
    return int(float(match[1]) * SIZES[match[2].upper()])


def show_size(size: int) -> str:
    """Bytes with the largest suffix that loses nothing."""
    for suffix in ("G", "M", "K"):
        if size and size % SIZES[suffix] == 0:
            return f"{size // SIZES[suffix]}{suffix}"
    return str(size)


def choice(*names: str) -> OptionKind:
    """One of a few words."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return OptionKind("|".join(names), " or ".join(names), parse)


def or_word(kind: OptionKind, word: str) -> OptionKind:
    """Another kind's value, or `word` for None."""
    return OptionKind(
        f"{kind.metavar}|{word}",
        f"{kind.allowed}, or {word}",
        lambda text: None if text == word else kind.parse(text),
        lambda value: word if value is None else kind.show(value),
    )


def optional(kind: OptionKind) -> OptionKind:
    """Another kind's value, where None means that the option was not given."""
    return OptionKind(
        kind.metavar, kind.allowed, kind.parse,
        lambda value: "" if value is None else kind.show(value),
    )


def parse_kinds(text: str) -> tuple[str, ...]:
    """Kinds of content in their fixed order; `all` is every kind."""
    asked = KINDS if text == "all" else words_of(text)
    if not set(asked) <= set(KINDS):
        raise ValueError(text)
    return tuple(kind for kind in KINDS if kind in asked)


def _statuses(text: str) -> tuple[int, ...]:
    return tuple(sorted({int(word) for word in words_of(text)}))


def parse_series(text: str) -> tuple[Fraction, ...]:
    """The numbers of a list such as `1,2,5` or `100,200,...,5000`, exactly: three dots go on in
    equal steps to the number behind them."""
    found: list[Fraction] = []
    words = words_of(text)
    for i, word in enumerate(words):
        if word not in ("...", "…"):
            found.append(Fraction(word))
            continue
        if len(found) < 2 or i + 2 > len(words):
            raise ValueError(text)
        end, step = Fraction(words[i + 1]), found[-1] - found[-2]
        count = (end - found[-1]) / step if step else Fraction(-1)
        if count.denominator != 1 or not 1 <= count <= 100_000:
            raise ValueError(text)
        found += [found[-1] + step * k for k in range(1, int(count))]
    return tuple(found)


def show_series(values: tuple[Any, ...]) -> str:
    """A list of numbers as it is typed, with three dots if it goes in equal steps."""
    exact = [Fraction(str(value)) for value in values]
    steps = {b - a for a, b in pairwise(exact)}
    words = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    if len(words) > 4 and len(steps) == 1:
        words = [*words[:2], "...", words[-1]]
    return ",".join(words)


def _whole_series(text: str) -> tuple[int, ...]:
    numbers = parse_series(text)
    if any(number.denominator != 1 for number in numbers):
        raise ValueError(text)
    return tuple(int(number) for number in numbers)


_SERIES = "a list of ascending numbers such as"
WHOLE_SERIES = OptionKind("LIST", f"{_SERIES} 1,2,5 or 100,200,...,5000", _whole_series,
                          show_series)
SERIES = OptionKind("LIST", f"{_SERIES} 0,1,2.5 or 0,0.5,...,8",
                    lambda text: tuple(map(float, parse_series(text))), show_series)
WHOLE = OptionKind("N", "a whole number", int)
SHARE = OptionKind("X", "a number from 0 to 1", float)
MONEY = OptionKind("P", "a number", float)
SIZE = OptionKind("BYTES", "a number of bytes such as 500K, 64M or 1G", parse_size, show_size)
WORDS = OptionKind("LIST", "a comma-separated list", words_of, listed)
FOLDER = OptionKind("DIR", "a folder", str)
FILE = OptionKind("FILE", "a file", str)
NAME = OptionKind("NAME", "a name", str)
FILES = OptionKind("FILE...", "one or more files", lambda text: tuple(text.split("\n")), listed)
# Given once for each condition, not several after one name: a folder may follow.
EACH_FILE = OptionKind(
    "FILE", "a file; give the option again for each further one", FILES.parse, listed)
CONDITIONS = OptionKind("CONDITION", "'COLUMN OP VALUE'", lambda text: tuple(text.split("\n")))
NUMBERS = OptionKind(
    "LIST", "a comma-separated list of whole numbers",
    lambda text: tuple(int(word) for word in words_of(text)), listed,
)
SHARES = OptionKind(
    "LIST", "a comma-separated list of numbers from 0 to 1",
    lambda text: tuple(float(word) for word in words_of(text)), listed,
)
STATUSES = or_word(
    OptionKind("LIST", "a comma-separated list of HTTP status numbers", _statuses, listed), "all"
)
CONTENT_TYPES = OptionKind(
    "LIST", f"a comma-separated list of {', '.join(KINDS)}, or all", parse_kinds,
    lambda kinds: "all" if kinds == KINDS else listed(kinds),
)
