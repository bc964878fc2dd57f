"""A guess at why two near-duplicates differ, from the words that differ and those around them."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from urllib.parse import unquote

from beam_reuse.core.tokens import token_texts


class DifferenceKind(Enum):
    """What differs: parts of the pages' own URLs, images, a time or a date, a small number, a
    made-up name; several of these; or anything else."""

    NONE = "none"
    URL = "url"
    IMAGE = "image"
    TIME = "time stamp"
    COUNTER = "counter"
    IDENTIFIER = "id"
    COMBINATION = "combination"
    OTHER = "other"


@dataclass(frozen=True)
class Hunk:
    """A place where pages differ: the tokens that only one of them has there, and some that both
    have beside it. `image`: the tokens are those of images."""

    deleted: tuple[str, ...]
    inserted: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    image: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.deleted + self.inserted

    @property
    def around(self) -> tuple[str, ...]:
        return self.before + self.after


_NAMES = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
am pm a p m utc gmt est edt cst cdt mst mdt pst pdt cet cest bst
年 月 日 时 時 分 秒 星 期 上 下 午
januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août
septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre
octubre noviembre diciembre
"""
_ABOUT_TIME = """
date time updated modified changed generated created published posted printed rendered retrieved
second seconds sec secs s ms milliseconds microseconds minute minutes min mins hour hours day days
ago today yesterday uhr zeit datum heure
"""
_TIME_WORDS = frozenset(_NAMES.split())
_EVIDENCE = _TIME_WORDS - {"a", "p", "m", "may", "mars", "sat", "sun", "mon"} | frozenset(
    _ABOUT_TIME.split())
_TIME_TOKEN = re.compile(
    r"\d{1,4}|\d{8}|\d{10}|\d{14}|\d{1,2}(st|nd|rd|th|am|pm|h|s|ms)|\d{2,8}t\d{2,6}z?|\d{2}z")
_YEAR = re.compile(r"(19|20)\d\d")
_CLOCK = re.compile(r"\b[0-5]\d [0-5]\d [0-5]\d\b")
_MIXED = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).{6,}|[0-9a-f]{8,}|\d{7,}")
_MOST_NUMBERS = 3


def kind_of(hunks: Iterable[Hunk], url_a: str, url_b: str) -> DifferenceKind:
    """The kind that all places have; COMBINATION if they have several, OTHER if one has none."""
    words = url_words(url_a), url_words(url_b)
    kinds = {_kind_of_hunk(hunk, *words) for hunk in hunks}
    if not kinds:
        return DifferenceKind.NONE
    if DifferenceKind.OTHER in kinds:
        return DifferenceKind.OTHER
    return kinds.pop() if len(kinds) == 1 else DifferenceKind.COMBINATION


def url_words(url: str) -> frozenset[str]:
    """The tokens of a URL, its escapes as they are and read."""
    both = f"{url} {unquote(url)}"
    return frozenset(token_texts(both.encode("utf-8", "surrogatepass")))


def _kind_of_hunk(hunk: Hunk, words_a: Collection[str],
                  words_b: Collection[str]) -> DifferenceKind:
    if set(hunk.deleted) <= set(words_a) and set(hunk.inserted) <= set(words_b):
        return DifferenceKind.URL
    if hunk.image:
        return DifferenceKind.IMAGE
    if _is_time(hunk):
        return DifferenceKind.TIME
    if _is_number(hunk.deleted) and _is_number(hunk.inserted):
        return DifferenceKind.COUNTER
    if all(map(_MIXED.fullmatch, hunk.tokens)):
        return DifferenceKind.IDENTIFIER
    return DifferenceKind.OTHER


def _is_time(hunk: Hunk) -> bool:
    """Numbers and names that dates and times are made of, with a word about time in them or
    beside them, a year, or a clock's three numbers."""
    if not all(t in _TIME_WORDS or _TIME_TOKEN.fullmatch(t) for t in hunk.tokens):
        return False
    near = hunk.tokens + hunk.around
    return (any(t in _EVIDENCE for t in near) or any(map(_YEAR.fullmatch, hunk.tokens))
            or all(_CLOCK.search(" ".join(hunk.before + own + hunk.after))
                   for own in (hunk.deleted, hunk.inserted)))


def _is_number(tokens: Sequence[str]) -> bool:
    """A number, which separators may have cut into a few."""
    digits = "".join(tokens)
    return 0 < len(tokens) <= _MOST_NUMBERS and digits.isdecimal() and len(
        max(tokens, key=len)) < 7
