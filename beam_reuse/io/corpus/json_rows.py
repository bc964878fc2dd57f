"""Rows of JSON Lines as they are written. What does not change keeps its bytes: numbers of any
length, repeated names, lone surrogates, and what is no JSON elsewhere (NaN).
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

from beam_reuse.io.crawl.rows import parse_json

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]', re.DOTALL)


class Member(NamedTuple):
    """A member of an object: its name, and the bytes of name and value."""

    name: str
    key: bytes
    value: bytes

    @property
    def is_text(self) -> bool:
        return self.value.startswith(b'"')

    @property
    def is_null(self) -> bool:
        return self.value == b"null"


def member(name: str, value: Any) -> Member:
    """A new member."""
    return Member(name, orjson.dumps(name), orjson.dumps(value))


def members_of(line: bytes) -> list[Member]:
    """The members of a line that is known to hold an object, in order. Cost: one pass over it,
    however deep it is nested."""
    found: list[Member] = []
    depth, key, start = 0, b"", -1
    for token in _TOKEN.finditer(line):
        sign = token.group()
        if sign in b"{[":
            depth += 1
        elif sign not in b"}],:":
            if depth == 1 and start < 0:
                key = sign
        elif sign == b":":
            if depth == 1 and start < 0:
                start = token.end()
        else:
            if depth == 1 and start >= 0:
                name = parse_json(key.decode("utf-8", "replace"))
                found.append(Member(name, key, line[start:token.start()].strip()))
                start = -1
            depth -= sign != b","
    return found


def object_of(members: Iterable[Member]) -> bytes:
    """An object of these members."""
    return b"{" + b",".join(each.key + b":" + each.value for each in members) + b"}"
