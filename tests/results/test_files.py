"""The same file operations on the local disk and on a filesystem only Beam knows."""

import io
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from apache_beam.io.filesystem import (
    CompressionTypes,
    FileMetadata,
    FileSystem,
)

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import (
    BeamFiles,
    Files,
    LocalFiles,
    is_local,
    join,
    local_path,
    open_files,
    require_writable,
    write_whole,
    written_whole,
)
from beam_reuse.io.results import locks
from beam_reuse.io.results.locks import FolderBusyError, Lease
from beam_reuse.io.results.manifest import Accounting, Manifest, NoResultError, Part
from beam_reuse.io.results.run_folder import FolderRefusedError, HandedFolder, ResultFolder
from beam_reuse.io.results.tables import read_manifest


class MemoryFileSystem(FileSystem):
    """An object store: flat names, no folders, no locks."""

    objects: dict[str, bytes] = {}  # noqa: RUF012 (one store, as there is one cloud)

    @classmethod
    def scheme(cls) -> str:
        return "mem"

    def join(self, basepath: str, *paths: str) -> str:
        return "/".join([basepath.rstrip("/"), *paths])

    def split(self, path: str) -> tuple[str, str]:
        head, _, tail = path.rpartition("/")
        return head, tail

    def mkdirs(self, path: str) -> None: ...

    def has_dirs(self) -> bool:
        return False

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        for name, content in sorted(self.objects.items()):
            if name.startswith(dir_or_prefix):
                yield FileMetadata(name, len(content), 0.0)

    def create(self, path: str, mime_type: str = "",
               compression_type: str = CompressionTypes.AUTO) -> Any:
        objects = self.objects

        class Upload(io.BytesIO):
            def close(self) -> None:
                if not self.closed:
                    objects[path] = self.getvalue()
                super().close()

        return Upload()

    def open(self, path: str, mime_type: str = "",
             compression_type: str = CompressionTypes.AUTO) -> Any:
        return io.BytesIO(self.objects[path])

    def copy(self, source_file_names: list[str], destination_file_names: list[str]) -> None:
        for source, target in zip(source_file_names, destination_file_names, strict=True):
            self.objects[target] = self.objects[source]

    def rename(self, source_file_names: list[str], destination_file_names: list[str]) -> None:
        self.copy(source_file_names, destination_file_names)
        self.delete(source_file_names)

    def exists(self, path: str) -> bool:
        return path in self.objects

    def size(self, path: str) -> int:
        return len(self.objects[path])

    def last_updated(self, path: str) -> float:
        return 0.0

    def checksum(self, path: str) -> str:
        return ""

    def metadata(self, path: str) -> FileMetadata:
        return FileMetadata(path, self.size(path), 0.0)

    def delete(self, paths: list[str]) -> None:
        for path in paths:
            del self.objects[path]


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> str:
    MemoryFileSystem.objects.clear()
    monkeypatch.setattr(locks, "RENEW_SECONDS", 0.05)
    return "mem://bucket/out"


@pytest.fixture(params=["local", "beam", "cloud"])
def place(request: pytest.FixtureRequest, tmp_path: Path, cloud: str) -> tuple[Files, str]:
    if request.param == "cloud":
        return open_files(cloud), cloud
    return (LocalFiles() if request.param == "local" else BeamFiles()), str(tmp_path / "f")


def test_files_come_and_go(place: tuple[Files, str]) -> None:
    files, folder = place
    assert files.list(folder) == []
    write_whole(files, join(folder, "a", "one.gz"), b"1")
    write_whole(files, join(folder, "two"), b"2")
    write_whole(files, join(folder, "two"), b"22")
    assert files.list(folder) == ["a/one.gz", "two"]
    assert files.read(join(folder, "two")) == b"22"
    with files.open(join(folder, "a", "one.gz")) as source:
        assert source.read() == b"1"
    files.move(join(folder, "two"), join(folder, "b", "three"))
    files.move(join(folder, "a", "one.gz"), join(folder, "b", "three"))
    assert files.read(join(folder, "b", "three")) == b"1"
    files.delete([join(folder, "b", "three"), join(folder, "never")])
    assert files.list(folder) == []
    write_whole(files, join(folder, "c", "d"), b"")
    files.delete_tree(folder)
    files.delete_tree(folder)
    assert files.list(folder) == []
    with pytest.raises(FileNotFoundError):
        files.read(join(folder, "c", "d"))


def test_a_failed_write_leaves_nothing(place: tuple[Files, str]) -> None:
    files, folder = place
    with pytest.raises(ZeroDivisionError), written_whole(files, join(folder, "x")) as target:
        target.write(b"half")
        raise ZeroDivisionError
    assert files.list(folder) == []


def test_names() -> None:
    assert join("/", "a") == "/a"
    assert join("gs://b/x/", "a", "c") == "gs://b/x/a/c"
    assert local_path("file:///a/b") == "/a/b"
    assert not is_local("gs://b")


def publish(cloud: str, overwrite: bool = False) -> None:
    with ResultFolder(cloud, overwrite, make_lock=quick_lease) as folder:
        write_whole(BeamFiles(), join(folder.work.tables, "t/p"), b"rows")
        folder.publish(Manifest("result", {}, Accounting(0, 0), (Part("t", "t/p", 1, ""),)), {})


def quick_lease(path: str, files: Files) -> Lease:
    return Lease(path, files, settle_seconds=0.0)


