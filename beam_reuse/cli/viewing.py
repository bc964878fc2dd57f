"""`beam-reuse view`: a result in the browser."""

import ctypes
import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa

from beam_reuse.cli.arguments import UsageError, one_folder
from beam_reuse.io.files import is_inside, is_local, local_path
from beam_reuse.judging.judged_sheet import JudgedSheet
from beam_reuse.viewer.serving import Viewer
from beam_reuse.viewer.sheets import Sheets, usual_folder, usual_name
from beam_reuse.viewer.view import open_view

SECONDS_TO_WARM_UP = 3.0
M_ARENA_MAX = -8


def run_view(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Serve a result until somebody ends it."""
    folder, port = one_folder("view", folders), values.get("port", 0)
    if not 0 <= port <= 65535:
        raise UsageError(f"view: --port {port} is not from 0 to 65535.")
    inputs = [local_path(path) for path in values.get("crawl", ())]
    sheets = _sheets(folder, values)
    _share_memory()
    with open_view(folder, inputs, sheets) as view:
        try:
            server = Viewer(view, port, debug="debug" in values)
        except OSError as error:
            raise UsageError(f"view: --port {port} cannot be used ({error.strerror}); give "
                             "another, or none.") from error
        with server:
            address = server.guard.address + sheets.first_screen
            print(f"{address}\nJudgements go to {', '.join(values.get('judge', [sheets.folder]))}."
                  "\nCtrl-C ends it.", flush=True)
            later = threading.Timer(SECONDS_TO_WARM_UP, _warm_up)  # the first screen comes first
            later.daemon = True
            later.start()
            if "no-browser" not in values:
                webbrowser.open(address)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                print("\nended", file=sys.stderr)
    return 0


def _share_memory() -> None:
    """What one thread has freed serves the others, and goes back to the system: each request has a
    thread, and Arrow and the C library would keep some for each."""
    pa.set_memory_pool(pa.system_memory_pool())
    with suppress(OSError, AttributeError):  # a C library that has no such setting
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def _warm_up() -> None:
    from beam_reuse.viewer.aligned import warm_up

    warm_up()


def _sheets(folder: str, values: Mapping[str, Any]) -> Sheets:
    """The sheets to judge, which must be there, and the folder for others, not in the result."""
    place = local_path(values.get("judgements", "")) or usual_folder(folder)
    given = [local_path(path) for path in values.get("judge", ())]
    if not is_local(place):
        raise UsageError(f"view: --judgements {place}: give a folder of this machine.")
    for path in (place, *given):
        if is_inside(path, folder):
            raise UsageError(f"view: {path} is in {folder}, the result itself, which goes when a "
                             "run replaces it. Give a place outside of it.")
    for path in given:
        JudgedSheet(path).read()
    return Sheets(place, given, values.get("who") or usual_name())
