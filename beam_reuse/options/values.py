"""From option values to settings, and back to what the manifest and people read."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from beam_reuse.core.settings import ChunkSettings, SettingError, naming
from beam_reuse.declaring.option import NEGATED, Option
from beam_reuse.declaring.settings import Settings
from beam_reuse.options.table import ANALYSES, options_by_name, options_of

# Defaults of a command that differ from those of the settings.
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "labels": {"min-chunk-bytes": 100}, "clean": {"min-containment": 0.8}}


def settings_from(values: Mapping[str, Any], command: str = "run") -> Settings:
    """Settings from option values by option name; what is not given has the command's default.

    Raises SettingError for a value out of range or for options that contradict each other.
    """
    values = {**DEFAULTS.get(command, {}), **values}
    if values.get("classic"):
        classic = ChunkSettings.published()
        values = {"chunk-tags": classic.tags, "chunk-normalise": classic.normalise, **values}
    known = options_by_name(command)
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        if option := known[name].setting:
            group, _, field = option.rpartition(".")
            groups.setdefault(group, {})[field] = value
    top = groups.pop("", {})
    _require_known_analyses(top.get("analyses", ()))
    defaults = Settings()
    parts = {}
    for group, fields in groups.items():
        with naming(_names_of(f"{group}.", known)):
            parts[group] = dataclasses.replace(getattr(defaults, group), **fields)
    with naming(_names_of("", known)):
        return dataclasses.replace(defaults, **parts, **top)


def typed(option: Option, value: Any) -> str:
    """A value of a YAML file, or of Python, as it would be typed on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ("\n" if option.repeats else ",").join(str(item) for item in value)
    if isinstance(value, dict):
        raise SettingError(f"{option.name} must be a value or a list")
    return str(value)


def _names_of(group: str, options: Mapping[str, Option]) -> dict[str, str]:
    """What the fields of a group of settings are called on the command line."""
    return {option.setting.removeprefix(group): f"--{name}" for name, option in options.items()
            if option.setting.startswith(group)}


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
    if option.kind is NEGATED:
        return not value
    return list(value) if isinstance(value, tuple) else value


def shown_settings(command: str, settings: Settings) -> dict[str, str]:
    """The same for people: every option that changes values as it would be typed."""
    return {
        option.name: option.kind.show(option.of(settings)) or "none"
        for option in options_of(command) if option.setting
    }


def default_text(option: Option, command: str) -> str:
    """The default as a user would type it; '' where help names it or there is none."""
    if not option.setting or option.is_flag:
        return ""
    return option.kind.show(option.of(settings_from({}, command)))
