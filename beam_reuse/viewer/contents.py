"""The bytes of pages, from the crawl files or indexes that a result was made of."""

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import takewhile
from typing import Any

from beam_reuse.core.chunking import file_sha1
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.inputs import InputFile, is_result_folder, list_files
from beam_reuse.io.crawl.members import Corrupt, GzipUnits, Units
from beam_reuse.io.crawl.window import Window, open_window
from beam_reuse.io.crawl.zstd_frames import ZstdUnits
from beam_reuse.io.files import is_local, join, open_files
from beam_reuse.io.results.manifest import RUN_INFO, Manifest
from beam_reuse.io.stored_pages import StoredPage, find_pages, page_at

HELD_BYTES = 32 << 20
SOME_BYTES = 2048


class NoContent(UserError):
    """A page whose content cannot be had; the message says why, and what to do."""


class Contents:
    """Pages by their rows in the table `pages`. Memory: HELD_BYTES of those looked at last, and a
    record."""

    def __init__(self, folder: str, inputs: Sequence[str], manifest: Manifest) -> None:
        self._folder, self._given = folder, tuple(inputs)
        self._most = manifest.settings.get(
            "max-record-bytes", ReadSettings().max_record_bytes)
        self._held: OrderedDict[str, StoredPage] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, row: Mapping[str, Any]) -> StoredPage:
        """The page of a row with `url`, `sha1`, `file` and `offset`; its bytes have that SHA-1."""
        with self._lock:
            held = self._held.get(row["url"])
            if held is None:
                held = self._held[row["url"]] = self._find(row)
            self._held.move_to_end(row["url"])
            while len(self._held) > 1 and sum(
                    len(page.payload) for page in self._held.values()) > HELD_BYTES:
                self._held.popitem(last=False)
            return held

    def bytes_at(self, name: str, offset: int) -> tuple[bytes, str]:
        """The first bytes at a place of the crawl file that the result calls `name`; of a
        compressed unit that starts there what it holds, and what such a unit is called."""
        try:
            for file in self._called(name):
                with open_window(file.path, file.size) as window:
                    return _inflated(window, offset)
        except (OSError, UserError) as error:
            raise NoContent(f"The crawl cannot be read: {error}.") from error
        raise NoContent(f"{name} is not among the crawl files that are known. Give them: "
                        "beam-reuse view DIR --crawl INPUT...")

    @cached_property
    def _inputs(self) -> tuple[str, ...]:
        if self._given:
            return self._given
        try:
            told = json.loads(open_files(self._folder).read(join(self._folder, RUN_INFO)))
            started = _started_in(self._folder, str(told.get("output", "")))
            return tuple(_found(str(path), started) for path in told["inputs"])
        except (OSError, ValueError, KeyError, TypeError):
            return ()

    @cached_property
    def _indexes(self) -> list[str]:
        return [spec for spec in self._inputs if is_result_folder(spec)]

    @cached_property
    def _files(self) -> list[InputFile]:
        specs = [spec for spec in self._inputs if spec not in self._indexes]
        return list_files(specs) if specs else []

    def _called(self, name: str) -> list[InputFile]:
        """The files that the result calls `name`: those of this name, or else, as the crawl may be
        in other folders now, those whose paths end as it does, the most alike first."""
        exact = [file for file in self._files if file.name == name]
        if exact:
            return exact
        alike = {file.path: _same_at_the_end(file.path.split("/"), name.split("/"))
                 for file in self._files}
        return sorted((file for file in self._files if alike[file.path]),
                      key=lambda file: -alike[file.path])

    def _find(self, row: Mapping[str, Any]) -> StoredPage:
        found = False
        for page in self._candidates(row):
            if file_sha1(page.payload).hex() == row["sha1"]:
                return page
            found = True
        raise NoContent(self._why_not(row, found))

    def _why_not(self, row: Mapping[str, Any], found: bool) -> str:
        """Why there is no page, though what was `found` at its place could be read."""
        give = "beam-reuse view DIR --crawl INPUT..."
        if not self._inputs:
            return f"It is not known where the crawl is. Give it: {give}"
        where = ", ".join(self._inputs[:3]) + (", …" if len(self._inputs) > 3 else "")
        if found:
            return f"{where}: has other content at this place than when the run read it."
        if self._called(row["file"]):
            return (f"{where}: no page can be read at byte {row['offset']:,} of {row['file']}: it "
                    "is damaged, or another file than the run read.")
        return (f"{where}: has no {row['file']}, and no index with this page. Give the files that "
                f"the result was made of, or an index of them: {give}")

    def _candidates(self, row: Mapping[str, Any]) -> Iterator[StoredPage]:
        try:
            if self._indexes:
                yield from find_pages(self._indexes, {row["url"].partition("#")[0]}, self._most)
            for file in self._called(row["file"]):
                yield from page_at([file], file.name, row["offset"], self._most)
        except (OSError, UserError) as error:
            raise NoContent(f"The crawl cannot be read: {error}. Say where it is now: "
                            "beam-reuse view DIR --crawl INPUT...") from error


def _inflated(window: Window, offset: int) -> tuple[bytes, str]:
    kinds: tuple[Units, ...] = (GzipUnits(window), ZstdUnits(window))
    for units in kinds:
        buffer, a, b = window.span(offset, len(units.magic))
        if buffer[a:b] == units.magic:
            with suppress(Corrupt):  # else it is shown as it is
                buffer, a, b = units.open(offset).span(0, SOME_BYTES)
                return buffer[a:b], units.name
    buffer, a, b = window.span(offset, SOME_BYTES)
    return buffer[a:b], ""


def _started_in(folder: str, output: str) -> str:
    """The folder that a run was started in whose result was to go to `output` and is in `folder`
    now; "" if that is not known."""
    if not output or not is_local(folder) or not is_local(output) or os.path.isabs(output):
        return ""
    whole, end = os.path.abspath(folder), os.sep + os.path.normpath(output)
    return whole.removesuffix(end) if whole.endswith(end) else ""


def _found(path: str, started: str) -> str:
    """An input of a run. Runs once stored paths as they were given: those that are not there from
    here are tried from the folder that the run was `started` in."""
    if not started or not is_local(path) or os.path.isabs(path) or os.path.exists(path):
        return path
    return os.path.join(started, path)


def _same_at_the_end(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts two paths have in common, from their ends."""
    ends = takewhile(lambda pair: pair[0] == pair[1], zip(
        reversed(one), reversed(other), strict=False))
    return sum(1 for _ in ends)
