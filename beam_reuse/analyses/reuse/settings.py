"""When content counts as copied, and what is looked for and flagged."""

from dataclasses import dataclass

from beam_reuse.core.discovery import MIN_AUTO_THRESHOLD
from beam_reuse.core.settings import MOST_COUNTED, require
from beam_reuse.declaring.settings import Settings

MATCHERS = ("exact", "nilsimsa")
SCORES = ("pooled", "mean")
DISCOVERY, DETECTION = "discovery", "detection"
# Pages, or directories, that make a background for labels: fewer have no usual share.
BACKGROUND = 1000
# What `labels` leaves out, and counts.
ON_SEVERAL_DOMAINS, IN_BACKGROUND = "chunks-on-several-domains", "chunks-in-background"


@dataclass(frozen=True)
class DiscoverySettings:
    """When a file or chunk counts as copied: occurrences > threshold (None = auto), on at
    least `min_hosts` hosts; with `top`, the `top` most frequent ones of each kind instead of
    those above a threshold.

    >>> DiscoverySettings(chunk_threshold=100, min_hosts=3).file_threshold is None
    True
    >>> DiscoverySettings(min_hosts=0)
    Traceback (most recent call last):
    beam_reuse.core.settings.SettingError: min_hosts: 0 is not allowed; it must be from 1 to ...
    """

    file_threshold: int | None = None
    chunk_threshold: int | None = None
    top: int | None = None
    min_hosts: int = 1

    @property
    def least_frequent(self) -> int:
        """How often, or more, whatever is frequent occurs: small enough to be counted in little
        memory."""
        if self.top:
            return 2
        return 1 + min(MIN_AUTO_THRESHOLD if each is None else each for each in (
            self.file_threshold, self.chunk_threshold, MIN_AUTO_THRESHOLD))

    def __post_init__(self) -> None:
        for name, value in (("file_threshold", self.file_threshold),
                            ("chunk_threshold", self.chunk_threshold)):
            require(value is None or 0 <= value <= MOST_COUNTED, name, value,
                    "auto, or from 0 to 2**63 - 1")
            require(self.top is None or value is None, "top", self.top,
                    f"given without {{{name}}}")
        for name, value in (("top", self.top), ("min_hosts", self.min_hosts)):
            require(value is None or 1 <= value <= MOST_COUNTED, name, value,
                    "from 1 to 2**63 - 1")


@dataclass(frozen=True)
class DetectionSettings:
    """What is looked for, and what is flagged. Without `labels` it is what discovery finds.
    Thresholds None (auto) are mean + one standard deviation, with `labels` 0 where the crawl is no
    background (see `thresholds`); a value above one is flagged, if the page has `min_chunks` chunks
    or more, and `min_matching` distinct ones of them match. What is a page's own (its domain is
    that of a source that lists name) does not count, unless `count_own`.

    >>> DetectionSettings(labels=("bank.parquet",), page_threshold=0).min_chunks
    1
    """

    labels: tuple[str, ...] = ()
    count_own: bool = False
    min_chunks: int = 1
    min_matching: int = 1
    page_threshold: float | None = None
    neighbourhood_threshold: float | None = None
    neighbourhood_score: str = "pooled"
    matcher: str = "exact"
    nilsimsa_thresholds: tuple[int, ...] = (115,)

    @property
    def knows_owners(self) -> bool:
        """Whether what a page has of its own domain is told apart: what discovery found has been
        seen first somewhere, which makes nobody its owner."""
        return bool(self.labels) and not self.count_own

    @property
    def background(self) -> int:
        """How many values an automatic threshold needs: what discovery found is in this crawl, so
        its own average is all there is."""
        return BACKGROUND if self.labels else 0

    def __post_init__(self) -> None:
        for name, least in (("min_chunks", self.min_chunks), ("min_matching", self.min_matching)):
            require(1 <= least <= MOST_COUNTED, name, least, "from 1 to 2**63 - 1")
        for name, value in (("page_threshold", self.page_threshold),
                            ("neighbourhood_threshold", self.neighbourhood_threshold)):
            require(value is None or 0 <= value <= 1, name, value, "auto, or from 0 to 1")
        require(self.neighbourhood_score in SCORES, "neighbourhood_score",
                self.neighbourhood_score, " or ".join(SCORES))
        require(self.matcher in MATCHERS, "matcher", self.matcher, " or ".join(MATCHERS))
        require(self.matcher == "nilsimsa" or self.nilsimsa_thresholds == (115,),
                "nilsimsa_thresholds", self.nilsimsa_thresholds[0],
                "given together with {matcher} nilsimsa")
        require(bool(self.nilsimsa_thresholds)
                and all(-128 <= t <= 128 for t in self.nilsimsa_thresholds),
                "nilsimsa_thresholds", self.nilsimsa_thresholds, "from -128 to 128")


def detects(settings: Settings) -> bool:
    """Whether detection is asked for."""
    return DETECTION in settings.analyses


def discovers(settings: Settings) -> bool:
    """Whether discovery runs: asked for, or needed by detection without labels."""
    return DISCOVERY in settings.analyses or (
        detects(settings) and not settings.detection.labels)


def require_use_of_labels(settings: Settings) -> None:
    """Refuse labels that nobody looks for."""
    labels = settings.detection.labels
    require(detects(settings) or not labels, "detection.labels", ", ".join(labels),
            "given with detection among the {analyses}")
