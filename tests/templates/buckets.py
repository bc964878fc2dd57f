"""gs:// on this disk, for programs that are to believe they are in Google's cloud."""

from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

from apache_beam.io.filesystem import FileMetadata
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import GoogleCloudOptions
from apache_beam.runners.dataflow.internal.apiclient import DataflowApplicationClient

from tests.results.test_files import MemoryFileSystem

GS = "gs://"


class Objects(MutableMapping[str, bytes]):
    """Objects by name, as files below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _file(self, name: str) -> Path:
        return self.folder / name.removeprefix(GS)

    def __getitem__(self, name: str) -> bytes:
        if not self._file(name).is_file():
            raise KeyError(name)
        return self._file(name).read_bytes()

    def __contains__(self, name: object) -> bool:
        return self._file(str(name)).is_file()

    def size(self, name: str) -> int:
        return self._file(name).stat().st_size

    def __setitem__(self, name: str, content: bytes) -> None:
        self._file(name).parent.mkdir(parents=True, exist_ok=True)
        self._file(name).write_bytes(content)

    def __delitem__(self, name: str) -> None:
        """Folders are names alone: one without files is none."""
        self._file(name).unlink()
        for folder in self._file(name).parents:
            if any(folder.iterdir()):
                break
            folder.rmdir()

    def __iter__(self) -> Iterator[str]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return (GS + str(path.relative_to(self.folder)) for path in files)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Buckets(MemoryFileSystem):
    """The same as Beam sees them."""

    objects: Any = None

    @classmethod
    def scheme(cls) -> str:
        return "gs-on-disk"

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        for name in sorted(self.objects):
            if name.startswith(dir_or_prefix):
                yield FileMetadata(name, self.objects.size(name), 0.0)

    def size(self, path: str) -> int:
        return int(self.objects.size(path))


def use(folder: Path) -> None:
    """From now on gs:// is `folder`, in this process; nothing of Beam asks Google anything."""
    objects = Buckets.objects = Objects(folder)
    elsewhere = FileSystems.get_filesystem

    def get_filesystem(path: str) -> Any:
        return Buckets(None) if path.startswith(GS) else elsewhere(path)

    def stage_file(_: Any, place: str, name: str, stream: Any, *others: Any, **named: Any) -> None:
        objects[f"{place}/{name}"] = stream.read()

    FileSystems.get_filesystem = get_filesystem
    DataflowApplicationClient.stage_file = stage_file
    GoogleCloudOptions._warn_if_soft_delete_policy_enabled = lambda *_: None
