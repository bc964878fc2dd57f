"""The table of origins."""

from beam_reuse.io.results.tables import maybe, number, table, text

ORIGINS = table(
    "origins",
    kind=text, set=text, origin=maybe(text), evidence=text, members=number, agree=number,
    against=number, other=maybe(text),
)

TABLES = (ORIGINS,)
