"""A viewer of a result that runs while it is looked at."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from beam_reuse.viewer.serving import Viewer
from beam_reuse.viewer.view import open_view


@contextmanager
def viewing(folder: str, inputs: Sequence[str] = ()) -> Iterator[Viewer]:
    with open_view(folder, inputs) as view, Viewer(view, debug=True) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
