"""Options of the command line that would change nothing, and what to add so that they do."""

from collections.abc import Collection, Mapping
from typing import Any

from beam_reuse.core.settings import SWEPT, OverlapSettings, Settings
from beam_reuse.options.table import ANALYSES, options_of


def idle_option(given: Collection[str], values: Mapping[str, Any]) -> str:
    """Why an option that is `given` on the command line of `run` does nothing, by the `values` of
    command line and config file together; '' if there is none. Config files may set what they
    like, so that one serves several jobs."""
    return (_of_other_analyses(given, values) or _sweep_of_nothing(given, values)
            or _threshold_of_whole_pages(given, values))


def _of_other_analyses(given: Collection[str], values: Mapping[str, Any]) -> str:
    asked = values.get("analyses", Settings().analyses)
    active = {*asked, *(("discovery",) if "detection" in asked else ())}
    for option in options_of("run"):
        users = {option.group} | ({"discovery"} if option.name == "matcher" else set())
        if option.name in given and option.group in ANALYSES and not users & active:
            return (f"--{option.name} does nothing with --analyses {','.join(asked)}: it is an "
                    f"option of {option.group}. Leave it out, or ask for "
                    f"--analyses {','.join([*asked, option.group])}.")
    return ""


def _sweep_of_nothing(given: Collection[str], values: Mapping[str, Any]) -> str:
    if any(len(values.get(_option(name), ())) > 1 for name in SWEPT):
        return ""
    for name in ("sweep", "sweep-sources"):
        if name in given:
            return (f"--{name} does nothing without a list. Give several numbers to one of "
                    f"{', '.join(f'--{_option(each)}' for each in SWEPT)}, such as "
                    "--gram-size 5,4,7, or leave it out.")
    return ""


def _option(setting: str) -> str:
    return setting.replace("_", "-")


def _threshold_of_whole_pages(given: Collection[str], values: Mapping[str, Any]) -> str:
    chunkings = values.get("overlap-chunkings", OverlapSettings().chunkings)
    if "overlap-threshold" not in given or set(chunkings) != {"whole"}:
        return ""
    return ("--overlap-threshold does nothing with --overlap-chunkings whole: whole pages are "
            "equal or not. Add another chunking, such as --overlap-chunkings whole,2-lines, or "
            "leave it out.")
