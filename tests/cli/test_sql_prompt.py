"""`beam-reuse sql` at a terminal: completion by tab, history, Ctrl-C, and nothing is written."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from beam_reuse.cli.main import main

pytest.importorskip("readline")
PATIENCE = 60.0


class Terminal:
    """A program at a pseudo-terminal."""

    def __init__(self, program: list[str], state: Path) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            program, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: _own_terminal(theirs),
            env={**os.environ, "XDG_STATE_HOME": str(state), "TERM": "xterm", "COLUMNS": "120",
                 "INPUTRC": os.devnull})
        os.close(theirs)
        self.seen = ""

    def type(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def until(self, wanted: str, again: str = "") -> str:
        """What was shown since the last time, once it has `wanted`. Keys to type `again` are typed
        each second: Python's readline misses a Ctrl-C between its prompt and its first wait."""
        end = time.monotonic() + PATIENCE
        while wanted not in self.seen:
            wait = min(1.0 if again else PATIENCE, max(0.0, end - time.monotonic()))
            if select.select([self._ours], [], [], wait)[0]:
                self.seen += os.read(self._ours, 65536).decode("utf-8", "replace")
                continue
            assert time.monotonic() < end, f"never shown: {wanted!r}; {self.seen!r}"
            self.type(again)
        before, _, self.seen = self.seen.partition(wanted)
        return before + wanted

    def close(self) -> int:
        self.type("\x04")
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            os.close(self._ours)


def _own_terminal(descriptor: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(descriptor, termios.TIOCSCTTY, 0)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prompt")
    (folder / "crawl.jsonl").write_text("".join(
        json.dumps({"url": f"http://h{n}.example/", "html": f"<p>{'a b ' * 40}<p>{n}"}) + "\n"
        for n in range(15)))
    assert main(["run", str(folder / "crawl.jsonl"), "-o", str(folder / "r"), "--workers", "1",
                 "--analyses", "discovery"]) == 0
    return folder / "r"


@pytest.fixture
def terminal(result: Path, tmp_path: Path, ctrl_c_heard: None) -> Iterator[Terminal]:
    started = Terminal([sys.executable, "-m", "beam_reuse", "sql", str(result)], tmp_path)
    yield started
    if started.process.poll() is None:
        started.close()


def test_names_are_completed_and_what_was_asked_is_known_again(
    terminal: Terminal, result: Path, tmp_path: Path,
) -> None:
    terminal.until("beam-reuse> ")
    terminal.type("select max(occurr\t) as most from frequent_ch\t;\n")
    shown = terminal.until("beam-reuse> ")
    assert "max(occurrences) as most from frequent_chunks" in shown and "15" in shown
    terminal.type("select nothing from pages;\n")
    assert "nothing" in terminal.until("beam-reuse> ")
    terminal.type("select 41 +\n")
    terminal.until("... ")
    terminal.type("\x03")
    terminal.until("beam-reuse> ", again="\x03")
    terminal.type("\x1b[A\x1b[A\x1b[A\n")
    assert "most" in terminal.until("1 row")
    terminal.until("beam-reuse> ")
    assert terminal.close() == 0
    again = Terminal([sys.executable, "-m", "beam_reuse", "sql", str(result)], tmp_path)
    again.until("beam-reuse> ")
    again.type("\x1b[A")
    again.until("as most from frequent_chunks;")
    again.type("\r")
    assert "15" in again.until("1 row")
    again.until("beam-reuse> ")
    assert again.close() == 0


def test_it_says_what_can_be_typed(terminal: Terminal) -> None:
    assert "Tab completes" in terminal.until("beam-reuse> ")
    terminal.type("help\n")
    assert "Ctrl-D leaves" in terminal.until("beam-reuse> ")
    terminal.type(".tables\n")
    assert "frequent_chunks: sha1, occurrences" in terminal.until("beam-reuse> ")


def test_it_only_reads(terminal: Terminal, result: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in result.rglob("*")}
    terminal.until("beam-reuse> ")
    for statement in (f"copy (select 1) to '{tmp_path}/written';", "drop view pages;",
                      "create table t (n int);"):
        terminal.type(statement + "\n")
        assert "only queries" in terminal.until("beam-reuse> ")
    terminal.type("quit\n")
    assert terminal.process.wait(PATIENCE) == 0
    assert not (tmp_path / "written").exists()
    assert {path: path.stat().st_mtime_ns for path in result.rglob("*")} == before


def test_ctrl_c_ends_a_query_and_not_the_prompt(terminal: Terminal) -> None:
    """DuckDB does not look for signals while it counts these."""
    terminal.until("beam-reuse> ")
    terminal.type("select count(*) from range(10000000) a, range(100000000) b;\n")
    terminal.until("b;")
    terminal.until("beam-reuse> ", again="\x03")
    terminal.type("select 41 + 1 as found;\n")
    assert "42" in terminal.until("1 row")
    terminal.until("beam-reuse> ")
    assert terminal.close() == 0


def test_an_unknown_command_is_no_query(terminal: Terminal) -> None:
    terminal.until("beam-reuse> ")
    terminal.type(".table\n")
    assert "There are .tables, .help and .quit" in terminal.until("beam-reuse> ")
