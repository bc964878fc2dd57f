"""`beam-reuse completion SHELL`: a script with which bash, zsh or fish complete our command lines.

All words come from the table of options and the list of commands, and are in the script: pressing
Tab starts no Python. Options of Beam are not among them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from beam_reuse.analyses.clean.settings import DROPS, STRIPS
from beam_reuse.cli import completion_scripts as scripts
from beam_reuse.cli.arguments import SHORT, UsageError
from beam_reuse.cli.help_texts import COMMANDS, EXPERIMENT, EXPERIMENTS
from beam_reuse.cli.suggestions import did_you_mean
from beam_reuse.core.settings import KINDS, WAYS
from beam_reuse.declaring.kinds import EACH_FILE, FILE, FILES, FOLDER
from beam_reuse.declaring.option import Option
from beam_reuse.options.table import ANALYSES, options_of
from beam_reuse.runners import ENGINES
from beam_reuse.runners.kits import KITS

SHELLS = {"bash": scripts.bash, "zsh": scripts.zsh, "fish": scripts.fish}
# Items of lists that options take.
LISTS: Mapping[str, Sequence[str]] = {
    "analyses": ANALYSES, "content-types": (*KINDS, "all"), "drop": (*DROPS, "none"),
    "strip": STRIPS, "ways": WAYS,
}


def run_completion(shells: Sequence[str], values: Mapping[str, Any]) -> int:
    """Print the script for a shell."""
    if len(shells) != 1 or shells[0] not in SHELLS:
        asked = f"unknown shell {shells[0]!r}.{did_you_mean(shells[0], SHELLS)}" if (
            len(shells) == 1) else "give one SHELL."
        raise UsageError(f"completion: {asked} There are {', '.join(SHELLS)}.")
    print(SHELLS[shells[0]](commands()), end="")
    return 0


def commands() -> list[scripts.Command]:
    """Every command, each experiment as one of two words."""
    first = {"completion": tuple(SHELLS), "engines": tuple(KITS), EXPERIMENT: tuple(EXPERIMENTS)}
    plain = [scripts.Command(name, about, first.get(name), _options(name))
             for name, (_, about) in COMMANDS.items()]
    return plain + [
        scripts.Command(f"{EXPERIMENT} {name}", "", None, _options(f"{EXPERIMENT}-{name}"))
        for name in EXPERIMENTS]


def _options(command: str) -> tuple[scripts.Completed, ...]:
    """Options of a command; of two with one name the first."""
    found = {option.name: option for option in reversed(options_of(command))}
    return (*(_completed(option) for option in reversed(found.values())),
            scripts.Completed(("--help", "-h"), "show what the command takes", scripts.FLAG))


def _completed(option: Option) -> scripts.Completed:
    names = (f"--{option.name}", *filter(None, [SHORT.get(option.name)]))
    if option.name in LISTS:
        return scripts.Completed(names, option.help, scripts.LIST, tuple(LISTS[option.name]))
    if option.name == "runner":
        return scripts.Completed(names, option.help, scripts.WORD, ENGINES)
    if option.is_flag:
        return scripts.Completed(names, option.help, scripts.FLAG)
    if option.kind in (FILE, FILES, EACH_FILE):
        return scripts.Completed(names, option.help, scripts.FILE)
    if option.kind is FOLDER:
        return scripts.Completed(names, option.help, scripts.FOLDER)
    # What may be written as shown, such as `latest|all`, and not what stands for a value, as N.
    words = tuple(word for word in option.kind.metavar.split("|") if word == word.lower())
    return scripts.Completed(names, option.help, scripts.WORD, words)
