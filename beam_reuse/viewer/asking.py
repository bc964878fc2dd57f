"""What a browser may ask: queries with names and parameters with types, and nothing else."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

from beam_reuse.core.errors import UserError
from beam_reuse.viewer import overview, pages, pairs, passages, quilts, sites, tables
from beam_reuse.viewer.view import NotThere, View

Answer = Callable[..., Any]

QUERIES: Mapping[str, Answer] = {
    "overview": overview.overview, "findings": overview.findings,
    "table": tables.browse, "count": tables.count,
    "passage": passages.passage,
    "neighbourhoods": sites.neighbourhoods, "site": sites.site, "shared": sites.shared,
    "page": pages.page, "text": pages.text, "record": pages.record,
    "pair": pairs.pair, "similarities": pairs.similarities,
    "quilt": quilts.quilt, "source": quilts.source,
}
LONGEST_VALUE = 1 << 16


def answer(view: View, name: str, given: Mapping[str, Sequence[str]]) -> Any:
    """What the query `name` says, with parameters as text. Refuses names that are not known,
    parameters that are missing, not known or given twice, and values of another type."""
    if name not in QUERIES:
        raise NotThere(f"There is no query {name!r}.")
    query = QUERIES[name]
    types = get_type_hints(query)
    wanted = {key: each for key, each in inspect.signature(query).parameters.items()
              if key != "view"}
    for key in given:
        if key not in wanted:
            raise UserError(f"{name}: there is no parameter {key!r}.")
    values = {key: _read(key, types[key], texts) for key, texts in given.items()}
    for key, each in wanted.items():
        if key not in values and each.default is inspect.Parameter.empty:
            raise UserError(f"{name}: give {key}.")
    return query(view, **values)


def _read(name: str, kind: Any, texts: Sequence[str]) -> Any:
    if any(len(text) > LONGEST_VALUE for text in texts):
        raise UserError(f"{name} is too long.")
    if kind == Sequence[str]:
        return list(texts)
    if len(texts) != 1:
        raise UserError(f"{name} is given twice.")
    text = texts[0]
    if kind is bool and text in ("true", "false"):
        return text == "true"
    if kind is int and text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    if kind is str:
        return text
    raise UserError(f"{name}: {text[:40]!r} is not of its type.")
