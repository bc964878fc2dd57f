"""Scripts that complete command lines, in the languages of three shells. No Beam."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

FLAG, WORD, LIST, FILE, FOLDER = "flag", "word", "list", "file", "folder"


@dataclass(frozen=True)
class Completed:
    """An option: its names, the first with two dashes, what it does, and what is completed after
    it: nothing (it takes no value), one of `words` if there are any, a list of them, a file."""

    names: tuple[str, ...]
    about: str
    takes: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """A command of one word or two, and what it takes: `first` are words, None for files."""

    name: str
    about: str
    first: tuple[str, ...] | None
    options: tuple[Completed, ...]


def bash(commands: Sequence[Command]) -> str:
    """For bash 3.2 and later. Where a case answers nothing, readline completes files."""
    top = " ".join(command.name for command in commands if " " not in command.name)
    values, others = [], []
    for command in commands:
        for option in command.options:
            patterns = "|".join(f"'{command.name} {name}'" for name in option.names)
            then = {FLAG: "", FILE: "return", FOLDER: "return", WORD: "_beam_reuse_words",
                    LIST: "_beam_reuse_list"}[option.takes]
            if then:
                values.append(f"{patterns}) {' '.join([then, *option.words])}; return;;")
        names = " ".join(name for option in command.options for name in option.names)
        first = f" _beam_reuse_words {' '.join(command.first)};" if command.first else ""
        others.append(f"'{command.name}') if [[ $cur == -* ]]; then _beam_reuse_words {names}; else"
                      f"{first or ' :;'} fi;;")
    return _BASH.replace("TOP", top).replace("VALUES", indent("\n".join(values), "        ")
                                             ).replace("OTHERS", indent("\n".join(others), " " * 8))


_BASH = r"""# Completion of beam-reuse for bash, made by `beam-reuse completion bash`.
_beam_reuse() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word i
    _beam_reuse_words() { # of these words, without a file where none fits
        compopt +o default 2>/dev/null # which bash 3.2 does not have
        COMPREPLY=($(compgen -W "$*" -- "$cur"))
    }
    _beam_reuse_list() { # the last item of a list
        local done=
        [[ $cur == *,* ]] && done=${cur%,*},
        _beam_reuse_words "${@/#/$done}"
        compopt -o nospace 2>/dev/null
    }
    COMPREPLY=()
    # bash cuts --option=value into three words
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $command in
            '') [[ $word == -* ]] || command=$word;;
            experiment) [[ $word == -* ]] || command="experiment $word";;
            *) break;;
        esac
    done
    if [[ -z $command ]]; then
        _beam_reuse_words TOP --help --version
        return
    fi
    case "$command $prev" in
VALUES
    esac
    case $command in
OTHERS
    esac
}
complete -o default -F _beam_reuse beam-reuse
"""


def zsh(commands: Sequence[Command]) -> str:
    """For zsh, sourced after compinit or as a file `_beam-reuse` of $fpath."""
    top = " ".join(_quoted(f"{command.name}:{command.about}")
                   for command in commands if " " not in command.name)
    cases = []
    for command in commands:
        specs = [_zsh_spec(option) for option in command.options]
        words = " ".join(command.first or ())
        specs.append(_quoted(f"1:value:({words})" if words else "*:file:_files"))
        has_more = any(other.name.startswith(f"{command.name} ") for other in commands)
        joined = " \\\n        ".join(specs)
        cases.append(f"'{command.name}') {_ZSH_MORE if has_more else ''}_arguments -S {joined};;")
    return _ZSH.replace("TOP", top).replace("CASES", indent("\n".join(cases), "    "))


def _zsh_spec(option: Completed) -> str:
    about = option.about.replace("\\", "").replace("[", "(").replace("]", ")").replace(":", "\\:")
    action = {
        FLAG: "", FILE: ":file:_files", FOLDER: ":folder:_files -/",
        WORD: f":value:({' '.join(option.words)})",
        LIST: f":list:_values -s , item {' '.join(option.words)}",
    }[option.takes]
    return " ".join(_quoted(f"*{name}[{about}]{action}") for name in option.names)


_ZSH_MORE = """if (( CURRENT > 2 )); then _beam_reuse_of "$command $words[2]" 1; return; fi
        """
_ZSH = r"""#compdef beam-reuse
# Completion of beam-reuse for zsh, made by `beam-reuse completion zsh`.
_beam_reuse_of() { # the command, and how many words of it are before its arguments
    local command=$1
    shift $2 words
    (( CURRENT -= $2 ))
    case $command in
CASES
    esac
}
_beam_reuse() {
    local -a commands=(TOP)
    if (( CURRENT == 2 )); then
        _describe -t commands command commands
    else
        _beam_reuse_of "$words[2]" 1
    fi
}
if [[ $funcstack[1] == _beam-reuse ]]; then
    _beam_reuse "$@"
else
    compdef _beam_reuse beam-reuse
fi
"""


def fish(commands: Sequence[Command]) -> str:
    """For fish, as a file in ~/.config/fish/completions."""
    lines = []
    for command in commands:
        first, _, second = command.name.partition(" ")
        if not second:
            lines.append(f"complete -c beam-reuse -n 'not __beam_reuse_is' -f -a {first} "
                         f"-d {_quoted(command.about)}")
        here = f"complete -c beam-reuse -n '__beam_reuse_is {command.name}'"
        if command.first:
            lines.append(f"{here} -f -a {_quoted(' '.join(command.first))}")
        lines += [f"{here} {_fish_names(option)}{_fish_value(option)} -d {_quoted(option.about)}"
                  for option in command.options]
    return _FISH + "\n".join(lines) + "\n"


def _fish_names(option: Completed) -> str:
    return " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                    for name in option.names)


def _fish_value(option: Completed) -> str:
    words = " ".join(option.words)
    return {FLAG: "", FILE: " -r -F", WORD: f" -x -a '{words}'",
            FOLDER: " -x -a '(__fish_complete_directories)'",
            LIST: f" -x -a '(__fish_append , {words})'"}[option.takes]


_FISH = """# Completion of beam-reuse for fish, made by `beam-reuse completion fish`.
function __beam_reuse_is # whether these are the command's words; without any, whether it has one
    set -l words (commandline -opc)[2..-1]
    set -l count (count $argv)
    test (count $words) -ge (math "max(1, $count)"); or return 1
    test $count -eq 0; or test "$words[1..$count]" = "$argv"
end
"""


def _quoted(text: str) -> str:
    """A word in single quotes, as all three shells read them."""
    return "'" + text.replace("'", r"'\''") + "'"

