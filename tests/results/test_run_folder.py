"""A result folder is whole or refused, wherever a run dies."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import pytest

from beam_reuse.io.files import LocalFiles, join, write_whole
from beam_reuse.io.results.locks import FolderBusyError
from beam_reuse.io.results.manifest import Accounting, Manifest, NoResultError, Part
from beam_reuse.io.results.run_folder import FolderRefusedError, ResultFolder
from beam_reuse.io.results.tables import read_manifest


def content_of(seed: str, path: str) -> bytes:
    return f"{seed} {path}".encode() * 50


def publish(folder: ResultFolder, seed: str, paths: Iterable[str]) -> None:
    """Write one file per path as a worker would, then publish them as a result."""
    parts = []
    for path in paths:
        content = content_of(seed, path)
        write_whole(LocalFiles(), join(folder.work.tables, path), content)
        parts.append(Part(path.split("/")[0], path, 1, hashlib.sha256(content).hexdigest()))
    manifest = Manifest("result", {"seed": seed}, Accounting(0, 0), tuple(parts))
    folder.publish(manifest, {"seed": seed})


def run(path: Path, seed: str, paths: Iterable[str], overwrite: bool = False) -> None:
    with ResultFolder(str(path), overwrite) as folder:
        publish(folder, seed, paths)


def whole_result(path: Path) -> str | None:
    """The seed of the result in `path` after checking all it lists; None if it is none."""
    try:
        manifest = read_manifest(str(path))
    except NoResultError:
        return None
    for part in manifest.parts:
        assert hashlib.sha256((path / part.path).read_bytes()).hexdigest() == part.sha256
    return str(manifest.settings["seed"])


def visible_files(path: Path) -> set[str]:
    return set(LocalFiles().list(str(path)))


OLD = ("pages/part-0", "pages/part-1", "gone/part-0")
NEW = ("pages/part-0", "rejects/part-0")


def test_a_published_result_has_its_files_and_no_others(tmp_path: Path) -> None:
    run(tmp_path / "out", "a", OLD)
    assert whole_result(tmp_path / "out") == "a"
    assert visible_files(tmp_path / "out") == {*OLD, "manifest.json", "run.json"}


def test_overwrite_replaces_all_of_the_old_result_and_keeps_a_users_note(tmp_path: Path) -> None:
    run(tmp_path / "out", "a", OLD)
    (tmp_path / "out" / "gone" / "note.txt").write_text("mine")
    run(tmp_path / "out", "b", NEW, overwrite=True)
    assert whole_result(tmp_path / "out") == "b"
    assert visible_files(tmp_path / "out") == {
        *NEW, "manifest.json", "run.json", "gone/note.txt",
    }


def test_a_result_is_not_replaced_unasked(tmp_path: Path) -> None:
    run(tmp_path / "out", "a", OLD)
    with pytest.raises(FolderRefusedError, match="--overwrite"):
        run(tmp_path / "out", "b", NEW)
    assert whole_result(tmp_path / "out") == "a"


@pytest.mark.parametrize("name", ["thesis.txt", "manifest.json", "pages/part-0"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_of_others_is_never_touched(tmp_path: Path, name: str, overwrite: bool) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text('{"name": "a web app"}')
    with pytest.raises(FolderRefusedError, match="left as it is"):
        run(tmp_path, "b", NEW, overwrite)
    assert visible_files(tmp_path) == {name}


def test_a_manifest_that_points_outside_is_not_followed(tmp_path: Path) -> None:
    run(tmp_path / "out", "a", OLD)
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("pages/part-1", "../precious"))
    (tmp_path / "precious").write_text("mine")
    with pytest.raises(FolderRefusedError):
        run(tmp_path / "out", "b", NEW, overwrite=True)
    assert (tmp_path / "precious").exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(FolderRefusedError, match="is a file"):
        run(tmp_path / "out", "a", OLD)


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with ResultFolder(str(tmp_path / "out")) as folder:
        with pytest.raises(FolderBusyError, match="another run"):
            run(tmp_path / "out", "b", NEW)
        with pytest.raises(FolderBusyError, match="another run"):
            ResultFolder(str(tmp_path / "out")).check()
        publish(folder, "a", OLD)
    assert whole_result(tmp_path / "out") == "a"


def test_a_failed_run_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), ResultFolder(str(tmp_path / "out")) as folder:
        Path(folder.work.spill, "bytes").write_bytes(b"x" * 100)
        raise ZeroDivisionError
    assert not (tmp_path / "out").exists()


def test_a_failed_overwrite_leaves_the_old_result(tmp_path: Path) -> None:
    run(tmp_path / "out", "a", OLD)
    with pytest.raises(ZeroDivisionError), ResultFolder(str(tmp_path / "out"), True):
        raise ZeroDivisionError
    assert whole_result(tmp_path / "out") == "a"


def test_a_part_nobody_wrote_is_not_published(tmp_path: Path) -> None:
    lost = Manifest("result", {}, Accounting(0, 0), (Part("pages", "pages/p", 1, ""),))
    with (
        pytest.raises(RuntimeError, match="pages/p"),
        ResultFolder(str(tmp_path / "out")) as folder,
    ):
        folder.publish(lost, {})
    assert not (tmp_path / "out").exists()


class Dead(BaseException):
    """The process died: nothing after this runs."""


class MortalFiles(LocalFiles):
    """Local files of a process that dies before its n-th change on disk."""

    def __init__(self, changes: int) -> None:
        self.left = changes

    def _live(self) -> None:
        if self.left == 0:
            raise Dead
        self.left -= 1

    def create(self, path: str) -> IO[bytes]:
        self._live()
        return super().create(path)

    def move(self, source: str, target: str) -> None:
        self._live()
        super().move(source, target)

    def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._live()
            super().delete([path])

    def delete_tree(self, folder: str) -> None:
        self._live()
        super().delete_tree(folder)


class FreedLock:
    """What the operating system does with the lock of a dead process: nothing is left."""

    def check(self) -> None: ...

    def acquire(self) -> None: ...

    def release(self) -> None: ...


@contextmanager
def dying(path: Path, changes: int) -> Iterator[tuple[ResultFolder, MortalFiles]]:
    files = MortalFiles(changes)
    with ResultFolder(str(path), True, files, lambda *_: FreedLock()) as folder:
        yield folder, files


@pytest.mark.parametrize("earlier", [False, True])
def test_death_before_any_single_change_leaves_a_whole_result_or_none(
    tmp_path: Path, earlier: bool
) -> None:
    changes = 0
    while True:
        out = tmp_path / f"out{changes}"
        if earlier:
            run(out, "old", OLD)
        try:
            with dying(out, changes) as (folder, _):
                publish(folder, "new", NEW)
            finished = True
        except Dead:
            finished = False
        assert whole_result(out) in ({"new"} if finished else {None, "old", "new"})
        run(out, "next", ("pages/part-0",), overwrite=True)
        assert whole_result(out) == "next"
        assert visible_files(out) == {"pages/part-0", "manifest.json", "run.json"}
        if finished:
            break
        changes += 1
    assert changes > 10


class FaultyFiles(MortalFiles):
    """Local files whose n-th change on disk fails once, as on a full disk or at Ctrl-C."""

    def _live(self) -> None:
        self.left -= 1
        if self.left == -1:
            raise OSError("no space left")


@pytest.mark.parametrize("earlier", [False, True])
def test_an_error_at_any_single_change_leaves_a_whole_result_or_nothing(
    tmp_path: Path, earlier: bool
) -> None:
    changes = 0
    while True:
        out = tmp_path / f"out{changes}"
        if earlier:
            run(out, "old", OLD)
        failed = False
        try:
            with ResultFolder(str(out), True, FaultyFiles(changes)) as folder:
                publish(folder, "new", NEW)
        except OSError:
            failed = True
        found = whole_result(out)
        assert found in ({None, "old", "new"} if failed else {"new"})
        if out.exists() and found is None:
            assert not [name for name in visible_files(out) if not name.startswith(".")]
        run(out, "next", NEW, overwrite=True)
        assert whole_result(out) == "next"
        if not failed:
            break
        changes += 1
    assert changes > 10


CHANGES = ("mkdir", "replace", "remove", "unlink", "rmdir")


def dies_before(change: int, out: Path, seed: str) -> bool:
    """Run in a process that ends without a word before its `change`-th change of the disk."""
    process = os.fork()
    if process == 0:
        left = [change]

        def mortal(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                if not left[0]:
                    os._exit(9)
                left[0] -= 1
                return function(*arguments, **named)

            return call

        for name in CHANGES:
            setattr(os, name, mortal(getattr(os, name)))
        status = 1
        try:
            run(out, seed, NEW, overwrite=True)
            status = 0
        finally:
            os._exit(status)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert code in (0, 9)
    return code == 9


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: for tests of thousands of changes, to which it does
    not matter when they are on a disk."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
    else:
        with TemporaryDirectory(dir=shared) as folder:
            yield Path(folder)


def test_death_before_any_change_of_the_disk_and_again_in_what_follows(memory_path: Path) -> None:
    """A run dies, and the one that cleans up after it dies too: the third finds its way."""
    first = 0
    while True:
        before = memory_path / f"{first}"
        run(before, "old", OLD)
        died = dies_before(first, before, "a")
        for second in range(first % 8, 60, 8):
            out = memory_path / f"{first}-{second}"
            shutil.copytree(before, out, symlinks=True)
            again = dies_before(second, out, "b")
            assert whole_result(out) in {None, "old", "a", "b"}
            run(out, "next", NEW, overwrite=True)
            assert whole_result(out) == "next"
            assert visible_files(out) == {*NEW, "manifest.json", "run.json"}
            assert sorted(os.listdir(out)) == ["manifest.json", "pages", "rejects", "run.json"]
            if not again:
                break
        if not died:
            break
        first += 1
    assert first > 15


WRITER = """
import sys
sys.path[:0] = {path!r}
from tests.results.test_run_folder import run
from pathlib import Path
print("ready", flush=True)
run(Path(sys.argv[1]), sys.argv[2], [f"t{{n}}/part" for n in range(40)], overwrite=True)
"""


def test_kill_9_at_random_moments(tmp_path: Path) -> None:
    """Real processes, really killed: what is left is whole or refused, and the next run works."""
    rng = random.Random(7)
    script = textwrap.dedent(WRITER).format(path=[p or os.getcwd() for p in sys.path])
    seen = set()
    for attempt in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "out"), f"seed{attempt}"],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        seen.add(whole_result(tmp_path / "out"))
    run(tmp_path / "out", "last", NEW, overwrite=True)
    assert whole_result(tmp_path / "out") == "last"
    assert visible_files(tmp_path / "out") == {*NEW, "manifest.json", "run.json"}
    assert seen


def test_the_manifest_is_the_same_text_whatever_the_order_of_parts() -> None:
    parts = [Part("t", f"t/{n}", n, "00") for n in range(5)]
    one, two = (
        Manifest("result", {"b": 1, "a": 2}, Accounting(3, 2, {"x": 1}), tuple(order))
        for order in (parts, reversed(parts))
    )
    assert one.to_json() == two.to_json()
    assert Manifest.from_json(one.to_json(), "here") == two.__class__(
        "result", {"a": 2, "b": 1}, Accounting(3, 2, {"x": 1}), tuple(parts)
    )
    assert json.loads(one.to_json())["accounting"] == {
        "records": 3, "pages": 2, "skipped": {"x": 1}, "rejected": {},
    }
