"""How settings that make no sense are refused: in Python, and on the command line."""

import re
from typing import Any

import pytest

from beam_reuse.core.settings import SettingError
from beam_reuse.declaring.settings import Settings
from beam_reuse.options.table import options_of
from beam_reuse.options.values import settings_from


def refusal(group: str, **given: Any) -> str:
    """What the command line says of settings of a group; Python says the same of its fields."""
    names = {option.setting.removeprefix(f"{group}."): option.name for option in options_of("run")
             if option.setting.startswith(f"{group}.")}
    with pytest.raises(SettingError) as in_python:
        type(getattr(Settings(), group))(**given)
    with pytest.raises(SettingError) as told:
        settings_from({names[field]: value for field, value in given.items()})
    fields = {name: field for field, name in names.items()}
    assert str(in_python.value) == re.sub(
        r"--([a-z-]+)", lambda match: fields[match[1]], str(told.value))
    return str(told.value)
