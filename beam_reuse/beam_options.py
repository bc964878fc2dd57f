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


def _subclasses(owner: type) -> Iterator[Any]:
    children: list[Any] = owner.__subclasses__()
    for child in children:
        yield child
        yield from _subclasses(child)
