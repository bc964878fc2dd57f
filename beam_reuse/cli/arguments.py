"""The command line and the config file, read into one value per option.

`beam-reuse --help` and every wrong command line are answered without importing Beam, unless
an option is named that is not ours.
"""

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from beam_reuse.cli.beam_options import beam_options, beam_runners, is_runner
from beam_reuse.cli.config import Config, ConfigError, read_config
from beam_reuse.cli.help_texts import (
    COMMANDS,
    EXPERIMENT,
    EXPERIMENTS,
    POSITIONALS,
    PROGRAM,
    WITHOUT_BEAM,
    help_of,
)
from beam_reuse.cli.idle import idle_in_clean, idle_option
from beam_reuse.cli.suggestions import did_you_mean
from beam_reuse.core.errors import UserError
from beam_reuse.declaring.kinds import FILE, NUMBERS
from beam_reuse.declaring.option import Option
from beam_reuse.io.files import local_path
from beam_reuse.options.table import BY_NAME, commands_with, options_by_name, options_of
from beam_reuse.options.values import default_text
from beam_reuse.runners import ENGINES

SHORT = {"output": "-o", "rows": "-n"}
_COMMENT = re.compile(r"--[^\s=]*\s")
"""How a query begins that begins with a comment; no option has a blank in its name."""


class UsageError(UserError):
    """A command line that cannot be understood; the message gives the way out."""


@dataclass(frozen=True)
class Arguments:
    """What the user asked for. `values` holds only options that were given, by name."""

    command: str
    values: dict[str, Any]
    inputs: tuple[str, ...]
    beam_args: tuple[str, ...]

    def __post_init__(self) -> None:
        runner = self.values.get("runner", "local")
        if runner.lower() not in ENGINES and not is_runner(runner):
            raise UsageError(f"--runner: unknown runner {runner!r}."
                             f"{did_you_mean(runner, [*ENGINES, *beam_runners()])}")


def one_folder(command: str, folders: Sequence[str]) -> str:
    """The one folder that a command was given."""
    if len(folders) != 1:
        raise UsageError(f"{command}: give one DIR, the folder that a run has written.")
    return local_path(folders[0])


def parse(argv: Sequence[str]) -> Arguments:
    """The arguments after the program's name. Raises UsageError or SettingError; `--help`
    and `--version` print and raise SystemExit as argparse does."""
    parser = _top_parser()
    if argv and argv[0] == "--debug":
        argv = [*argv[1:], *argv[:1]]
    if not argv or argv[0].startswith("-"):
        parser.parse_args(argv)
        raise UsageError(f"give a command: {', '.join(COMMANDS)}. See {PROGRAM} --help.")
    command, rest = argv[0], argv[1:]
    if command == EXPERIMENT:
        command, rest = _experiment_of(rest)
    elif command not in COMMANDS:
        raise UsageError(f"unknown command {command!r}.{did_you_mean(command, COMMANDS)} "
                         f"The commands are {', '.join(COMMANDS)}.")
    end = rest.index("--") if "--" in rest else len(rest)
    comments = [word for word in rest[:end] if _COMMENT.match(word)]
    ours, beam_args = split_beam_args(
        command, [word for word in rest[:end] if not _COMMENT.match(word)])
    given = vars(_parser_of(command).parse_intermixed_args(ours))
    inputs = (*given.pop("inputs", ()), *comments, *rest[end + 1 :])
    by_name = {option.name: option for option in options_of(command)}
    values = {name: by_name[name].read(_joined(text)) for name, text in given.items()}
    if "config" in values:
        found = _with_config(command, read_config(values["config"]), values, inputs, beam_args)
    else:
        found = Arguments(command, values, inputs, tuple(beam_args))
    if command == "run" and (idle := idle_option(values, found.values)):
        raise UsageError(f"run: {idle}")
    if command == "clean" and (idle := idle_in_clean(values, found.values)):
        raise UsageError(f"clean: {idle}")
    return found


