"""Which options Beam itself takes. Importing Beam costs seconds, so only a command line or
config file that names an option not ours comes here."""

import argparse
from collections.abc import Iterator
from functools import cache
from typing import Any

OURS = ("--runner",)


@cache
def beam_options() -> dict[str, bool]:
    """Every pipeline option of the installed Beam, with whether it takes a value."""
    from apache_beam.options.pipeline_options import PipelineOptions

    parser = argparse.ArgumentParser(add_help=False, conflict_handler="resolve")
    for owner in _subclasses(PipelineOptions):
        if "_add_argparse_args" in vars(owner):
            owner._add_argparse_args(parser)
    return {
        name: action.nargs != 0
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--") and name not in OURS
    }


@cache
def beam_runners() -> tuple[str, ...]:
    """Names of the runners the installed Beam knows."""
    from apache_beam.options.pipeline_options import StandardOptions

    return tuple(sorted(path.rsplit(".", 1)[-1] for path in StandardOptions.ALL_KNOWN_RUNNERS))


def is_runner(name: str) -> bool:
    """Whether Beam takes `name`: in any case, with or without the word Runner at its end, or
    the full name of a class."""
    known = {runner.lower() for runner in beam_runners()}
    return "." in name or bool({name.lower(), name.lower() + "runner"} & known)


def _subclasses(owner: type) -> Iterator[Any]:
    children: list[Any] = owner.__subclasses__()
    for child in children:
        yield child
        yield from _subclasses(child)
