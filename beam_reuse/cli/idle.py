"""Options of the command line that would change nothing, and what to add so that they do."""

from collections.abc import Collection, Mapping
from typing import Any

from beam_reuse.declaring.registry import known
from beam_reuse.declaring.settings import Settings


def idle_option(given: Collection[str], values: Mapping[str, Any]) -> str:
    """Why an option that is `given` on the command line of `run` does nothing, by the `values` of
    command line and config file together; '' if there is none. Config files may set what they
    like, so that one serves several jobs."""
    reasons = (about.idle(given, values) for about in known().values())
    return _of_other_analyses(given, values) or next(filter(None, reasons), "")


def _of_other_analyses(given: Collection[str], values: Mapping[str, Any]) -> str:
    asked = values.get("analyses", Settings().analyses)
    active = {about.name for about in known().values() if {about.name, *about.needed_by} & {*asked}}
    for about in known().values():
        for option in about.options:
            if option.name in given and not {about.name, *option.used_by} & active:
                return (f"--{option.name} does nothing with --analyses {','.join(asked)}: it is an "
                        f"option of {about.name}. Leave it out, or ask for "
                        f"--analyses {','.join([*asked, about.name])}.")
    return ""
