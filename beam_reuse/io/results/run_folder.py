"""The life of a result folder: refused, locked, worked in, published, cleaned.

A run works in a hidden folder inside the output folder and moves its tables out when all
are complete; the manifest is removed first and written last. So at any moment the output
folder either has a manifest and everything it lists, or no manifest and is no result. A
journal names the files a publication touches: with it the next run removes what a killed
one left, and nothing else.

Where the process that starts a run ends before it, the folder is handed over: the run's last
step publishes, as often as it is tried.
"""

import json
import os
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from beam_reuse.core import stopping
from beam_reuse.core.errors import UserError
from beam_reuse.io.files import Files, is_local, join, open_files, require_writable, write_whole
from beam_reuse.io.results.locks import Lease, Lock, is_held_by, lock_at
from beam_reuse.io.results.manifest import MANIFEST, RUN_INFO, Manifest, paths_of_result

LOCK = ".beam-reuse.lock"
WORK_PREFIX = ".beam-reuse-run-"
JOURNAL = "journal.json"


class FolderRefusedError(UserError):
    """An output folder that must not be written to; the message gives the way out."""


@dataclass(frozen=True)
class Workspace:
    """The hidden folder of one run: finished tables, shuffled bytes, progress of workers (nowhere
    if nobody watches)."""

    root: str
    is_watched: bool = True

    @property
    def tables(self) -> str:
        return join(self.root, "tables")

    @property
    def spill(self) -> str:
        return join(self.root, "spill")

    @property
    def progress(self) -> str:
        return join(self.root, "progress") if self.is_watched else ""


class ResultFolder:
    """`with ResultFolder(path, overwrite) as folder:` holds the lock on an output folder.

    Entering refuses a folder that is not ours to write, removes what a dead run left and
    makes `folder.work`. Leaving removes `work`, unless it was handed over; only publishing makes a
    result.
    """

    def __init__(
        self,
        path: str,
        overwrite: bool = False,
        files: Files | None = None,
        make_lock: Callable[[str, Files], Lock] = lock_at,
    ) -> None:
        self.path = path.rstrip("/") or "/"
        self.work = Workspace(join(self.path, WORK_PREFIX + uuid.uuid4().hex[:12]))
        self._overwrite = overwrite
        self._files = files or open_files(path)
        self._lock = make_lock(join(self.path, LOCK), self._files)
        self._made = False
        self._is_handed_over = False

    def check(self) -> None:
        """Refuse a folder that is not ours to write; changes nothing."""
        if is_local(self.path) and os.path.isfile(self.path):
            raise FolderRefusedError(f"-o {self.path} is a file. Give a folder.")
        require_writable(self.path)
        self._lock.check()
        if not self._leftovers():
            self._refuse()

    def __enter__(self) -> "ResultFolder":
        self.check()
        if is_local(self.path):
            self._made = not os.path.exists(self.path)
            os.makedirs(self.path, exist_ok=True)
        self._lock.acquire()
        try:
            self._recover()
            self._refuse()
            if is_local(self.path):
                for folder in (self.work.tables, self.work.spill, self.work.progress):
                    os.makedirs(folder)
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._is_handed_over:
            self._leave()

    def publish(self, manifest: Manifest, run_info: dict[str, Any]) -> None:
        """Make the tables of `work` the folder's result, replacing an earlier one.

        Every file the manifest lists must lie below `work.tables`. After a crash at any
        point there is no manifest, or a manifest with all it lists.
        """
        publish(self.path, self.work, self._files, manifest, run_info)
        stopping.written.append(self.path)

    @property
    def handle(self) -> "HandedFolder":
        """What a run that outlives this process needs to publish in this folder."""
        if not isinstance(self._lock, Lease):
            raise FolderRefusedError(f"-o {self.path} is a folder of this machine, and the run "
                                     "goes on elsewhere. Give a folder on gs://.")
        return HandedFolder(self.path, replace(self.work, is_watched=False), self._lock.owner)

    def hand_over(self) -> None:
        """Leave lock and work to whoever has the handle."""
        if isinstance(self._lock, Lease):
            self._lock.hand_over()
            self._is_handed_over = True

    def _leave(self) -> None:
        try:
            self._recover()
        finally:
            self._lock.release()
        if self._made:
            with suppress(OSError):
                os.rmdir(self.path)

    def _recover(self) -> None:
        """Remove what dead runs and this one leave: work folders and, without a manifest, the
        files their journals name."""
        for leftover in self._leftovers():
            with suppress(FileNotFoundError):
                journal = self._files.read(join(self.path, leftover, JOURNAL))
                if MANIFEST not in self._names():
                    self._delete(json.loads(journal))
            self._files.delete_tree(join(self.path, leftover))

    def _refuse(self) -> None:
        """Refuse an earlier result unless it may be replaced, and any folder not ours."""
        names = [n for n in self._names() if n != LOCK and not n.startswith(WORK_PREFIX)]
        if MANIFEST in names and self._listed():
            if not self._overwrite:
                raise FolderRefusedError(
                    f"-o {self.path} holds a result already. "
                    "Add --overwrite to replace it, or choose another folder."
                )
        elif names:
            raise FolderRefusedError(
                f"-o {self.path} holds files that are no result of beam-reuse "
                f"({names[0]}{', …' if len(names) > 1 else ''}); it is left as it is. "
                "Choose a new or an empty folder."
            )

    def _leftovers(self) -> list[str]:
        return [name for name in self._names() if name.startswith(WORK_PREFIX)]

    def _names(self) -> list[str]:
        """Names of files and folders directly in the output folder."""
        if is_local(self.path):
            return sorted(os.listdir(self.path)) if os.path.isdir(self.path) else []
        return sorted({name.split("/", 1)[0] for name in self._files.list(self.path)})

    def _listed(self) -> list[str]:
        return _listed(self.path, self._files)

    def _delete(self, paths: Iterable[str]) -> None:
        self._files.delete([join(self.path, path) for path in paths])


