"""The life of a result folder: refused, locked, worked in, published, cleaned.

A run works in a hidden folder inside the output folder and moves its tables out when all
are complete; the manifest is removed first and written last. So at any moment the output
folder either has a manifest and everything it lists, or no manifest and is no result. A
journal names the files a publication touches: with it the next run removes what a killed
one left, and nothing else.
"""

import json
import os
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from beam_reuse.core.errors import UserError
from beam_reuse.io.files import Files, is_local, join, open_files, require_writable, write_whole
from beam_reuse.io.results.locks import Lock, lock_at
from beam_reuse.io.results.manifest import MANIFEST, RUN_INFO, Manifest, paths_of_result

LOCK = ".beam-reuse.lock"
WORK_PREFIX = ".beam-reuse-run-"
JOURNAL = "journal.json"


class FolderRefusedError(UserError):
    """An output folder that must not be written to; the message gives the way out."""


@dataclass(frozen=True)
class Workspace:
    """The hidden folder of one run: finished tables, shuffled bytes, progress of workers."""

    root: str

    @property
    def tables(self) -> str:
        return join(self.root, "tables")

    @property
    def spill(self) -> str:
        return join(self.root, "spill")

    @property
    def progress(self) -> str:
        return join(self.root, "progress")


class ResultFolder:
    """`with ResultFolder(path, overwrite) as folder:` holds the lock on an output folder.

    Entering refuses a folder that is not ours to write, removes what a dead run left and
    makes `folder.work`. Leaving removes `work`; only `publish` makes a result.
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
        self._leave()

    def publish(self, manifest: Manifest, run_info: dict[str, Any]) -> None:
        """Make the tables of `work` the folder's result, replacing an earlier one.

        Every file the manifest lists must lie below `work.tables`. After a crash at any
        point there is no manifest, or a manifest with all it lists.
        """
        new = manifest.paths
        missing = sorted(set(new) - set(self._files.list(self.work.tables)))
        if missing:
            raise RuntimeError(f"files that no worker has written: {', '.join(missing)}")
        old = self._listed()
        self._write(RUN_INFO, json.dumps(run_info, indent=2, sort_keys=True) + "\n")
        self._write(MANIFEST, manifest.to_json())
        self._write(JOURNAL, json.dumps(sorted({*old, *new, RUN_INFO})))
        self._delete([MANIFEST])
        self._delete([*old, RUN_INFO])
        for path in sorted(new):
            self._files.move(join(self.work.tables, path), join(self.path, path))
        for name in (RUN_INFO, MANIFEST):
            self._files.move(join(self.work.root, name), join(self.path, name))

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
        """Paths the present manifest lists; [] if there is none, or it is not ours."""
        try:
            return paths_of_result(self._files.read(join(self.path, MANIFEST)))
        except FileNotFoundError:
            return []

    def _delete(self, paths: Iterable[str]) -> None:
        self._files.delete([join(self.path, path) for path in paths])

    def _write(self, name: str, content: str) -> None:
        write_whole(self._files, join(self.work.root, name), content.encode())
