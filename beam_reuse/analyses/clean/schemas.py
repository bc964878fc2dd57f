"""The table of what is removed from a corpus."""

from beam_reuse.io.results.tables import maybe, number, page, share, table, text

REMOVED = table(
    "removed", url=page, what=text, reason=text, because_of=maybe(page), containment=maybe(share),
    bytes=number,
)

TABLES = (REMOVED,)
