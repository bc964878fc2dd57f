"""Writes the pages of this folder that follow from the code: `make docs`. Tests compare.

options.md               every option, from the tables of options and of the analyses
adding-an-analysis.md    the files of the example, between its own sentences
"""

import re
from collections.abc import Iterator
from pathlib import Path

from beam_reuse.cli.arguments import spelled
from beam_reuse.declaring.option import Option
from beam_reuse.options.table import OPTIONS
from beam_reuse.options.values import default_text

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "tests" / "plugins" / "outside"
HEAD = """\
# Options

Every option of `beam-reuse`, by group; `beam-reuse COMMAND --help` has those of one command. In a
config file (`--config`) an option is a key without its dashes. This page is made by `make docs`.
"""
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


def walk_through(text: str) -> str:
    """adding-an-analysis.md with the files of the example as they are."""

    def shown(match: re.Match[str]) -> str:
        return f"`{match[1]}`:\n\n```python\n{(EXAMPLE / match[1]).read_text()}```"

    return _SHOWN.sub(shown, text)


def main() -> None:
    (HERE / "options.md").write_text(options_page())
    page = HERE / "adding-an-analysis.md"
    page.write_text(walk_through(page.read_text()))


if __name__ == "__main__":
    main()
