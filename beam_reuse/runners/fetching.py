"""Kits: folders of downloaded programs, complete or not there at all.

A kit is filled under another name, its files are listed with their SHA-256 in a file written
last, and the folder is then renamed. So a kit that is there under its name was complete once; each
use checks that every file still has its size, `fetch` that it has its content. Files in its folder
of settings may be changed: they are the user's, and kept.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from beam_reuse.core.errors import UserError

CONTENTS = "contents.json"
SETTINGS = "conf"
PLACE = "BEAM_REUSE_ENGINES"
_SHOWN = 400


class FetchError(RuntimeError):
    """A client that was to download something failed; the message has its last words."""


@dataclass(frozen=True)
class Kit:
    """Something that can be fetched: its name for people and, with a version, for the disk.
    `fill` puts it into a folder and says what it is. `own` is the option that names one the user
    has, '' if there is none."""

    name: str
    version: str
    about: str
    fill: Callable[[Path], str]
    own: str = ""
    needs_java: bool = True

    def folder_in(self, kits: Path) -> Path:
        is_said = self.name.endswith(f"-{self.version}")
        return kits / (self.name if is_said else f"{self.name}-{self.version}")


@dataclass(frozen=True)
class Fetched:
    """A kit that is there: what it is, where, its size, and what was done to have it."""

    folder: Path
    what: str
    files: int
    bytes: int
    done: str
    seconds: float


def kits_folder(given: str = "") -> Path:
    """Where kits are kept: as given, else as the environment says, else the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(given or os.environ.get(PLACE) or os.path.join(cache, "beam-reuse", "engines"))


def fetch(kit: Kit, kits: Path) -> Fetched:
    """The kit in the folder `kits`: checked if it is there, fetched if not or if damaged."""
    started = time.monotonic()
    folder = kit.folder_in(kits)
    done = "fetched"
    if folder.exists():
        damage = damage_of(folder, whole=True)
        if not damage:
            return _told(folder, "checked", started)
        done = f"fetched again ({damage})"
    _make(kits)
    with tempfile.TemporaryDirectory(prefix=f"{kit.name}.", dir=kits) as temporary:
        filling = Path(temporary) / kit.name
        filling.mkdir()
        what = kit.fill(filling)
        files = {path: _entry(filling / path) for path in _files_in(filling)}
        (filling / CONTENTS).write_text(json.dumps({"what": what, "files": files}, indent=1))
        if folder.exists() and damage_of(folder, whole=True):
            _keep_settings(folder, filling)
            folder.rename(Path(temporary) / "damaged")
        try:
            filling.rename(folder)
        except OSError:  # another process was faster
            if damage := damage_of(folder, whole=True):
                raise FetchError(f"{folder} is damaged ({damage}); remove it and try again"
                                 ) from None
    return _told(folder, done, started)


def _keep_settings(folder: Path, filling: Path) -> None:
    """Let a new copy of a kit have the settings of the damaged one."""
    if (folder / SETTINGS).is_dir():
        shutil.copytree(folder / SETTINGS, filling / SETTINGS, dirs_exist_ok=True)


def _make(kits: Path) -> None:
    try:
        kits.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--engines-dir {kits} cannot be made ({error.strerror}). Name another "
                        f"folder with --engines-dir or {PLACE}.") from None


def find(kit: Kit, kits: Path) -> Path:
    """The folder of a kit that was fetched; UserError with the way out if there is none."""
    folder = kit.folder_in(kits)
    damage = damage_of(folder)
    if damage:
        where = "" if kits == kits_folder() else f" --engines-dir {kits}"
        own = f" (or name one of your own with {kit.own} FILE)" if kit.own else ""
        raise UserError(f"{kit.about}: {damage} in {kits}. Fetch it with: beam-reuse engines "
                        f"{kit.name}{where}{own}")
    return folder


def damage_of(folder: Path, whole: bool = False) -> str:
    """What is wrong with a kit, '' if nothing; with `whole` all of its bytes are read."""
    try:
        listed: Mapping[str, Sequence[int | str]] = json.loads(
            (folder / CONTENTS).read_text())["files"]
    except FileNotFoundError:
        return "not found"
    except (ValueError, KeyError, OSError):
        return f"{CONTENTS} cannot be read"
    for path, (size, digest) in listed.items():
        file = folder / path
        if path.startswith(f"{SETTINGS}/"):
            continue
        if not file.is_file():
            return f"{path} is missing"
        if file.stat().st_size != size or (whole and _entry(file)[1] != digest):
            return f"{path} is damaged"
    return ""


def _told(folder: Path, done: str, started: float) -> Fetched:
    contents = json.loads((folder / CONTENTS).read_text())
    sizes = [size for size, _ in contents["files"].values()]
    return Fetched(folder, contents["what"], len(sizes), sum(sizes), done,
                   time.monotonic() - started)


def _files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _entry(path: Path) -> tuple[int, str]:
    with path.open("rb") as source:
        return path.stat().st_size, hashlib.file_digest(source, "sha256").hexdigest()


def call(client: str, way_out: str, *arguments: str, **environment: str) -> None:
    """Run a client to its end. UserError if it is not installed, FetchError if it fails."""
    program = shutil.which(client)
    if program is None:
        raise UserError(f"{client} is not installed (or not on the PATH). {way_out}")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    if done.returncode:
        raise FetchError(f"{client} failed: {_gist(done.stdout + done.stderr)}")


def _gist(output: str) -> str:
    """The first line that reports an error, or the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line.upper()]
    return (errors or lines[-1:] or ["it said nothing"])[0][:_SHOWN]
