"""All settings of a run that change values, with those of every analysis there is. No Beam."""

from dataclasses import dataclass
from typing import Any

from beam_reuse.core.settings import (
    ChunkSettings,
    ExperimentSettings,
    ReadSettings,
    StopSettings,
    require,
)
from beam_reuse.declaring.registry import built_in, known


@dataclass(frozen=True, init=False)
class Settings:
    """All settings of a run that change values.

    The settings of an analysis are given, and read, under its field: `Settings(quilts=...)`,
    `settings.quilts`. `of_analyses` holds them; `dataclasses.replace` works with either.
    """

    analyses: tuple[str, ...]
    read: ReadSettings
    chunks: ChunkSettings
    stops: StopSettings
    experiment: ExperimentSettings
    max_rejects: float
    of_analyses: tuple[tuple[str, Any], ...]

    def __init__(
        self, analyses: tuple[str, ...] | None = None, read: ReadSettings | None = None,
        chunks: ChunkSettings | None = None, stops: StopSettings | None = None,
        experiment: ExperimentSettings | None = None, max_rejects: float = 0.5,
        of_analyses: tuple[tuple[str, Any], ...] = (), **given: Any,
    ) -> None:
        abouts = known().values()
        unknown = [name for name in given if name not in {about.field for about in abouts}]
        if unknown:
            raise TypeError(f"Settings has no field {unknown[0]!r}")
        given = {**dict(of_analyses), **given}
        self.__dict__.update(
            analyses=(tuple(about.name for about in built_in() if about.is_asked_for)
                      if analyses is None else analyses),
            read=read or ReadSettings(), chunks=chunks or ChunkSettings(),
            stops=stops or StopSettings(), experiment=experiment or ExperimentSettings(),
            max_rejects=max_rejects,
            of_analyses=tuple((about.field, given.get(about.field) or about.settings())
                              for about in abouts))
        require(0 <= max_rejects <= 1, "max_rejects", max_rejects, "from 0 to 1")
        self.stops.require_words(self.chunks)
        for about in abouts:
            about.check(self)

    def __getattr__(self, name: str) -> Any:
        """The settings of an analysis."""
        for field, settings in self.__dict__.get("of_analyses", ()):
            if field == name:
                return settings
        raise AttributeError(f"Settings has no field {name!r}")

    def asks_for(self, analysis: str) -> bool:
        """Whether an analysis is among those that are asked for, or follows one of them."""
        about = known().get(analysis)
        return bool({analysis, *(about.follows if about else ())} & {*self.analyses})
