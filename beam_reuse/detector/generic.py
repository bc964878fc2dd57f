"""Passages that any site may have, which are no evidence of anything: those of generators of
documentation, of licences, of templates. No Beam."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.chunking import SHA1

GENERIC = Path(__file__).with_name("generic_passages.txt")


@lru_cache(maxsize=1)
def generic_passages() -> NDArray:
    """The hashes ('V20', sorted, distinct) of the list beside this module, which
    benchmarks/generic_passages.py makes."""
    lines = GENERIC.read_text().splitlines()
    return np.frombuffer(bytes.fromhex("".join(
        line for line in lines if not line.startswith("#"))), SHA1)
