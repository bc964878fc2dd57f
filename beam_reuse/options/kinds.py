"""Kinds of option values: how each is read from text, shown, and written to the manifest."""

import re
from collections.abc import Callable
from dataclasses import dataclass
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
        except ValueError:
            raise SettingError(
                f"--{option}: {text!r} is not allowed; it must be {self.allowed}"
            ) from None


def words_of(text: str) -> tuple[str, ...]:
    """The items of a comma-separated list, without blanks and empty items."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


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
    if not asked or not set(asked) <= set(KINDS):
        raise ValueError(text)
    return tuple(kind for kind in KINDS if kind in asked)


def _some_words(text: str) -> tuple[str, ...]:
    words = words_of(text)
    if not words:
        raise ValueError(text)
    return words


def _statuses(text: str) -> tuple[int, ...]:
    return tuple(sorted({int(word) for word in _some_words(text)}))


WHOLE = OptionKind("N", "a whole number", int)
SHARE = OptionKind("X", "a number from 0 to 1", float)
SIZE = OptionKind("BYTES", "a number of bytes such as 500K, 64M or 1G", parse_size, show_size)
WORDS = OptionKind("LIST", "a comma-separated list", _some_words, listed)
FOLDER = OptionKind("DIR", "a folder", str)
FILE = OptionKind("FILE", "a file", str)
NAME = OptionKind("NAME", "a name", str)
STATUSES = or_word(
    OptionKind("LIST", "a comma-separated list of HTTP status numbers", _statuses, listed), "all"
)
CONTENT_TYPES = OptionKind(
    "LIST", f"a comma-separated list of {', '.join(KINDS)}, or all", parse_kinds,
    lambda kinds: "all" if kinds == KINDS else listed(kinds),
)
