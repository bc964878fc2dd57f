"""Options of the command line that would change nothing, and what to add so that they do."""

from collections.abc import Collection, Mapping
from typing import Any

from beam_reuse.analyses.clean.about import CLEAN
from beam_reuse.analyses.clean.settings import PROVEN, analyses_for
from beam_reuse.declaring.registry import known
from beam_reuse.declaring.settings import Settings


def idle_option(given: Collection[str], values: Mapping[str, Any]) -> str:
    """Why an option that is `given` on the command line of `run` does nothing, by the `values` of
    command line and config file together; '' if there is none. Config files may set what they
    like, so that one serves several jobs."""
    reasons = (about.idle(given, values) for about in known().values())
    return _of_other_analyses(given, values) or next(filter(None, reasons), "")


def idle_in_clean(given: Collection[str], values: Mapping[str, Any]) -> str:
    """The same of the command line of `clean`, which runs the analyses that it needs."""
    asked = analyses_for(values)
    for about in known().values():
        active = {about.name, *about.needed_by} & {*asked, "clean"}
        for option in about.options:
            if option.name not in given or active or {*option.used_by} & {*asked}:
                continue
            if values.get("result"):
                if option.name != PROVEN:
                    return (f"--{option.name} does nothing with --result, whose tables decide. "
                            "Leave one of them out.")
            elif about.command == "decontaminate":
                return (f"--{option.name} does nothing without --drop contaminated. Add it, or "
                        "leave it out.")
            elif about.is_asked_for:
                return (f"--{option.name} does nothing: it is an option of {about.name}, which "
                        "finds nothing that is to go. Leave it out.")
    return CLEAN.idle(given, values)


def _of_other_analyses(given: Collection[str], values: Mapping[str, Any]) -> str:
    asked = values.get("analyses", Settings().analyses)
    active = {about.name for about in known().values() if {about.name, *about.needed_by} & {*asked}}
    for about in known().values():
        for option in about.options:
            if (option.name in given and "run" in option.commands
                    and not {about.name, *option.used_by} & active):
                return about.idle(given, values) or (
                    f"--{option.name} does nothing with --analyses {','.join(asked)}: it is an "
                    f"option of {about.name}. Leave it out, or ask for "
                    f"--analyses {','.join([*asked, about.name])}.")
    return ""
