"""What an option is: its name, its kind, whose it is, and the setting it gives."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from beam_reuse.declaring.kinds import CONDITIONS, EACH_FILE, FILES, OptionKind, choice

INJECT, MUTATE, THRESHOLDS = "experiment-inject", "experiment-mutate", "experiment-thresholds"
EXPERIMENTS = f"{INJECT} {MUTATE} {THRESHOLDS}"
# Flags without a value; NEGATED is true in the settings unless it is given.
FLAG = dataclasses.replace(choice("true", "false"), show=lambda value: str(value).lower())
NEGATED = dataclasses.replace(FLAG, show=lambda value: str(not value).lower())


@dataclass(frozen=True)
class Option:
    """One option: `--name`, also `name:` in a config file. `used_by`: other analyses than its own
    that follow it, too."""

    group: str
    name: str
    kind: OptionKind
    help: str
    setting: str = ""
    commands: tuple[str, ...] = ()
    used_by: tuple[str, ...] = ()

    @property
    def is_flag(self) -> bool:
        return self.kind is FLAG or self.kind is NEGATED

    @property
    def takes_many(self) -> bool:
        """Whether several values may follow the name."""
        return self.kind is FILES

    @property
    def repeats(self) -> bool:
        """Whether the option may be given several times."""
        return self.takes_many or self.kind in (CONDITIONS, EACH_FILE)

    def read(self, text: str) -> Any:
        """The value that `text` gives this option; SettingError if it is not allowed."""
        value = self.kind.read(self.name, text)
        return (value == "true") is (self.kind is FLAG) if self.is_flag else value

    def of(self, settings: Any) -> Any:
        """This option's value in `settings`, a `Settings`."""
        value: Any = settings
        for name in self.setting.split("."):
            value = getattr(value, name)
        return value


def option(name: str, kind: OptionKind, help: str, setting: str = "",
           commands: str = "run", used_by: tuple[str, ...] = ()) -> Option:
    """An option of an analysis, which gives the field `setting` of its settings: by default the
    option's name with `_` for `-`. Group and place are filled in by `About`."""
    return Option("", name, kind, help, setting or name.replace("-", "_"),
                  tuple(commands.split()), used_by)
