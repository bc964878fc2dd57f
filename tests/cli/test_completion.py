"""Completion of command lines, in the real shells."""

import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from beam_reuse.cli.completion import SHELLS
from beam_reuse.cli.help_texts import COMMANDS, EXPERIMENT, EXPERIMENTS
from beam_reuse.cli.main import main
from beam_reuse.options.table import ANALYSES, options_of
from beam_reuse.runners.kits import KITS
from tests.cli.test_sql_prompt import Terminal

TWO_WORDS = {f"{EXPERIMENT} {name}": f"{EXPERIMENT}-{name}" for name in EXPERIMENTS}
INTERACTIVE = {"bash": ["--noprofile", "--norc", "-i"], "zsh": ["-f", "-i"]}
PREPARED = {"bash": "", "zsh": "autoload -U compinit; compinit -u -D; "}
# What prints the answers to the words of a command line, of which the last is being typed.
ASKED = {
    "bash": 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _beam_reuse; '
            'printf "%s\\n" "${COMPREPLY[@]}"',
    "fish": 'source "$argv[1]"; complete -C "$argv[2..-1]" | string split -f 1 \\t',
}
answering = pytest.mark.parametrize("shell", sorted(ASKED), indirect=True)


@pytest.fixture(scope="module", params=sorted(SHELLS))
def shell(request: pytest.FixtureRequest) -> str:
    """The name of a shell that is installed."""
    name: str = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture
def script(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    file = tmp_path / f"beam-reuse.{shell}"
    file.write_text(capsys.readouterr().out)
    return str(file)


def answers(shell: str, script: str, *words: str) -> set[str]:
    """What a shell offers for the last of these words."""
    done = subprocess.run([shell, "-c", ASKED[shell], *([] if shell == "fish" else [shell]),
                           script, "beam-reuse", *words], capture_output=True, text=True,
                          check=False, cwd=Path(script).parent)
    assert not done.stderr
    return {line.strip() for line in done.stdout.splitlines()} - {""}


def test_the_script_is_one(shell: str, script: str) -> None:
    done = subprocess.run([shell, "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@answering
def test_commands_are_offered(shell: str, script: str) -> None:
    assert answers(shell, script, "") >= set(COMMANDS)
    assert answers(shell, script, "de") == {"demo", "decontaminate"}


@answering
@pytest.mark.parametrize("command", [*sorted(set(COMMANDS) - {EXPERIMENT}), *TWO_WORDS])
def test_all_options_of_each_command_are_offered(shell: str, script: str, command: str) -> None:
    found = answers(shell, script, *command.split(), "--")
    assert found == {"--help", *(
        f"--{option.name}" for option in options_of(TWO_WORDS.get(command, command)))}


@answering
@pytest.mark.parametrize(("line", "offered"), [
    ("run a.warc --runner ", {"local", "flink", "spark", "prism", "dataflow"}),
    ("run --captures l", {"latest"}),
    ("run --analyses di", {"discovery"}),
    ("run --analyses discovery,ne", {"discovery,near-duplicates"}),
    ("clean --to w", {"warc"}),
    ("sql DIR --to ", {"table", "csv", "json", "parquet"}),
    ("experiment ", set(EXPERIMENTS)),
    ("experiment mutate --wa", {"--ways"}),
    ("engines flink spa", {"spark", "spark-cluster"}),
    ("engines ", set(KITS)),
    ("completion ", set(SHELLS)),
])
def test_values_are_offered(shell: str, script: str, line: str, offered: set[str]) -> None:
    *words, last = line.split(" ")
    found = answers(shell, script, *words, last)
    assert found == offered or (shell == "fish" and found >= offered and last)


@answering
def test_lists_of_analyses_are_whole(shell: str, script: str) -> None:
    assert answers(shell, script, "run", "--analyses", "") >= set(ANALYSES)


@answering
def test_values_after_an_equals_sign(shell: str, script: str) -> None:
    """bash cuts such a word into three."""
    if shell == "bash":
        assert answers(shell, script, "run", "--captures", "=", "l") == {"latest"}
        assert answers(shell, script, "run", "--captures", "=") == {"latest", "all"}
    else:
        assert answers(shell, script, "run", "--captures=l") == {"--captures=latest"}


@pytest.fixture
def terminal(shell: str, script: str, tmp_path: Path) -> Iterator[Terminal]:
    """A shell at a terminal, in a folder with a crawl, which knows the script."""
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / "pages.warc.gz").touch()
    opened = Terminal([str(shutil.which(shell)), *INTERACTIVE[shell]], tmp_path)
    opened.type(f"{PREPARED[shell]}cd {shlex.quote(str(tmp_path))}; "
                f"source {shlex.quote(script)}; echo rea''dy\r")
    opened.until("ready")
    yield opened
    opened.process.kill()
    opened.close()


@pytest.mark.parametrize("shell", sorted(INTERACTIVE), indirect=True)
@pytest.mark.parametrize(("typed", "becomes"), [
    ("clea\t", "clean "),
    ("decon\t--evals", "decontaminate --evals"),
    ("run cra\tpag\t", "run crawl/pages.warc.gz "),
    ("run --analyses near\t", "run --analyses near-duplicates"),
    ("run --conf\tcra\tpag\t", "run --config crawl/pages.warc.gz"),
    ("experiment mut\t--blind\t", "experiment mutate --blind-copies "),
    ("engines fli\t-1.20-\t", "engines flink-1.20-cluster "),
    ("clean --drop quilts,exa\t", "clean --drop quilts,exact-copies"),
])
def test_tab_at_a_terminal(terminal: Terminal, typed: str, becomes: str) -> None:
    """What is completed is printed: from the line's begin (^A) to its end (^E) between < and >."""
    terminal.type(f"beam-reuse {typed}\x01echo '<' \x05 '>'\r")
    assert f"< beam-reuse {becomes.strip()} >" in terminal.until(" >\r\n").replace("'", "")


@pytest.mark.parametrize(("asked", "told"), [
    ([], "give one SHELL. There are bash, zsh, fish."),
    (["basch"], "unknown shell 'basch'. Did you mean bash?"),
])
def test_other_shells_are_refused(
    asked: list[str], told: str, capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["completion", *asked]) == 2
    assert f"beam-reuse: completion: {told}" in capsys.readouterr().err
