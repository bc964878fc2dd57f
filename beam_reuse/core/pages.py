"""What a crawl record can become: a page, a skipped record or a rejected one.

Every record read from a crawl ends as exactly one of the three, so that
records = pages + skipped + rejected can be checked on every run.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """What sort of content a page has; decides which features it gets.

    HTML and TEXT are *documents* (chunks and text), CODE has chunks only, OTHER has
    neither. The number is what blocks and the index store.
    """

    HTML = 0
    TEXT = 1
    CODE = 2
    OTHER = 3

    @property
    def label(self) -> str:
        """The word in the `kind` column of the pages table."""
        return ("document", "document", "code", "other")[self]

    @property
    def has_chunks(self) -> bool:
        return self is not Kind.OTHER

    @property
    def has_text(self) -> bool:
        return self in (Kind.HTML, Kind.TEXT)


# Why a record is skipped that holds no fetched document, but what a crawler records of one.
NO_DOCUMENT = frozenset((
    "warcinfo", "filedesc", "request", "metadata", "continuation", "dns"))


class RawPage(NamedTuple):
    """One fetched document with its payload decoded down to the bytes the author sent.

    `charset` is the name of the charset the payload is in (found by header, meta or
    detection; empty for kinds without text), `declared_type` the content type without
    parameters, lower-case, `link` and `last_modified` the HTTP headers of these names, empty
    without. `stored` are the bytes of the record in its file, where they were asked for, and
    `form` says what they are.
    """

    file: str
    offset: int
    record_length: int
    record_id: str
    fetched_url: str
    timestamp: int | None
    status: int | None
    ip: str
    kind: Kind
    content_type: str
    charset: str
    payload: bytes
    encoding_absent: bool = False
    link: str = ""
    last_modified: str = ""
    stored: bytes = b""
    form: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A sound record that is no page by the rules of the run."""

    file: str
    offset: int
    url: str
    reason: str

    @property
    def is_document(self) -> bool:
        """Whether somebody could look for it: a document was fetched from a URL."""
        return bool(self.url) and self.reason not in NO_DOCUMENT


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record, or an unreadable stretch of a file, that could not become a page. `rows`: how many
    rows such a stretch has, where that is known."""

    file: str
    offset: int
    url: str
    reason: str
    detail: str
    rows: int = 1


Outcome = RawPage | Skipped | Rejected
