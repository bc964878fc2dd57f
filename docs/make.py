"""Writes the pages of this folder that follow from the code: `make docs`. Tests compare.

options.md               every option, from the tables of options and of the analyses
schemas.md               every table with its columns, from the schemas that are written
settings.md              every settings class with its fields, defaults and options
adding-an-analysis.md    the files of the example, between its own sentences
provider.yaml            in beam_reuse: the transforms that Beam YAML can use
"""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from beam_reuse.cli.arguments import spelled
from beam_reuse.declaring.option import Option
from beam_reuse.declaring.registry import known
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results.tables import (
    COMMON,
    EVENTS,
    LABELS,
    PAGES_WITHOUT_LABELS,
    SPANS,
    Column,
    TableSchema,
)
from beam_reuse.options.table import OPTIONS
from beam_reuse.options.values import default_text
from beam_reuse.yaml_transforms import provider

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "tests" / "plugins" / "outside"
HEAD = """\
# Options

Every option of `beam-reuse`, by group; `beam-reuse COMMAND --help` has those of one command. In a
config file (`--config`) an option is a key without its dashes. This page is made by `make docs`.
"""
SCHEMAS_HEAD = """\
# Schemas

The columns of every table, in the order in which they are stored; rows are sorted by all columns
from the left. [Tables](tables.md) explains them. This page is made by `make docs`.
"""
SETTINGS_HEAD = """\
# Settings in Python

The settings of each transform, with the option of the command line that sets the same value.
Settings are frozen dataclasses. They check their values when they are made: a wrong value raises
`SettingError`, which names the field and the values allowed. This page is made by `make docs`.
"""
TYPES = {"string": "text", "int64": "integer", "double": "number", "bool": "true or false",
         "timestamp[us, tz=UTC]": "time (UTC)"}
# A file of the example: its name, and a block that shows it.
_SHOWN = re.compile(r"^`(shared_images/\w+\.py)`:\n\n```python\n.*?^```$", re.S | re.M)


def options_page() -> str:
    """The content of options.md."""
    groups: dict[str, list[Option]] = {}
    for option in OPTIONS:
        groups.setdefault(option.group, []).append(option)
    return "\n".join([HEAD, *(line for name, group in groups.items()
                              for line in _table(name, group))])


def _table(name: str, options: list[Option]) -> Iterator[str]:
    yield from (f"## {name}", "", "| option | default | what it does | commands |",
                "|---|---|---|---|")
    for option in options:
        value = "" if option.is_flag else f" {option.kind.metavar}"
        default = default_text(option, option.commands[0])
        commands = ", ".join(map(spelled, option.commands))
        yield "| " + " | ".join((
            _cell(f"`--{option.name}{value}`"), _cell(f"`{default}`" if default else ""),
            _cell(re.sub(r"(<[^ ]+>)", r"`\1`", option.help)), commands)) + " |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def schemas_page() -> str:
    """The content of schemas.md."""
    return "\n".join([SCHEMAS_HEAD, *(line for name, tables in _tables_by_owner()
                                      for line in _schemas(name, tables))])


def _tables_by_owner() -> Iterator[tuple[str, list[TableSchema]]]:
    """Tables of every run, then those of each analysis."""
    internal = {PAGES_WITHOUT_LABELS.name, EVENTS.name, LABELS.name}
    yield "every run", [each for each in COMMON if each.name not in internal]
    for about in known().values():
        tables = [each for each in about.schemas()]
        if about.name == "discovery":
            tables.append(LABELS)
        if tables:
            yield about.name, tables
    yield "index", [EVENTS]


def _schemas(owner: str, tables: list[TableSchema]) -> Iterator[str]:
    yield from (f"## {owner}", "")
    for each in tables:
        yield from (f"### {each.name}", "", "| column | type | null |", "|---|---|---|")
        for column in each.columns:
            kind = "URL" if column.is_page else TYPES.get(str(column.type)) or _nested(column)
            yield f"| {column.name} | {kind} | {'yes' if column.nullable else ''} |"
        yield ""


def _nested(column: Column) -> str:
    return "list of spans: start, end" if column.type == SPANS else "list of URLs" \
        if column.is_page else "list of texts"


def settings_page() -> str:
    """The content of settings.md."""
    settings = Settings()
    places = {name: getattr(settings, name) for name in ("read", "chunks", "stops")}
    places |= dict(settings.of_analyses)
    return "\n".join([SETTINGS_HEAD, *(line for place, each in places.items()
                                       for line in _settings(place, each))])


def _settings(place: str, settings: Any) -> Iterator[str]:
    fields = dataclasses.fields(settings)
    if not fields:
        return
    yield from (f"## {type(settings).__name__}", "", "| field | default | option | what it does |",
                "|---|---|---|---|")
    for each in fields:
        options = [one for one in OPTIONS if one.setting == f"{place}.{each.name}"]
        names = ", ".join(f"`--{one.name}`" for one in options)
        help = "; ".join(re.sub(r"(<[^ ]+>)", r"`\1`", one.help) for one in options)
        default = _cell(f"`{getattr(settings, each.name)!r}`")
        yield f"| `{each.name}` | {default} | {names} | {_cell(help)} |"
    yield ""


def walk_through(text: str) -> str:
    """adding-an-analysis.md with the files of the example as they are."""

    def shown(match: re.Match[str]) -> str:
        return f"`{match[1]}`:\n\n```python\n{(EXAMPLE / match[1]).read_text()}```"

    return _SHOWN.sub(shown, text)


PAGES = {"options.md": options_page, "schemas.md": schemas_page, "settings.md": settings_page}


def main() -> None:
    for name, content in PAGES.items():
        (HERE / name).write_text(content())
    (HERE.parent / "beam_reuse" / "provider.yaml").write_text(provider())
    page = HERE / "adding-an-analysis.md"
    page.write_text(walk_through(page.read_text()))


if __name__ == "__main__":
    main()