def _experiment_of(argv: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The name of an experiment as the table of options has it, and what follows."""
    if not argv or argv[0].startswith("-"):
        _parser_of(EXPERIMENT).parse_args(argv)
        raise UsageError(f"{EXPERIMENT}: give one of {', '.join(EXPERIMENTS)}. "
                         f"See {PROGRAM} {EXPERIMENT} --help.")
    if argv[0] not in EXPERIMENTS:
        raise UsageError(f"{EXPERIMENT}: unknown experiment {argv[0]!r}."
                         f"{did_you_mean(argv[0], EXPERIMENTS)} "
                         f"There are {', '.join(EXPERIMENTS)}.")
    return f"{EXPERIMENT}-{argv[0]}", argv[1:]


def spelled(command: str) -> str:
    """A command as it is typed."""
    return command.replace(f"{EXPERIMENT}-", f"{EXPERIMENT} ")


def _joined(text: str | list[str]) -> str:
    """Values of an option that was given several times, as one list."""
    return text if isinstance(text, str) else "\n".join(text)


def _with_config(command: str, config: Config, values: dict[str, Any],
                 inputs: tuple[str, ...], beam_args: list[str]) -> Arguments:
    """The command line laid over a config file. Options of other commands in the file do not
    matter here, so that one file serves a job's `index` and its `run`."""
    unknown = [n for n in config.others if f"--{n}" not in beam_options()]
    if unknown:
        beams = (name.removeprefix("--") for name in beam_options())
        raise ConfigError(f"--config {config.path}: unknown key {unknown[0]!r}."
                          f"{did_you_mean(unknown[0], ['inputs', *BY_NAME], beams)}")
    known = options_by_name(command)
    there = {name: known[name].read(text) for name, text in config.options.items()}
    mine = {name: v for name, v in there.items() if command in known[name].commands}
    return Arguments(
        command, {**mine, **values}, inputs or config.inputs,
        (*config.beam_args(), *beam_args),
    )


def split_beam_args(command: str, argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our arguments and Beam's, each with its value and in order.

    Refuses any other option with the nearest known name.
    """
    takes_value = {f"--{o.name}": not o.is_flag for o in options_of(command)}
    takes_value.update({SHORT[o.name]: True for o in options_of(command) if o.name in SHORT})
    takes_value.update({"-h": False, "--help": False})
    takes_many = {f"--{o.name}" for o in options_of(command) if o.takes_many}
    ours: list[str] = []
    beams: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        name, has_value = word.split("=", 1)[0], "=" in word
        if name in takes_value or not word.startswith("--"):
            side, wants = ours, takes_value.get(name, False)
        elif name in _beams(command) and name.removeprefix("--") not in BY_NAME:
            side, wants = beams, _beams(command)[name]
        else:
            raise UsageError(_unknown_option(command, name))
        side.append(word)
        if wants and not has_value and rest:
            side.append(rest.pop(0))
            _refuse_list_with_blanks(command, name, side[-1], rest)
        elif wants and not has_value:
            raise UsageError(f"{spelled(command)}: {name} needs a value.")
        if name in takes_many and not has_value:
            while rest and not rest[0].startswith("-"):
                side += [name, rest.pop(0)]
    return ours, beams


def _refuse_list_with_blanks(command: str, name: str, value: str, rest: Sequence[str]) -> None:
    """Refuse `--gram-size 5 4`, whose second number would be read as an input."""
    option = next((o for o in options_of(command) if f"--{o.name}" == name), None)
    if option is None or option.kind.metavar != NUMBERS.metavar or not rest:
        return
    if re.fullmatch(r"[\d.]+,?", rest[0]) and not os.path.exists(rest[0]):
        raise UsageError(f"{spelled(command)}: {name} {value} {rest[0]}: lists take commas, no "
                         f"blanks: {name} {value.rstrip(',')},{rest[0].rstrip(',')}")


def _beams(command: str) -> dict[str, bool]:
    """The options of Beam that a command takes."""
    return {} if command in WITHOUT_BEAM else beam_options()


def _unknown_option(command: str, name: str) -> str:
    typed, takers = spelled(command), commands_with(name.removeprefix("--"))
    if takers:
        return (f"{typed}: {name} is no option of this command, only of "
                f"{_all([spelled(taker) for taker in takers])}.")
    names = [f"--{o.name}" for o in options_of(command)]
    return (f"{typed}: unknown option {name}.{did_you_mean(name, names, _beams(command))} "
            f"See {PROGRAM} {typed} --help.")


def _all(names: Sequence[str]) -> str:
    """Names as people list them: a, b and c."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


class _Parser(argparse.ArgumentParser):
    """argparse with our kind of error, and without guessing at shortened names."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **keywords
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog.removeprefix(PROGRAM).strip() or PROGRAM}: {message}")


def _top_parser() -> argparse.ArgumentParser:
    before, after = help_of(PROGRAM)
    parser = _Parser(
        prog=PROGRAM, usage=f"{PROGRAM} COMMAND [OPTIONS]", description=before, epilog=after)
    parser.add_argument("--debug", action="store_true", help=BY_NAME["debug"].help)
    parser.add_argument("--version", action=_Version, nargs=0,
                        help="show versions, and the engines that are here")
    return parser


def _parser_of(command: str) -> argparse.ArgumentParser:
    experiment = EXPERIMENTS.get(command.removeprefix(f"{EXPERIMENT}-"))
    usage = experiment or COMMANDS[command][0]
    before, after = help_of(command)
    parser = _Parser(
        prog=f"{PROGRAM} {spelled(command)}",
        usage=f"{PROGRAM} {spelled(command)} {usage}",
        description=before,
        epilog=after,
    )
    positional = usage.split(" ", 1)[0].strip("[].")
    if positional.isupper():
        about_it = POSITIONALS.get(positional, POSITIONALS["INPUT"])
        parser.add_argument("inputs", nargs="*", metavar=positional, help=about_it)
    groups: dict[str, Any] = {}
    for option in options_of(command):
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        _add(groups[option.group], option, command)
    return parser


def _add(group: Any, option: Option, command: str) -> None:
    """Teach argparse one option; values stay text, their kind reads them later."""
    names = [*filter(None, [SHORT.get(option.name)]), f"--{option.name}"]
    default = default_text(option, command)
    help_text = f"{option.help} (default: {default})" if default else option.help
    keywords: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS,
                                "help": help_text.replace("%", "%%")}
    if option.is_flag:
        group.add_argument(*names, action="store_const", const="true", **keywords)
    elif option.repeats:
        group.add_argument(*names, action="append", metavar=option.kind.metavar, **keywords)
    else:
        action = _Once if option.kind is FILE else "store"
        group.add_argument(*names, action=action, metavar=option.kind.metavar, **keywords)


class _Version(argparse.Action):
    """Prints versions, which are looked for only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from beam_reuse.cli.versions import versions

        print(versions())
        parser.exit()


class _Once(argparse.Action):
    """Keeps the one file of an option, and refuses a second: nothing would be done with the
    first. (Of other values the last wins, as everywhere.)"""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
                 values: Any, option_string: str | None = None) -> None:
        if hasattr(namespace, self.dest):
            parser.error(f"{option_string} is given twice, and takes one value; keep one.")
        setattr(namespace, self.dest, values)
