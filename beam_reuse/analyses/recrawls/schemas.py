"""The table of recrawls."""

from beam_reuse.io.results.tables import TIMESTAMP, maybe, number, table, text

RECRAWLED = table(
    "recrawled",
    url=text, change=text, timestamp=maybe(TIMESTAMP), old_timestamp=maybe(TIMESTAMP),
    b_similarity=maybe(number), c_similarity=maybe(number),
)

TABLES = (RECRAWLED,)
