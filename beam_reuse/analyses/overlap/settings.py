"""When pages and hosts overlap."""

import re
from dataclasses import dataclass

from beam_reuse.core.settings import require

OVERLAP_METHODS = ("iceberg", "direct")
# Counters of pairs stop at a threshold; the pairs of one fingerprint are its pages, squared.
MOST_SHARED = 60_000
MOST_POSTED = 20_000
_CHUNKING = re.compile(r"whole|paragraph|sentence|[1-9][0-9]{0,5}-(lines|words)")


@dataclass(frozen=True)
class OverlapSettings:
    """When pages and hosts overlap. Pages are cut by each of `chunkings`; two of them overlap if
    they share `thresholds` fingerprints or more, two hosts `server_thresholds`: entries such as
    `20` or `4-lines=15`, None for the papers' (see `definition`). Fingerprints on more than
    `max_df` pages (hosts) are crowds. Hosts are mirrors if each contains the share `mirror` of
    the other. A page is redundant only for one that has the share `skip` of its own lines, and half
    of all its lines (or `skip`, if that is less). `method` says how pairs are counted; both give
    the same tables.

    >>> OverlapSettings(("whole", "sentence"), thresholds=("sentence=20",)).max_df
    200
    """

    chunkings: tuple[str, ...] = ("whole", "4-lines", "2-lines")
    thresholds: tuple[str, ...] | None = None
    server_thresholds: tuple[str, ...] | None = None
    max_df: int = 200
    mirror: float = 0.9
    skip: float = 0.9
    method: str = "iceberg"

    def __post_init__(self) -> None:
        known = [_CHUNKING.fullmatch(name) for name in self.chunkings]
        require(bool(known) and all(known) and len(set(self.chunkings)) == len(known) <= 100,
                "chunkings", self.chunkings,
                "a list of whole, N-lines, N-words, paragraph, sentence, each once (N from 1)")
        for field, entries in (("thresholds", self.thresholds),
                               ("server_thresholds", self.server_thresholds)):
            names = [entry.rpartition("=")[0] for entry in entries or ()]
            require(len(set(names)) == len(names), field, entries,
                    "one for each chunking, and one N for all others")
            for entry in entries or ():
                name, _, number = entry.rpartition("=")
                require(number.isdecimal() and 1 <= int(number) <= MOST_SHARED, field, entry,
                        f"auto, N or CHUNKING=N, N from 1 to {MOST_SHARED:,}")
                require(not name or name in self.chunkings, field, entry,
                        f"for one of {{chunkings}} ({','.join(self.chunkings)})")
                require((field, name) != ("thresholds", "whole"), field, entry,
                        "for another chunking, as whole pages are equal or not; hosts have "
                        "{server_thresholds}")
        require(2 <= self.max_df <= MOST_POSTED, "max_df", self.max_df,
                f"from 2 to {MOST_POSTED:,}")
        require(0 < self.mirror <= 1, "mirror", self.mirror,
                "above 0, and 1 at most")
        require(0 <= self.skip <= 1, "skip", self.skip, "from 0 to 1")
        require(self.method in OVERLAP_METHODS, "method", self.method,
                " or ".join(OVERLAP_METHODS))
