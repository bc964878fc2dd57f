"""The command line and the config file, read into one value per option.

`beam-reuse --help` and every wrong command line are answered without importing Beam, unless
an option is named that is not ours.
"""

import argparse
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from beam_reuse.cli.beam_options import beam_options, beam_runners, is_runner
from beam_reuse.cli.config import Config, ConfigError, read_config
from beam_reuse.cli.help_texts import COMMANDS, DESCRIPTIONS, EXAMPLES, PROGRAM
from beam_reuse.core.errors import UserError
from beam_reuse.options.table import BY_NAME, Option, default_text, options_of


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
        if runner != "local" and not is_runner(runner):
            raise UsageError(f"--runner: unknown runner {runner!r}."
                             f"{_nearest(runner, ['local', *beam_runners()])}")


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
    if command not in COMMANDS:
        raise UsageError(f"unknown command {command!r}.{_nearest(command, COMMANDS)} "
                         f"The commands are {', '.join(COMMANDS)}.")
    end = rest.index("--") if "--" in rest else len(rest)
    ours, beam_args = split_beam_args(command, rest[:end])
    given = vars(_parser_of(command).parse_intermixed_args(ours))
    inputs = (*given.pop("inputs", ()), *rest[end + 1 :])
    values = {name: BY_NAME[name].read(text) for name, text in given.items()}
    if "config" in values:
        return _with_config(command, read_config(values["config"]), values, inputs, beam_args)
    return Arguments(command, values, inputs, tuple(beam_args))


def _with_config(command: str, config: Config, values: dict[str, Any],
                 inputs: tuple[str, ...], beam_args: list[str]) -> Arguments:
    """The command line laid over a config file. Options of other commands in the file do not
    matter here, so that one file serves a job's `index` and its `run`."""
    unknown = [n for n in config.others if f"--{n}" not in beam_options()]
    if unknown:
        known = [*BY_NAME, "inputs", *(name.removeprefix("--") for name in beam_options())]
        raise ConfigError(f"--config {config.path}: unknown key {unknown[0]!r}."
                          f"{_nearest(unknown[0], known)}")
    there = {name: BY_NAME[name].read(text) for name, text in config.options.items()}
    mine = {name: v for name, v in there.items() if command in BY_NAME[name].commands}
    return Arguments(
        command, {**mine, **values}, inputs or config.inputs,
        (*config.beam_args(), *beam_args),
    )


def split_beam_args(command: str, argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our arguments and Beam's, each with its value and in order.

    Refuses any other option with the nearest known name.
    """
    takes_value = {f"--{o.name}": not o.is_flag for o in options_of(command)}
    takes_value.update({"-o": True, "-h": False, "--help": False})
    ours: list[str] = []
    beams: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        name, has_value = word.split("=", 1)[0], "=" in word
        if name in takes_value or not word.startswith("--"):
            side, wants = ours, takes_value.get(name, False)
        elif name in beam_options() and name.removeprefix("--") not in BY_NAME:
            side, wants = beams, beam_options()[name]
        else:
            raise UsageError(_unknown_option(command, name))
        side.append(word)
        if wants and not has_value and rest:
            side.append(rest.pop(0))
        elif wants and not has_value:
            raise UsageError(f"{command}: {name} needs a value.")
    return ours, beams


def _unknown_option(command: str, name: str) -> str:
    known = BY_NAME.get(name.removeprefix("--"))
    if known:
        return f"{command}: {name} is no option of this command, only of {_all(known.commands)}."
    names = [f"--{o.name}" for o in options_of(command)]
    return (f"{command}: unknown option {name}.{_nearest(name, [*names, *beam_options()])} "
            f"See {PROGRAM} {command} --help.")


def _nearest(word: str, known: Iterable[str]) -> str:
    """" Did you mean …?", or nothing if no known name is near; `_` counts as `-`."""
    spelled = {name.replace("_", "-"): name for name in reversed(list(known))}
    near = difflib.get_close_matches(word.replace("_", "-"), spelled, 1, 0.6)
    return f" Did you mean {spelled[near[0]]}?" if near else ""


def _all(names: Sequence[str]) -> str:
    return " and ".join(names)


class _Parser(argparse.ArgumentParser):
    """argparse with our kind of error, and without guessing at shortened names."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **keywords
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog.removeprefix(PROGRAM).strip() or PROGRAM}: {message}")


def _top_parser() -> argparse.ArgumentParser:
    from beam_reuse import __version__

    commands = "\n".join(f"  {name:8}{about}" for name, (_, about) in COMMANDS.items())
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND [OPTIONS]",
        description="Finds content reuse in web crawls: what is copied, where, and how often.\n\n"
        f"commands:\n{commands}\n\n{PROGRAM} COMMAND --help tells the options of each.",
        epilog=EXAMPLES[""],
    )
    parser.add_argument("--debug", action="store_true", help=BY_NAME["debug"].help)
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _parser_of(command: str) -> argparse.ArgumentParser:
    usage, about = COMMANDS[command]
    parser = _Parser(
        prog=f"{PROGRAM} {command}",
        usage=f"{PROGRAM} {command} {usage}",
        description=DESCRIPTIONS.get(command, about),
        epilog=EXAMPLES[command],
    )
    if "INPUT" in usage:
        parser.add_argument("inputs", nargs="*", metavar="INPUT", help=DESCRIPTIONS["INPUT"])
    groups: dict[str, Any] = {}
    for option in options_of(command):
        if option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        _add(groups[option.group], option)
    return parser


def _add(group: Any, option: Option) -> None:
    """Teach argparse one option; values stay text, their kind reads them later."""
    names = [f"--{option.name}"] if option.name != "output" else ["-o", "--output"]
    default = default_text(option)
    help_text = f"{option.help} (default: {default})" if default else option.help
    keywords: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS,
                                "help": help_text.replace("%", "%%")}
    if option.is_flag:
        group.add_argument(*names, action="store_const", const="true", **keywords)
    else:
        group.add_argument(*names, metavar=option.kind.metavar, **keywords)
