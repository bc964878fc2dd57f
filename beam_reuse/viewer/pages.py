"""One page: every row that names it."""

from typing import Any

from beam_reuse.io.results.manifest import NoResultError
from beam_reuse.io.results.tables import SCHEMAS
from beam_reuse.viewer.contents import NoContent
from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.texts import MarkedText, chunk_settings, parser_of, read_text
from beam_reuse.viewer.view import NotThere, View

ROWS = 50
_SEPARATE = ("pages", "matched_chunks")
_OTHERS = ("url", "because_of")


def row_of(view: View, url: str) -> dict[str, Any]:
    """The row of `pages`."""
    view.require("pages")
    rows = view.ask("pages", "*", "url = $url limit 1", url=url)
    if not rows:
        raise NotThere("The result has no page with this URL. A URL is given as the table pages "
                       "has it: with its scheme, the host in lower case.")
    return rows[0]


def page(view: View, url: str) -> dict[str, Any]:
    """Every row of every table that names a page, but for those that are damaged."""
    own = row_of(view, url)
    facts = {}
    for table in view.database.tables:
        columns = view.types[table]
        named = [name for name in columns if _names_page(table, name) and (
            columns[name] == "VARCHAR")]
        if not named or table in _SEPARATE:
            continue
        where = " or ".join(f'"{name}" = $url' for name in named)
        try:
            rows = view.ask(table, "*", f"{where} limit {ROWS + 1}", url=url)
        except (NotThere, NoResultError):
            continue  # the first screen says which are damaged
        if rows:
            facts[table] = {"rows": [*map(shown, rows[:ROWS])], "more": len(rows) > ROWS,
                            "columns": named}
    return {"page": shown(own), "facts": facts}


def _names_page(table: str, column: str) -> bool:
    schema = SCHEMAS.get(table)
    return column in _OTHERS or any(
        each.is_page for each in (schema.columns if schema else ()) if each.name == column)


def template_lines(view: View, host: str) -> dict[int, dict[str, Any]]:
    """The rows of `boilerplate` of a host by fingerprint."""
    return {int(row["fingerprint"], 16): row
            for row in view.ask("boilerplate", "*", "host = $host", host=host)}


def text_of(view: View, url: str) -> MarkedText:
    """The text of a page, unmarked."""
    settings = view.manifest.settings
    return read_text(view.contents.of(row_of(view, url)), chunk_settings(settings),
                     parser=parser_of(settings))


def record(view: View, file: str, offset: int) -> dict[str, Any]:
    """The bytes of a record at its place in a crawl file, as hexadecimal digits, and the compressed
    unit they were in, if it was in one that can be read."""
    try:
        found, unit = view.contents.bytes_at(file, offset)
        return {"bytes": found.hex(), "unit": unit}
    except NoContent as error:
        return {"why_not": str(error)}