@dataclass(frozen=True)
class HandedFolder:
    """An output folder whose lock and work were handed over; travels with the run."""

    path: str
    work: Workspace
    owner: str

    def publish(self, manifest: Manifest, run_info: dict[str, Any]) -> None:
        """As `ResultFolder.publish`, then give lock and work up. It may be done again after it
        failed anywhere, and after it was done."""
        files = open_files(self.path)
        if _text_at(files, join(self.path, MANIFEST)) != manifest.to_json():
            if not is_held_by(join(self.path, LOCK), files, self.owner):
                raise RuntimeError(f"another run has taken {self.path} over")
            publish(self.path, self.work, files, manifest, run_info)
        files.delete_tree(self.work.root)
        self.release()

    def release(self) -> None:
        """Give the lock up; what is left of the run is removed by the next one."""
        files = open_files(self.path)
        if is_held_by(join(self.path, LOCK), files, self.owner):
            files.delete([join(self.path, LOCK)])


def publish(
    path: str, work: Workspace, files: Files, manifest: Manifest, run_info: dict[str, Any],
) -> None:
    """Move what the manifest lists from `work` to the folder at `path`; goes on where an earlier
    attempt has stopped."""
    new = manifest.paths
    waiting, journal = set(files.list(work.tables)), join(work.root, JOURNAL)
    begun = _text_at(files, journal)
    missing = sorted(set(new) - waiting - (set(files.list(path)) if begun else set()))
    if missing:
        raise RuntimeError(f"files that no worker has written: {', '.join(missing)}")
    old = set(json.loads(begun) if begun else _listed(path, files))
    write_whole(files, join(work.root, RUN_INFO), _json(run_info).encode())
    write_whole(files, join(work.root, MANIFEST), manifest.to_json().encode())
    write_whole(files, journal, json.dumps(sorted({*old, *new, RUN_INFO})).encode())
    files.delete([join(path, MANIFEST)])
    gone = {*old, RUN_INFO} - (set(new) - waiting)
    files.delete([join(path, name) for name in sorted(gone)])
    for name in sorted(waiting.intersection(new)):
        files.move(join(work.tables, name), join(path, name))
    for name in (RUN_INFO, MANIFEST):
        files.move(join(work.root, name), join(path, name))


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _text_at(files: Files, path: str) -> str:
    try:
        return files.read(path).decode()
    except FileNotFoundError:
        return ""


def _listed(path: str, files: Files) -> list[str]:
    """Paths that the manifest in the folder lists; [] if there is none, or it is not ours."""
    return paths_of_result(_text_at(files, join(path, MANIFEST)))
