"""What the detector says of a page."""

from dataclasses import asdict, dataclass
from typing import Any

from beam_reuse.core.first_use import VisitVerdict


@dataclass(frozen=True)
class Match:
    """A chunk of the page that is a label, or with a `score` only similar to one, whose `sha1`
    this is: a row of `matched_chunks`."""

    position: int
    start: int
    end: int
    sha1: str
    source_url: str | None
    sources: int
    own: bool
    score: int | None = None


@dataclass(frozen=True)
class SourceDomain:
    """Where matching chunks come from: a registered domain, and how many it has."""

    name: str
    matching: int


@dataclass(frozen=True)
class Span:
    """A stretch of tokens: from `start` to before `end`."""

    start: int
    end: int


@dataclass(frozen=True)
class ItemMatch:
    """An evaluation item that has grams in common with the page: a row of `contamination`."""

    eval: str
    id: str
    field: str
    share: float
    grams: int
    spans: tuple[Span, ...]
    item_spans: tuple[Span, ...]


@dataclass(frozen=True)
class Finding:
    """What is known of one page: its row of `page_reuse`, its matches and their sources.

    `chunks` counts without stop chunks; `contains` = matching / chunks, None without chunks. What
    is the page's own (a source is on its registered domain) is among `matches` and counted in
    `own_matching`, and nowhere else; so is a known file that is its own (`own_file`) no
    `file_match`. `file_source` is the strongest source of the file. `sources` are ranked by how
    many matching chunks each has, ties by name; a chunk that several have counts for each. A
    detector that trusts on first use gives its `first_use` verdict, too: matches are then what
    belongs to others or is the page's own, and sources count distinct chunks.
    `items` are evaluation items of gram labels of which the page has a gram; it is `contaminated`
    if it has enough of one; None where there are no gram labels.

    >>> from beam_reuse import Detector
    >>> finding = Detector("labels.txt").check("<div>Home Contact Imprint</div>")
    >>> [match.position for match in finding.matches], finding.as_json()["contains"]
    ([0], 1.0)
    """

    url: str
    chunks: int
    stop_chunks: int
    matching: int
    own_matching: int
    distinct_matching: int
    contains: float | None
    file_match: bool
    own_file: bool
    file_source: str | None
    flagged: bool
    matches: tuple[Match, ...]
    sources: tuple[SourceDomain, ...]
    first_use: VisitVerdict | None = None
    items: tuple[ItemMatch, ...] | None = None
    contaminated: bool | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields; `first_use` only where there is one, and
        nothing of items without gram labels."""
        values = asdict(self)
        if self.first_use is None:
            del values["first_use"]
        if self.items is None:
            del values["items"], values["contaminated"]
        return values


@dataclass(frozen=True)
class Learned:
    """What a trusted page added: whether its file is new, how many distinct chunks are, and
    how many were labels before."""

    url: str
    file: bool
    chunks: int
    known: int

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order of the fields."""
        return asdict(self)
