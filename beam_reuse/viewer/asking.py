"""What a browser may ask: queries with names and parameters with types, and nothing else."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, get_type_hints

from beam_reuse.core.errors import UserError
from beam_reuse.viewer.view import NotThere, View

QUERIES: Mapping[str, str] = {
    "overview": "overview.overview", "findings": "overview.findings",
    "table": "tables.browse", "count": "tables.count", "reasons": "tables.reasons",
    "family": "families.family",
    "passage": "passages.passage", "line": "passages.line", "search": "passages.search",
    "marked": "marking.marked",
    "neighbourhoods": "sites.neighbourhoods", "site": "sites.site", "shared": "shared.shared",
    "page": "pages.page", "text": "reading.text", "record": "pages.record",
    "pair": "pairs.pair", "similarities": "pairs.similarities",
    "quilt": "quilts.quilt", "source": "quilts.source",
    "sheets": "judging.sheets", "item": "judging.item",
    "precision": "judged.precision", "evaluation": "judged.evaluation",
}
CHANGES: Mapping[str, str] = {
    "judge": "judging.judge", "undo": "judging.undo", "draw": "judging.draw",
    "stop_list": "judged.stop_list", "mark": "marking.mark",
}
"""What a browser may change, by POST alone."""
LONGEST_VALUE = 1 << 16


def answer(view: View, name: str, given: Mapping[str, Sequence[str]],
           known: Mapping[str, str] = QUERIES) -> Any:
    """What the query `name` says, with parameters as text. Refuses names that are not known,
    parameters that are missing, not known or given twice, and values of another type."""
    if name not in known:
        raise NotThere(f"There is no query {name!r}.")
    query = _loaded(known[name])
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


def change(view: View, name: str, content: bytes) -> Any:
    """Change what `name` says; the parameters are a JSON object of texts, whole numbers and lists
    of texts."""
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError("This is no JSON.") from error
    if not isinstance(given, dict):
        raise UserError("Parameters are given by name.")
    texts = {key: [*value] if isinstance(value, list) else [value] for key, value in given.items()}
    for key, values in texts.items():
        if not all(isinstance(each, str | int) and not isinstance(each, bool) for each in values):
            raise UserError(f"{key} is not of its type.")
    return answer(view, name, {key: [*map(str, values)] for key, values in texts.items()}, CHANGES)


def _loaded(where: str) -> Callable[..., Any]:
    """The function `MODULE.NAME` of the viewer, loaded when it is first asked for: what reads pages
    takes a second and 100 MB, which the first screen does without."""
    module, name = where.split(".")
    found: Callable[..., Any] = getattr(import_module(f"beam_reuse.viewer.{module}"), name)
    return found


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
