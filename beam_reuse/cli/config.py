"""Settings from a YAML file: any option by its name, `inputs`, and Beam's own options."""

import json
from dataclasses import dataclass
from typing import IO, Any

from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import SettingError
from beam_reuse.io.files import reason_of
from beam_reuse.options.table import BY_NAME
from beam_reuse.options.values import typed

NOT_IN_A_FILE = ("config", "debug")


class ConfigError(UserError):
    """A config file that cannot be used; the message names file and key."""


@dataclass(frozen=True)
class Config:
    """A config file's content: texts of our options, inputs, and `others` for Beam to know."""

    path: str
    options: dict[str, str]
    inputs: tuple[str, ...]
    others: dict[str, Any]

    def beam_args(self) -> tuple[str, ...]:
        """`others` as Beam's command line."""
        return tuple(arg for name, value in self.others.items() for arg in _beam_args(name, value))


def read_config(path: str) -> Config:
    """Read `path`. Keys that are no option of ours end in `others`, unjudged."""
    import yaml

    try:
        with open(path, encoding="utf-8") as source:
            content = _load(source)
    except OSError as error:
        raise ConfigError(f"--config {path}: {reason_of(error)}. Give a YAML file that can be "
                          "read.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"--config {path}: no text in UTF-8. Save it as such.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        if isinstance(error, yaml.constructor.ConstructorError):
            raise ConfigError(f"--config {path}: {error.problem}{where}.") from error
        raise ConfigError(f"--config {path}: not valid YAML{where}.") from error
    if content is None:
        content = {}
    if not isinstance(content, dict):
        raise ConfigError(f"--config {path}: the file must hold lines of `option: value`.")
    return _sort_out(path, {str(key): value for key, value in content.items()})


def _load(source: IO[str]) -> Any:
    """What a YAML file holds; refuses a key that is there twice, of which YAML keeps the last."""
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for number, key in enumerate(keys):
                if key in keys[:number]:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"{key} is given twice; keep one",
                        node.value[number][0].start_mark)
            return super().construct_mapping(node, deep)

    return yaml.load(source, Loader)


def _ours(path: str, content: dict[str, Any]) -> dict[str, Any]:
    """The content with our options under their own names: `_` in a key is understood as `-`."""
    found: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("_", "-")
        name = name if name in BY_NAME or name in NOT_IN_A_FILE else key
        if name in found:
            raise ConfigError(f"--config {path}: {name} is given twice; keep one.")
        found[name] = value
    return found


def _sort_out(path: str, content: dict[str, Any]) -> Config:
    content = _ours(path, content)
    inputs = _inputs(path, content.pop("inputs", None))
    for name in NOT_IN_A_FILE:
        if name in content:
            raise ConfigError(f"--config {path}: {name} can only be given on the command line.")
    given = {name: value for name, value in content.items() if value is not None}
    return Config(
        path,
        {n: _text(path, n, value) for n, value in given.items() if n in BY_NAME},
        inputs,
        {n: value for n, value in given.items() if n not in BY_NAME},
    )


def _inputs(path: str, value: Any) -> tuple[str, ...]:
    """The inputs that a file names: one, a list of them, or none."""
    given = value if isinstance(value, list) else [] if value is None else [value]
    if any(isinstance(each, dict | list) for each in given):
        raise ConfigError(f"--config {path}: inputs must be a path or a list of paths.")
    return tuple(str(each) for each in given)


def _text(path: str, name: str, value: Any) -> str:
    """A YAML value as it would be on the command line."""
    try:
        return typed(BY_NAME[name], value)
    except SettingError as error:
        raise ConfigError(f"--config {path}: {error}.") from None


def _beam_args(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    if isinstance(value, list):
        return [f"--{name}={item}" for item in value]
    return [f"--{name}={json.dumps(value) if isinstance(value, dict) else value}"]
