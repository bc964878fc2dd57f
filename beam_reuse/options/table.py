"""Every option once: the command line, the keys of a config file, --help and the manifest
all come from the table below.

An option with a `setting` changes values and is recorded in the manifest; one without says
where and how to run. Defaults are those of `core.settings`, never repeated here.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beam_reuse.core.settings import (
    CAPTURES,
    NORMALISATIONS,
    ChunkSettings,
    SettingError,
    Settings,
)
from beam_reuse.options.kinds import (
    CONTENT_TYPES,
    FILE,
    FOLDER,
    NAME,
    SHARE,
    SIZE,
    STATUSES,
    WHOLE,
    WORDS,
    OptionKind,
    choice,
    optional,
    or_word,
)

ANALYSES = ("discovery",)
ALL = "run index demo"
FLAG = dataclasses.replace(choice("true", "false"), show=lambda value: str(value).lower())


@dataclass(frozen=True)
class Option:
    """One option: `--name`, also `name:` in a config file. `kind` FLAG takes no value."""

    group: str
    name: str
    kind: OptionKind
    help: str
    setting: str = ""
    commands: tuple[str, ...] = ("run", "index")

    @property
    def is_flag(self) -> bool:
        return self.kind is FLAG

    def read(self, text: str) -> Any:
        """The value that `text` gives this option; SettingError if it is not allowed."""
        value = self.kind.read(self.name, text)
        return value == "true" if self.is_flag else value

    def of(self, settings: Settings) -> Any:
        """This option's value in `settings`."""
        value: Any = settings
        for name in self.setting.split("."):
            value = getattr(value, name)
        return value


def _option(group: str, name: str, kind: OptionKind, help: str, setting: str = "",
            commands: str = "run index") -> Option:
    return Option(group, name, kind, help, setting, tuple(commands.split()))


OPTIONS: tuple[Option, ...] = (
    _option("running", "output", FOLDER, "folder for the result", "", ALL),
    _option("running", "analyses", WORDS,
            f"what to compute: {', '.join(ANALYSES)}", "analyses", "run"),
    _option("running", "runner", NAME,
            "local (default), or any runner name Beam knows", "", ALL),
    _option("running", "workers", WHOLE, "processes of the local run (default: all cores)",
            "", ALL),
    _option("running", "overwrite", FLAG,
            "replace an earlier result; a folder that is not one is never touched", "", ALL),
    _option("running", "dry-run", FLAG,
            "check input, settings and output, show what would be done, write nothing"),
    _option("running", "config", FILE,
            "YAML file with any of these options as keys; the command line wins"),
    _option("running", "debug", FLAG, "show the full traceback when something fails", "", ALL),
    _option("reading", "captures", choice(*CAPTURES),
            "a URL fetched twice: keep the latest capture, or all", "read.captures", "run"),
    _option("reading", "status", STATUSES,
            "HTTP status numbers that make a page", "read.statuses"),
    _option("reading", "content-types", CONTENT_TYPES,
            "kinds of content that make a page: document, code, other, or all",
            "read.content_types"),
    _option("reading", "max-record-bytes", SIZE,
            "records larger than this when decompressed are rejected", "read.max_record_bytes"),
    _option("reading", "max-rejects", SHARE,
            "fail, and leave no result, if a larger share of records is rejected",
            "max_rejects"),
    _option("reading", "max-prefix-depth", WHOLE,
            "skip URLs with more directories than this (crawler traps); 0 is off",
            "read.max_prefix_depth", "run"),
    _option("reading", "max-path-repeats", WHOLE,
            "skip URLs in whose path something stands this often in a row; 0 is off",
            "read.max_path_repeats", "run"),
    _option("chunks", "chunk-tags", WORDS,
            "tags before which a page is cut into chunks", "chunks.tags"),
    _option("chunks", "chunk-normalise", choice(*NORMALISATIONS),
            "make runs of white space in a chunk one space before hashing, or not",
            "chunks.normalise"),
    _option("chunks", "classic", FLAG,
            "the chunk rule of the published hash lists; fixes both options above",
            "chunks.classic"),
    _option("discovery", "chunk-threshold", or_word(WHOLE, "auto"),
            "chunks that occur more often than this are reported",
            "discovery.chunk_threshold", "run"),
    _option("discovery", "top", optional(WHOLE),
            "report the N most frequent chunks instead of those above a threshold",
            "discovery.top", "run"),
    _option("discovery", "min-hosts", WHOLE,
            "report only chunks found on this many hosts or more", "discovery.min_hosts", "run"),
)
BY_NAME: Mapping[str, Option] = {option.name: option for option in OPTIONS}


def options_of(command: str) -> tuple[Option, ...]:
    """The options of one command, in the order of the table."""
    return tuple(option for option in OPTIONS if command in option.commands)


def settings_from(values: Mapping[str, Any]) -> Settings:
    """Settings from option values by option name; what is not given has its default.

    Raises SettingError for a value out of range or for options that contradict each other.
    """
    if values.get("classic"):
        classic = ChunkSettings.published()
        values = {"chunk-tags": classic.tags, "chunk-normalise": classic.normalise, **values}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if option := BY_NAME[name].setting:
            group, _, field = option.rpartition(".")
            groups.setdefault(group, {})[field] = value
    top = groups.pop("", {})
    _require_known_analyses(top.get("analyses", ()))
    defaults = Settings()
    parts = {
        group: dataclasses.replace(getattr(defaults, group), **fields)
        for group, fields in groups.items()
    }
    return dataclasses.replace(defaults, **parts, **top)


def _require_known_analyses(asked: tuple[str, ...]) -> None:
    unknown = [name for name in asked if name not in ANALYSES]
    if unknown:
        raise SettingError(
            f"--analyses: {', '.join(unknown)} is not available; "
            f"this version has {', '.join(ANALYSES)}"
        )


def recorded_settings(command: str, settings: Settings) -> dict[str, Any]:
    """What the manifest says of the settings: every option that changes values, by name."""
    return {
        option.name: _plain(option, settings) for option in options_of(command) if option.setting
    }


def _plain(option: Option, settings: Settings) -> Any:
    value = option.of(settings)
    if value is None:
        return option.kind.show(None) or None
    return list(value) if isinstance(value, tuple) else value


def shown_settings(command: str, settings: Settings) -> dict[str, str]:
    """The same for people: every option that changes values as it would be typed."""
    return {
        option.name: option.kind.show(option.of(settings)) or "none"
        for option in options_of(command) if option.setting
    }


def default_text(option: Option) -> str:
    """The default as a user would type it; '' where help tells it or there is none."""
    if not option.setting or option.is_flag:
        return ""
    return option.kind.show(option.of(Settings()))
