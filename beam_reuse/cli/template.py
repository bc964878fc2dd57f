"""The Dataflow template: its parameters are our options, its launcher is our command line.

A template is launched as `python main.py --parameter=value ...`, with options of Beam that the
service adds. Every option that changes values is a parameter, under its name with `_` for `-`.
"""

import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from beam_reuse.cli.beam_options import beam_options
from beam_reuse.declaring import kinds
from beam_reuse.declaring.option import Option
from beam_reuse.options.table import options_of
from beam_reuse.options.values import default_text

COMMANDS = ("run", "index")
# The image that the launcher and the workers are made of, as it names itself.
IMAGE = "BEAM_REUSE_IMAGE"
# What says where and how to run is the service's to say.
NOT_FOR_A_TEMPLATE = ("runner", "workers", "engines-dir", "dry-run", "config", "debug")
# Options whose names are taken: the service gives the labels of the job with --labels.
RENAMED = {"labels": "label_lists"}

_NUMBER = r"[0-9]+"
_SHARE = r"(0|1|[01]?\.[0-9]+)"
_PLACE = r"gs://[^,]+"
_LIST = "{0}(,{0})*"
_AUTO = "|auto"
# What a value must match, by how help names its kind.
REGEXES = {
    kinds.WHOLE.metavar: _NUMBER, f"{kinds.WHOLE.metavar}{_AUTO}": f"({_NUMBER}{_AUTO})",
    kinds.SHARE.metavar: _SHARE, f"{kinds.SHARE.metavar}{_AUTO}": f"({_SHARE}{_AUTO})",
    kinds.SIZE.metavar: r"[0-9]+(\.[0-9]+)?[KMGkmg]?([iI]?[bB])?",
    kinds.FOLDER.metavar: r"gs://[^/,]+(/[^,]+)?", kinds.FILES.metavar: _LIST.format(_PLACE),
    kinds.STATUSES.metavar: r"([0-9]+(,[0-9]+)*|all)", kinds.WORDS.metavar: r"[^,]+(,[^,]+)*",
    f"{kinds.WORDS.metavar}{_AUTO}": r"[^,]+(,[^,]+)*",
}
_FINER = {
    kinds.NUMBERS: _LIST.format("-?[0-9]+"), kinds.SHARES: _LIST.format(_SHARE),
    kinds.CONTENT_TYPES: "[a-z,]+",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of the template: what the service shows of it, and how it checks a value."""

    name: str
    group: str
    help: str
    regex: str
    type: str = "TEXT"
    is_optional: bool = True
    choices: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the template's metadata has it."""
        return {
            "name": self.name,
            "label": self.name.replace("_", " ").capitalize(),
            "helpText": self.help,
            "groupName": self.group,
            "isOptional": self.is_optional,
            "paramType": self.type,
            "regexes": [f"^{self.regex}$"],
            **({"enumOptions": [{"value": each} for each in self.choices]} if self.choices else {}),
        }


def parameters() -> tuple[Parameter, ...]:
    """All parameters, in the order of the table of options. None has a default of its own: the
    service would give all of them, and options that do nothing are refused."""
    return (
        Parameter("inputs", "running", "what to read: files, folders or globs, with commas between "
                  "them", _LIST.format(_PLACE), is_optional=False),
        Parameter("command", "running", "run: find reuse; index: parse once, for many later runs "
                  "(default: run)", _one_of(COMMANDS), "ENUM", choices=COMMANDS),
        *(_parameter(option) for option in template_options()
          if option.name not in NOT_FOR_A_TEMPLATE),
        Parameter("sdk_container_image", "running", "the image of the workers (default: that of "
                  "the template)", r"[^\s]+"),
    )


def template_options() -> tuple[Option, ...]:
    """The options of all commands that the template has, each once."""
    return tuple({option.name: option for command in COMMANDS
                  for option in options_of(command)}.values())


def _parameter(option: Option) -> Parameter:
    default = default_text(option, next(each for each in COMMANDS if each in option.commands))
    about = f"{option.help} (default: {default})" if default else option.help
    if option.kind is kinds.FILES:
        about += "; on gs://, with commas between them"
    name, metavar = parameter_name(option), option.kind.metavar
    if option.is_flag:
        return Parameter(name, option.group, about, "(true|false)", "BOOLEAN")
    if metavar.islower():
        choices = tuple(metavar.split("|"))
        return Parameter(name, option.group, about, _one_of(choices), "ENUM", choices=choices)
    types = {kinds.WHOLE.metavar: "NUMBER", kinds.FOLDER.metavar: "GCS_WRITE_FOLDER"}
    return Parameter(name, option.group, about, _FINER.get(option.kind) or REGEXES[metavar],
                     types.get(metavar, "TEXT"), is_optional=option.kind is not kinds.FOLDER)


def parameter_name(option: Option) -> str:
    return RENAMED.get(option.name, option.name.replace("-", "_"))


def _one_of(words: Sequence[str]) -> str:
    return f"({'|'.join(words)})"


def metadata() -> dict[str, Any]:
    """The template's metadata, as the service wants it."""
    return {
        "name": "beam-reuse",
        "description": "Finds content reuse in web crawls: what is copied, where, by whom, and "
                       "from whom.",
        "parameters": [each.as_json() for each in parameters()],
    }


def command_line(argv: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """What a launch with the arguments `argv` asks of `beam-reuse`. An empty value is none."""
    given = dict(_given(argv))
    beams = [word.replace("--labels=", "--label=") for word in argv if _is_beams(word)]
    command = given.pop("command", "") or "run"
    inputs = [path for path in given.pop("inputs", "").split(",") if path]
    image = environment.get(IMAGE)
    if image and not any(word.startswith("--sdk_container_image=") for word in beams):
        beams.append(f"--sdk_container_image={image}")
    return [command, *inputs, "--runner=dataflow",
            *(word for option in template_options() if parameter_name(option) in given
              for word in _words(option, given[parameter_name(option)])), *beams]


def _given(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Parameters with their values."""
    ours = {each.name for each in parameters()} - {"sdk_container_image"}
    for word in argv:
        name, _, value = word.removeprefix("--").partition("=")
        if name in ours and value:
            yield name, value


def _is_beams(word: str) -> bool:
    name, _, value = word.partition("=")
    return name in beam_options() and (bool(value) or "=" not in word)


def _words(option: Option, value: str) -> list[str]:
    """A parameter as it is given on our command line."""
    if option.is_flag:
        return [f"--{option.name}"] if value == "true" else []
    values = value.split(",") if option.kind is kinds.FILES else [value]
    return [f"--{option.name}={each}" for each in values]


def entry() -> NoReturn:
    """The launcher's program."""
    from beam_reuse.cli.main import main

    logging.basicConfig(level=logging.INFO)
    words = command_line(sys.argv[1:], os.environ)
    logging.info("beam-reuse %s", " ".join(words))
    sys.exit(main(words))
