import os
import signal
import subprocess
import sys
import time

import pytest
from apache_beam.io.filesystems import FileSystems

from beam_reuse.columnar import spill
from beam_reuse.columnar.spill import SpillFolder, SpillInUseError

HOLDER = """
import sys, time
from beam_reuse.columnar.spill import SpillFolder
held = SpillFolder.acquire(sys.argv[1])
held.store.put(bytes(10_000), 1)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """A live run that holds a spill folder with one file in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "spill")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_live_run_keeps_others_out_and_a_dead_runs_spill_is_removed(tmp_path, holder):
    folder = tmp_path / "spill"
    with pytest.raises(SpillInUseError, match=f"process {holder.pid} .* another output"):
        SpillFolder.acquire(str(folder))
    assert len(list(folder.iterdir())) == 1
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert len(list(folder.iterdir())) == 1
    with SpillFolder.acquire(str(folder)):
        assert list(folder.iterdir()) == []


def test_the_end_of_a_run_leaves_nothing(tmp_path):
    with SpillFolder.acquire(str(tmp_path / "out" / "spill")) as held:
        held.store.put(bytes(10_000), 1)
        assert os.listdir(tmp_path / "out" / "spill")
    assert os.listdir(tmp_path / "out") == []


def test_files_of_others_are_never_touched(tmp_path):
    (tmp_path / "spill").mkdir()
    (tmp_path / "spill" / "thesis.txt").write_text("years of work")
    with SpillFolder.acquire(str(tmp_path / "spill")) as held:
        held.store.put(bytes(10_000), 1)
    assert os.listdir(tmp_path / "spill") == ["thesis.txt"]


def test_a_lock_whose_file_was_just_removed_is_taken_again(tmp_path, monkeypatch):
    answers = iter([False, True])
    monkeypatch.setattr(spill._LocalLock, "_still_named", lambda self: next(answers))
    SpillFolder.acquire(str(tmp_path / "spill")).release()
    assert os.listdir(tmp_path) == []


def test_on_shared_filesystems_a_heartbeat_holds_the_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(spill, "HEARTBEAT_SECONDS", 0.05)
    monkeypatch.setattr(spill, "is_local", lambda path: False)
    folder = str(tmp_path / "spill")
    held = SpillFolder.acquire(folder)
    piece = held.store.put(bytes(10_000), 1)
    with pytest.raises(SpillInUseError, match="in use"):
        SpillFolder.acquire(folder)
    monkeypatch.setattr(spill, "DEAD_AFTER_SECONDS", 0.0)
    time.sleep(0.1)
    after = SpillFolder.acquire(folder)
    assert not FileSystems.exists(piece.path)
    held._lock.ended.set()
    after.release()
    assert not FileSystems.exists(f"{folder}.lock")
