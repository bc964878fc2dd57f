"""A planted case: pages on hosts of their own, and what a run must find of them."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from beam_reuse.io.results import tables

HTML = "text/html; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class CasePage:
    """A page, given as its chunks (of HTML: each but the first begins at a `p` or `div` tag).

    `captured` and `address` are the crawl's own where they are None."""

    chunks: tuple[str, ...]
    content_type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)
    captured: datetime.datetime | None = None
    address: str | None = None

    @property
    def body(self) -> bytes:
        return ("\n" if self.content_type == HTML else "\n\n").join(self.chunks).encode()


@dataclass(frozen=True)
class Check:
    """One planted thing, what must be found of it and what was."""

    what: str
    expected: object
    found: object

    @property
    def passed(self) -> bool:
        return self.expected == self.found


class Case(Protocol):
    """Reuse that is planted on hosts of its own, so that no other check sees it."""

    def pages(self) -> Mapping[str, CasePage]:
        """Its pages by URL."""

    def checks(self, folder: str) -> Iterator[Check]:
        """What the result in a folder must have of them."""


def hosts_of(case: Case) -> set[str]:
    """The hosts that a case has for itself."""
    return {_host(url) for url in case.pages()}


def rows_of(folder: str, table: str, hosts: set[str], beside: bool = False) -> list[dict[str, Any]]:
    """The rows of a table in which a URL, a prefix or a host is one of `hosts`; the other rows, if
    `beside`."""
    rows = tables.read(folder, table).to_pylist()
    return [row for row in rows if beside != any(
        isinstance(value, str) and _host(value) in hosts for value in row.values())]


def _host(place: str) -> str:
    """The host of a URL or a prefix, or the text itself, if it is a host."""
    return place.split("//", 1)[-1].split("/", 1)[0]
