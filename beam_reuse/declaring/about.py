"""What an analysis is, said once, in its own folder. No Beam.

Options, help, the manifest, templates, tables, the graph and the summary follow from it. What
takes long to import is named ("module:name") and loaded when it is asked for.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from beam_reuse.declaring.option import Option

if TYPE_CHECKING:
    from beam_reuse.declaring.settings import Settings

Values = Mapping[str, Any]


def nothing_idle(given: Collection[str], values: Values) -> str:
    """No option of an analysis does nothing."""
    return ""


def all_allowed(settings: "Settings") -> None:
    """Settings that are allowed each for itself are allowed together."""


@dataclass(frozen=True)
class About:
    """An analysis. Names that it shares with others (of analyses, fields, options and tables) are
    refused where it is registered.

    name        as `--analyses` names it; also the group of its options in help
    field       where `Settings` holds its settings; by default its name with `_` for `-`
    settings    their class, a frozen dataclass with a default for every field
    transform   "module:class" of a `pages.analysis.Analysis`
    tables      "module:name" of its schemas, a tuple of `io.results.tables.TableSchema`
    findings    "module:function" that gives lines of the summary, of an
                `io.results.result.Result`; '' if there is nothing to say
    report      "module:function" that gives cards and figures of the report (`report.values`), of
                a Result; '' if there is nothing to show
    options     see `declaring.option.option`; their settings are fields of `settings`
    counts      what it counts: the beginning of a counter's name, and a sentence for the summary;
                '' for counters of the manifest alone, or of which findings speak
    question    what it answers, in a few words, and `help`: a line for each table; for --help
    needed_by   analyses that include it, so that its options change what they find
    follows     analyses from what is found by which it is made (`Analysis.follow`): it runs when
                one of them does, and is not asked for by name
    command     the command that it is part of, where that is not `run`: it is not asked for by name
    idle        (names of options given, all values) -> why one of them does nothing, or ''
    check       refuses settings of a run that contradict each other
    """

    name: str
    settings: type
    transform: str
    tables: str
    field: str = ""
    findings: str = ""
    report: str = ""
    options: Sequence[Option] = ()
    counts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    question: str = ""
    help: str = ""
    needed_by: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    command: str = "run"
    idle: Callable[[Collection[str], Values], str] = nothing_idle
    check: Callable[["Settings"], None] = all_allowed

    def __post_init__(self) -> None:
        if not self.field:
            object.__setattr__(self, "field", self.name.replace("-", "_"))
        object.__setattr__(self, "options", tuple(self._complete()))

    def _complete(self) -> Iterator[Option]:
        """The options, with their group and the full names of their settings; `clean` and
        `estimate` take those of `run`, as they run its analyses."""
        known = {each.name for each in dataclasses.fields(self.settings)}
        for option in self.options:
            if option.setting not in known:
                raise ValueError(f"--{option.name}: {self.settings.__name__} has no field "
                                 f"{option.setting!r}")
            commands = [name for each in option.commands
                        for name in (("run", "clean", "estimate") if each == "run" else (each,))]
            yield replace(option, group=self.name, setting=f"{self.field}.{option.setting}",
                          commands=tuple(commands))

    @property
    def is_asked_for(self) -> bool:
        """Whether `--analyses` names it."""
        return self.command == "run" and not self.follows

    def schemas(self) -> tuple[Any, ...]:
        """Its tables, a `TableSchema` each."""
        found: tuple[Any, ...] = tuple(loaded(self.tables))
        return found


def loaded(place: str) -> Any:
    """What "module:name" names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
