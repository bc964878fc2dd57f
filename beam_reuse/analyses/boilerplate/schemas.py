"""The tables of boilerplate."""

from beam_reuse.io.results.tables import Column, number, share, table, text

BOILERPLATE = table(
    "boilerplate",
    host=text, fingerprint=Column("", text, raw=8), text=text, pages=number, share=share,
    position=share,
)
BOILERPLATE_PAGES = table(
    "boilerplate_pages",
    url=text, lines=number, template_lines=number, tokens=number, template_tokens=number,
)

TABLES = (BOILERPLATE, BOILERPLATE_PAGES)
