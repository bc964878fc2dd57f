"""Trust on first use: whose content a page is made of, by the rules of docs/edge.md.

Here is what is decided; `io.trust_store` keeps what was learnt.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from beam_reuse.core.settings import require

# Domains that a person joined have the number of their owner, any other domain is its own.
Owner = int | str


@dataclass(frozen=True)
class FirstUseSettings:
    """When a page is flagged, what is learnt, and how much is kept (docs/edge.md).

    >>> FirstUseSettings(learn_pages=("*/sign-in",)).learns("http://bank.example/sign-in")
    True
    """

    min_evidence: int = 2
    settle_days: int = 3
    max_age: int = 365
    max_sites: int = 1000
    max_site_chunks: int = 1000
    learn_pages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("min_evidence", "settle_days", "max_sites", "max_site_chunks"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "1 or more")
        require(self.max_age >= 0, "max_age", self.max_age, "0 or more days")

    def flags(self, evidence: int, chunks: int) -> bool:
        """Whether this much evidence for one owner flags a page of so many distinct chunks."""
        return evidence >= self.min_evidence or 2 * evidence > chunks

    def learns(self, url: str) -> bool:
        """Whether the page of a canonical URL is taken for a login page by its URL alone."""
        return any(_fits(pattern, url) for pattern in self.learn_pages)


@dataclass(frozen=True)
class Passage:
    """A chunk of a page that belongs to somebody else: its text, and where it was learnt."""

    sha1: str
    text: str
    domain: str
    page: str


@dataclass(frozen=True)
class VisitVerdict:
    """The answer to a visit: whose content the page is made of, and whether it was learnt.

    `evidence` is the largest number of passages that belong to any one owner; `domain` names that
    owner and `passages` are its own, where these are enough to flag the page.
    """

    login: bool
    flagged: bool
    domain: str | None
    evidence: int
    passages: tuple[Passage, ...]
    learnt: bool
    new: int

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields."""
        return asdict(self)


@dataclass(frozen=True)
class LearntSite:
    """A site of a store. `owner` are all domains that are one with it, `pages` where its chunks
    were first seen."""

    domain: str
    owner: tuple[str, ...]
    days: int
    seen: int
    chunks: int
    pages: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields."""
        return asdict(self)


class Known(NamedTuple):
    """A chunk that a site has shown, and is not too old."""

    sha1: bytes
    domain: str
    owner: Owner
    page: str
    first: int
    settled: bool


class Evidence(NamedTuple):
    """What of a page belongs to one other owner: its name, and the chunks, in the order of the
    page, each with the site it is shown for."""

    name: str
    chunks: tuple[Known, ...]


def _fits(pattern: str, text: str) -> bool:
    """Whether a pattern, in which * is any run of characters, fits the whole of a text. Cost: one
    pass over the text, which whoever wants to be a burden may have written."""
    first, *others = pattern.split("*")
    if not others:
        return text == first
    *middle, last = others
    at, end = len(first), len(text) - len(last)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def owner_of(known: Collection[Known]) -> Owner | None:
    """Whom a chunk belongs to, of all that the store knows of it; None for nobody."""
    first = min(known, key=lambda row: row.first).owner
    shared = any(row.settled and row.owner != first for row in known)
    return None if shared else first


def weigh(
    order: Iterable[bytes], known: Mapping[bytes, Sequence[Known]], own: Owner,
) -> list[Evidence]:
    """What the distinct chunks of a page, in their `order`, say of other owners than its `own`: the
    owner with most evidence first, ties by name."""
    found: dict[Owner, list[list[Known]]] = {}
    for sha1 in order:
        rows = known.get(sha1, ())
        owner = owner_of(rows) if rows else None
        if owner is not None and owner != own:
            found.setdefault(owner, []).append([row for row in rows if row.owner == owner])
    return sorted(map(_named, found.values()), key=lambda item: (-len(item.chunks), item.name))


def _named(chunks: list[list[Known]]) -> Evidence:
    """The evidence for one owner, by the rows of its own sites."""
    counts: dict[str, int] = {}
    for rows in chunks:
        for row in rows:
            counts[row.domain] = counts.get(row.domain, 0) + 1
    name = min(counts, key=lambda domain: (-counts[domain], domain))
    return Evidence(name, tuple(
        min(rows, key=lambda row: (row.domain != name, row.domain)) for rows in chunks))
