"""`beam-reuse view`: a result in the browser."""

import sys
import threading
import webbrowser
from collections.abc import Mapping, Sequence
from typing import Any

from beam_reuse.cli.arguments import UsageError, one_folder
from beam_reuse.io.files import local_path
from beam_reuse.viewer.aligned import warm_up
from beam_reuse.viewer.serving import Viewer
from beam_reuse.viewer.view import open_view

SECONDS_TO_WARM_UP = 3.0


def run_view(folders: Sequence[str], values: Mapping[str, Any]) -> int:
    """Serve a result until somebody ends it."""
    folder, port = one_folder("view", folders), values.get("port", 0)
    if not 0 <= port <= 65535:
        raise UsageError(f"view: --port {port} is not from 0 to 65535.")
    inputs = [local_path(path) for path in values.get("crawl", ())]
    with open_view(folder, inputs) as view:
        try:
            server = Viewer(view, port, debug="debug" in values)
        except OSError as error:
            raise UsageError(f"view: --port {port} cannot be used ({error.strerror}); give "
                             "another, or none.") from error
        with server:
            address = server.guard.address
            print(f"{address}\nCtrl-C ends it.", flush=True)
            later = threading.Timer(SECONDS_TO_WARM_UP, warm_up)  # the first screen comes first
            later.daemon = True
            later.start()
            if "no-browser" not in values:
                webbrowser.open(address)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                print("\nended", file=sys.stderr)
    return 0
