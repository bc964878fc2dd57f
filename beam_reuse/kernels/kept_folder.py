"""Where machine code of kernels is stored. Imports nothing that takes time."""

import os
from pathlib import Path


def kept_folder() -> Path:
    """Where code is kept: as NUMBA_CACHE_DIR says, else in the user's cache."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("NUMBA_CACHE_DIR") or os.path.join(
        cache_home, "beam-reuse", "kernels"))
