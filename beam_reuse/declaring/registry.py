"""All analyses there are: those of this package, and those that other distributions add through
the entry point group `beam_reuse.analyses`. No Beam.

    [project.entry-points."beam_reuse.analyses"]
    shared-images = "shared_images.about:SHARED_IMAGES"
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.declaring.about import About, loaded

GROUP = "beam_reuse.analyses"
BUILT_IN = (
    "beam_reuse.analyses.reuse.about:DISCOVERY",
    "beam_reuse.analyses.reuse.about:DETECTION",
    "beam_reuse.analyses.near_duplicates.about:NEAR_DUPLICATES",
    "beam_reuse.analyses.overlap.about:OVERLAP",
    "beam_reuse.analyses.quilts.about:QUILTS",
    "beam_reuse.analyses.boilerplate.about:BOILERPLATE",
    "beam_reuse.analyses.origins.about:ORIGINS",
    "beam_reuse.analyses.recrawls.about:RECRAWLS",
    "beam_reuse.analyses.clean.about:CLEAN",
    "beam_reuse.analyses.decontaminate.about:DECONTAMINATE",
)
# Fields of `Settings` that belong to no analysis.
RESERVED = ("analyses", "read", "chunks", "stops", "experiment", "max_rejects", "of_analyses")


class BrokenAnalysis(UserError):
    """An analysis of another distribution that cannot be used; the message names both."""


@dataclass(frozen=True)
class Registry:
    """`analyses` by name, ours first, then by name; `distributions` that added some, with their
    versions; `broken`: why others could not be added."""

    analyses: Mapping[str, About]
    distributions: Mapping[str, str]
    broken: tuple[str, ...]


@cache
def registry() -> Registry:
    """All analyses; entry points are looked up once in the life of a process."""
    found = {about.name: about for about in built_in()}
    distributions: dict[str, str] = {}
    broken: list[str] = []
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda each: each.name):
        whose = point.dist.name if point.dist else "an unknown distribution"
        try:
            about = _outside(point.load, found)
        except Exception as error:
            broken.append(f"the analysis {point.name} ({point.value}) of the distribution {whose} "
                          f"cannot be used: {type(error).__name__}: {error}. Correct {whose}, or "
                          "uninstall it.")
            continue
        found[about.name] = about
        if point.dist:
            distributions[whose] = point.dist.version
    return Registry(found, distributions, tuple(broken))


@cache
def built_in() -> tuple[About, ...]:
    """The analyses of this package."""
    return tuple(loaded(place) for place in BUILT_IN)


def known() -> Mapping[str, About]:
    """All analyses by name."""
    return registry().analyses


def require_sound() -> None:
    """Refuse to go on with a distribution whose analysis is broken."""
    for reason in registry().broken:
        raise BrokenAnalysis(reason)


def _outside(load: Callable[[], Any], there: Mapping[str, About]) -> About:
    """What an entry point adds; refuses what is none or would take a name that is taken."""
    about = load()
    if not isinstance(about, About):
        raise TypeError(f"it is no About, but {type(about).__name__}")
    about.settings()
    taken = {*RESERVED, *(each.field for each in there.values())}
    options = {option.name for each in there.values() for option in each.options}
    for what, names, others in (
        ("the name", {about.name}, set(there)), ("the field", {about.field}, taken),
        ("the option", {option.name for option in about.options}, options),
    ):
        if both := sorted(names & others):
            raise ValueError(f"{what} {both[0]!r} is taken")
    return about