def test_results_are_published_on_an_object_store(cloud: str) -> None:
    publish(cloud)
    assert set(MemoryFileSystem.objects) == {
        f"{cloud}/{name}" for name in ("manifest.json", "run.json", "t/p")
    }
    assert read_manifest(cloud).parts[0].path == "t/p"
    with pytest.raises(FolderRefusedError, match="--overwrite"):
        publish(cloud)
    publish(cloud, overwrite=True)
    assert read_manifest(cloud).parts[0].path == "t/p"


def test_an_object_store_with_other_objects_is_not_touched(cloud: str) -> None:
    MemoryFileSystem.objects[f"{cloud}/thesis.txt"] = b"mine"
    with pytest.raises(FolderRefusedError, match=r"thesis\.txt"):
        publish(cloud, overwrite=True)
    assert set(MemoryFileSystem.objects) == {f"{cloud}/thesis.txt"}


def test_a_lease_is_kept_while_its_owner_lives_and_taken_over_when_dead(
    cloud: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ResultFolder(cloud, make_lock=quick_lease) as folder:
        with pytest.raises(FolderBusyError):
            publish(cloud)
        write_whole(BeamFiles(), join(folder.work.spill, "x"), b"1")
        dead = dict(MemoryFileSystem.objects)
    assert not MemoryFileSystem.objects
    MemoryFileSystem.objects.update(dead)
    with pytest.raises(FolderBusyError):
        publish(cloud)
    monkeypatch.setattr(locks, "DEAD_SECONDS", 0.0)
    publish(cloud)
    with pytest.raises(NoResultError):
        read_manifest(cloud + "/t")
    assert set(MemoryFileSystem.objects) == {
        f"{cloud}/{name}" for name in ("manifest.json", "run.json", "t/p")
    }


def test_a_place_where_nothing_can_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "file").write_text("x")
    for free in ("file", "new", "new/below", "."):
        require_writable(str(tmp_path / free))
    with pytest.raises(UserError, match=r"-o .*/file/below/x: .*/file is a file, not a folder"):
        require_writable(str(tmp_path / "file" / "below" / "x"))
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(tmp_path))
    for name in ("file", "new/below", "."):
        with pytest.raises(UserError, match=f"-o .*{name}: you may not write to {tmp_path}"):
            require_writable(str(tmp_path / name))


def test_a_failed_write_leaves_the_folder_that_was_there(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    with pytest.raises(RuntimeError), written_whole(LocalFiles(), str(mine / "x")) as target:
        target.write(b"half")
        raise RuntimeError
    assert mine.is_dir() and not list(mine.iterdir())


def handed(cloud: str, overwrite: bool = False) -> HandedFolder:
    """A folder that was handed to a job which has written its table."""
    with ResultFolder(cloud, overwrite, make_lock=quick_lease) as folder:
        write_whole(BeamFiles(), join(folder.work.tables, "t/p"), b"rows")
        write_whole(BeamFiles(), join(folder.work.tables, "t/q"), b"more rows")
        handle = folder.handle
        folder.hand_over()
    return handle


OF_A_JOB = Manifest(
    "result", {}, Accounting(0, 0), (Part("t", "t/p", 1, ""), Part("t", "t/q", 1, "")))


def test_a_folder_that_was_handed_over_is_the_jobs_until_it_publishes(
    cloud: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    handle = handed(cloud)
    monkeypatch.setattr(locks, "DEAD_SECONDS", 0.0)
    with pytest.raises(FolderBusyError, match=r"launched from a template.*remove mem://bucket"):
        publish(cloud)
    for _ in range(2):  # the last step of a job may be tried again after it was done
        handle.publish(OF_A_JOB, {})
        assert set(MemoryFileSystem.objects) == {
            f"{cloud}/{name}" for name in ("manifest.json", "run.json", "t/p", "t/q")}
    publish(cloud, overwrite=True)
    with pytest.raises(RuntimeError, match="another run has taken"):
        handle.publish(OF_A_JOB, {})
    assert read_manifest(cloud).paths == ["t/p"]


def test_a_job_that_gives_its_folder_up_leaves_it_to_the_next(cloud: str) -> None:
    handle = handed(cloud)
    handle.release()
    publish(cloud)
    assert read_manifest(cloud).paths == ["t/p"]


class Broken(Exception):
    """The store is gone."""


@pytest.mark.parametrize("works", range(40))
def test_a_job_publishes_wherever_it_was_interrupted(
    cloud: str, monkeypatch: pytest.MonkeyPatch, works: int,
) -> None:
    publish(cloud)
    handle = handed(cloud, overwrite=True)
    left = [works]

    def breaking(method: Any) -> Any:
        def broken(*arguments: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Broken
            return method(*arguments)
        return broken

    with monkeypatch.context() as patched:
        for name in ("create", "copy", "delete"):
            patched.setattr(MemoryFileSystem, name, breaking(getattr(MemoryFileSystem, name)))
        with suppress(Broken):
            handle.publish(OF_A_JOB, {})
    if f"{cloud}/manifest.json" in MemoryFileSystem.objects:
        assert all(f"{cloud}/{path}" in MemoryFileSystem.objects
                   for path in read_manifest(cloud).paths)
    handle.publish(OF_A_JOB, {})
    assert set(MemoryFileSystem.objects) == {
        f"{cloud}/{name}" for name in ("manifest.json", "run.json", "t/p", "t/q")}
    assert MemoryFileSystem.objects[f"{cloud}/t/q"] == b"more rows"
