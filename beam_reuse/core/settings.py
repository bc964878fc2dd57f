"""The settings that change values, as frozen values that refuse what makes no sense.

Each analysis has a class of its own; `Settings` holds them all and is what the manifest
records. Settings that change no value (runner, workers, folders) are not here.
"""

import re
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from beam_reuse.core.errors import UserError

KINDS = ("document", "code", "other")
CAPTURES = ("latest", "all")
NORMALISATIONS = ("whitespace", "none")
MATCHERS = ("exact", "nilsimsa")
SCORES = ("pooled", "mean")
WAYS = ("add", "delete", "change")
# So many copies of a site with nine billion chunks can still be counted in 64 bits.
MOST_COPIES = 10**9
MOST_COUNTED = (1 << 63) - 1
MOST_COMPARED = 1_000_000
ALGORITHMS = ("b", "c", "combined", "hybrid")
KEEP_RULES = ("smallest-url", "earliest", "longest")
OVERLAP_METHODS = ("iceberg", "direct")


# Counters of pairs stop at a threshold; the pairs of one fingerprint are its pages, squared.
MOST_SHARED = 60_000
MOST_POSTED = 20_000
_CHUNKING = re.compile(r"whole|paragraph|sentence|[1-9][0-9]{0,5}-(lines|words)")
VARIANTS = ("any", "foreign", "ip")
SWEEPS = ("pivot", "grid")
SWEPT = ("gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction")


class SettingError(UserError):
    """A setting outside its range; the message names the option, the value and the range."""


def require(condition: bool, option: str, value: object, allowed: str) -> None:
    """Refuse `value` of `option` unless `condition`; the message tells what is allowed."""
    if not condition:
        shown = ",".join(map(str, value)) if isinstance(value, tuple | list) else repr(value)
        raise SettingError(f"{option}: {shown} is not allowed; it must be {allowed}")


@dataclass(frozen=True)
class ReadSettings:
    """Which records are pages. `statuses` None means any HTTP status."""

    statuses: tuple[int, ...] | None = (200,)
    content_types: tuple[str, ...] = ("document", "code")
    max_record_bytes: int = 64 << 20
    captures: str = "latest"
    max_prefix_depth: int = 96
    max_path_repeats: int = 5

    def __post_init__(self) -> None:
        bad = [s for s in self.statuses or () if not 100 <= s <= 999]
        require(not bad, "--status", bad, "a list of numbers from 100 to 999, or all")
        require(
            bool(self.content_types) and all(t in KINDS for t in self.content_types),
            "--content-types", self.content_types, f"a list of {', '.join(KINDS)}, or all",
        )
        require(1 << 10 <= self.max_record_bytes <= 1 << 30, "--max-record-bytes",
                self.max_record_bytes, "from 1K to 1G")
        require(self.captures in CAPTURES, "--captures", self.captures, " or ".join(CAPTURES))
        require(self.max_prefix_depth >= 0, "--max-prefix-depth", self.max_prefix_depth,
                "0 (off) or more")
        require(self.max_path_repeats == 0 or self.max_path_repeats >= 2, "--max-path-repeats",
                self.max_path_repeats, "0 (off), or 2 or more")


@dataclass(frozen=True)
class ChunkSettings:
    """How pages are cut into chunks. `classic` is the rule of the published hash lists:
    only `<p`, next byte space, tab, `/` or `>`, raw bytes, every kind of page alike."""

    tags: tuple[str, ...] = ("p", "div")
    normalise: str = "whitespace"
    classic: bool = False

    def __post_init__(self) -> None:
        require(bool(self.tags) and all(t.isascii() and t.isalnum() and t == t.lower()
                                        for t in self.tags),
                "--chunk-tags", ",".join(self.tags), "a list of lower-case tag names")
        require(self.normalise in NORMALISATIONS, "--chunk-normalise", self.normalise,
                " or ".join(NORMALISATIONS))
        if self.classic and (self.tags, self.normalise) != (("p",), "none"):
            raise SettingError(
                "--classic means --chunk-tags p and --chunk-normalise none: leave both out")

    @staticmethod
    def published() -> "ChunkSettings":
        """The *classic* setting."""
        return ChunkSettings(("p",), "none", classic=True)


@dataclass(frozen=True)
class StopSettings:
    """Which chunks do not count: those shorter than `min_chunk_bytes` after normalising,
    those on the lists (files of hashes or texts), and built-in idioms without content."""

    min_chunk_bytes: int = 0
    lists: tuple[str, ...] = ()
    builtin: bool = True

    def __post_init__(self) -> None:
        require(0 <= self.min_chunk_bytes <= MOST_COUNTED, "--min-chunk-bytes",
                self.min_chunk_bytes, "from 0 to 2**63 - 1")


@dataclass(frozen=True)
class DiscoverySettings:
    """When a file or chunk counts as copied: occurrences > threshold (None = auto), on at
    least `min_hosts` hosts; with `top`, the `top` most frequent ones of each kind instead of
    those above a threshold."""

    file_threshold: int | None = None
    chunk_threshold: int | None = None
    top: int | None = None
    min_hosts: int = 1

    def __post_init__(self) -> None:
        for option, value in (("--file-threshold", self.file_threshold),
                              ("--chunk-threshold", self.chunk_threshold)):
            require(value is None or 0 <= value <= MOST_COUNTED, option, value,
                    "auto, or from 0 to 2**63 - 1")
            require(self.top is None or value is None, "--top", self.top,
                    f"given without {option}")
        for option, value in (("--top", self.top), ("--min-hosts", self.min_hosts)):
            require(value is None or 1 <= value <= MOST_COUNTED, option, value,
                    "from 1 to 2**63 - 1")


@dataclass(frozen=True)
class DetectionSettings:
    """What is looked for, and what is flagged. Without `labels` it is what discovery finds.
    Thresholds None (auto) are mean + one standard deviation; a value above one is flagged."""

    labels: tuple[str, ...] = ()
    min_chunks: int = 1
    page_threshold: float | None = None
    neighbourhood_threshold: float | None = None
    neighbourhood_score: str = "pooled"
    matcher: str = "exact"
    nilsimsa_thresholds: tuple[int, ...] = (115,)

    def __post_init__(self) -> None:
        require(1 <= self.min_chunks <= MOST_COUNTED, "--min-chunks", self.min_chunks,
                "from 1 to 2**63 - 1")
        for option, value in (("--page-threshold", self.page_threshold),
                              ("--neighbourhood-threshold", self.neighbourhood_threshold)):
            require(value is None or 0 <= value <= 1, option, value, "auto, or from 0 to 1")
        require(self.neighbourhood_score in SCORES, "--neighbourhood-score",
                self.neighbourhood_score, " or ".join(SCORES))
        require(self.matcher in MATCHERS, "--matcher", self.matcher, " or ".join(MATCHERS))
        require(self.matcher == "nilsimsa" or self.nilsimsa_thresholds == (115,),
                "--nilsimsa-threshold", self.nilsimsa_thresholds[0],
                "given together with --matcher nilsimsa")
        require(bool(self.nilsimsa_thresholds)
                and all(-128 <= t <= 128 for t in self.nilsimsa_thresholds),
                "--nilsimsa-threshold", self.nilsimsa_thresholds, "from -128 to 128")


@dataclass(frozen=True)
class NearDuplicateSettings:
    """When two pages are near-duplicates. B: of `min_values` smallest hashes of shingles of
    `shingle_size` tokens, cut into `supershingles` fingerprints, `b_threshold` or more agree.
    C: of `projection_bits` signs of random projections `c_threshold` or more agree. Combined: B,
    and `combined_threshold` or more signs. Hybrid: combined on one site, C across sites. Groups of
    more than `max_group` candidates are compared in part. `keep_by` and `keep_rule` say which
    near-duplicates are dropped, and which page of several is kept."""

    shingle_size: int = 8
    min_values: int = 84
    supershingles: int = 6
    b_threshold: int = 2
    projection_bits: int = 384
    c_threshold: int = 372
    combined_threshold: int = 355
    max_group: int = 1000
    keep_by: str = "combined"
    keep_rule: str = "smallest-url"

    def __post_init__(self) -> None:
        require(1 <= self.shingle_size <= 1000, "--shingle-size", self.shingle_size,
                "from 1 to 1000")
        require(1 <= self.supershingles <= 255, "--supershingles", self.supershingles,
                "from 1 to 255")
        require(1 <= self.min_values <= 4096 and self.min_values % self.supershingles == 0,
                "--min-values", self.min_values,
                f"a multiple of --supershingles ({self.supershingles}), at most 4096")
        require(1 <= self.b_threshold <= self.supershingles, "--b-threshold", self.b_threshold,
                f"from 1 to --supershingles ({self.supershingles})")
        require(1 <= self.projection_bits <= 4096, "--projection-bits", self.projection_bits,
                "from 1 to 4096")
        self._require_thresholds_of_their_own()
        for option, value in (("--c-threshold", self.c_threshold),
                              ("--combined-threshold", self.combined_threshold)):
            require(1 <= value <= self.projection_bits, option, value,
                    f"from 1 to --projection-bits ({self.projection_bits})")
        require(2 <= self.max_group <= MOST_COMPARED, "--max-group", self.max_group,
                f"from 2 to {MOST_COMPARED:,}")
        require(self.keep_by in ALGORITHMS, "--keep-by", self.keep_by, " or ".join(ALGORITHMS))
        require(self.keep_rule in KEEP_RULES, "--keep-rule", self.keep_rule,
                " or ".join(KEEP_RULES))

    def _require_thresholds_of_their_own(self) -> None:
        """Refuse fewer bits than the default thresholds, where these were not changed too."""
        usual, bits = NearDuplicateSettings, self.projection_bits
        needed = [
            f"{option} {round(default * bits / usual.projection_bits)}"
            for option, value, default in (
                ("--c-threshold", self.c_threshold, usual.c_threshold),
                ("--combined-threshold", self.combined_threshold, usual.combined_threshold))
            if value == default > bits]
        if needed:
            raise SettingError(
                f"--projection-bits: {bits} is less than the default thresholds ask for; add "
                f"{' '.join(needed)}, which is as strict")


@dataclass(frozen=True)
class OverlapSettings:
    """When pages and hosts overlap. Pages are cut by each of `chunkings`; two of them overlap if
    they share `thresholds` fingerprints or more, two hosts `server_thresholds`: entries such as
    `20` or `4-lines=15`, None for the papers' (see `core.overlap`). Fingerprints on more than
    `max_df` pages (hosts) pair nobody. Hosts are mirrors if each contains the share `mirror` of
    the other. `method` says how pairs are counted; both give the same tables."""

    chunkings: tuple[str, ...] = ("whole", "4-lines", "2-lines")
    thresholds: tuple[str, ...] | None = None
    server_thresholds: tuple[str, ...] | None = None
    max_df: int = 200
    mirror: float = 0.9
    method: str = "iceberg"

    def __post_init__(self) -> None:
        known = [_CHUNKING.fullmatch(name) for name in self.chunkings]
        require(bool(known) and all(known) and len(set(self.chunkings)) == len(known) <= 100,
                "--overlap-chunkings", self.chunkings,
                "a list of whole, N-lines, N-words, paragraph, sentence, each once (N from 1)")
        for option, entries in (("--overlap-threshold", self.thresholds),
                                ("--server-overlap-threshold", self.server_thresholds)):
            names = [entry.rpartition("=")[0] for entry in entries or ()]
            require(len(set(names)) == len(names), option, entries,
                    "one for each chunking, and one N for all others")
            for entry in entries or ():
                name, _, number = entry.rpartition("=")
                require(number.isdecimal() and 1 <= int(number) <= MOST_SHARED, option, entry,
                        f"auto, N or CHUNKING=N, N from 1 to {MOST_SHARED:,}")
                require(not name or name in self.chunkings, option, entry,
                        f"for one of --overlap-chunkings ({','.join(self.chunkings)})")
                require((option, name) != ("--overlap-threshold", "whole"), option, entry,
                        "for another chunking, as whole pages are equal or not; hosts have "
                        "--server-overlap-threshold")
        require(2 <= self.max_df <= MOST_POSTED, "--max-df", self.max_df,
                f"from 2 to {MOST_POSTED:,}")
        require(0 < self.mirror <= 1, "--mirror-containment", self.mirror,
                "above 0, and 1 at most")
        require(self.method in OVERLAP_METHODS, "--overlap-method", self.method,
                " or ".join(OVERLAP_METHODS))


@dataclass(frozen=True)
class QuiltSettings:
    """When a page is quilted: at least the share `min_patch_fraction` of its grams of `gram_size`
    tokens stand on 2 to `max_pages_per_gram` pages, and a greedy cover of these takes
    `min_sources` pages or more. The four may be several numbers each, a sweep: one varies at a
    time (`pivot`; the first of each is the pivot) or all do (`grid`); sources are told of the
    pivot, or of all with `sweep_sources`. `variant` says which pages may be sources, `ip_tables`
    are lists of hosts' addresses; a source that covers less than the share `min_source_share` of
    the patch grams ends the cover."""

    gram_size: int | tuple[int, ...] = 5
    max_pages_per_gram: int | tuple[int, ...] = 50
    min_sources: int | tuple[int, ...] = 4
    min_patch_fraction: float | tuple[float, ...] = 0.5
    sweep: str = "pivot"
    sweep_sources: bool = False
    variant: str = "foreign"
    ip_tables: tuple[str, ...] = ()
    min_source_share: float = 0.0

    def __post_init__(self) -> None:
        for name, low, high in (("gram_size", 1, 1000), ("max_pages_per_gram", 2, 10_000),
                                ("min_sources", 1, MOST_COUNTED), ("min_patch_fraction", 0, 1)):
            value = getattr(self, name)
            values = value if isinstance(value, tuple) else (value,)
            object.__setattr__(self, name, values)
            require(bool(values) and len(set(values)) == len(values)
                    and all(low <= each <= high for each in values),
                    f"--{name.replace('_', '-')}", values,
                    "a list of different numbers, each "
                    + (f"{low} or more" if high == MOST_COUNTED else f"from {low:,} to {high:,}"))
        require(self.sweep in SWEEPS, "--sweep", self.sweep, " or ".join(SWEEPS))
        require(self.variant in VARIANTS, "--quilt-sources", self.variant, " or ".join(VARIANTS))
        require(not self.ip_tables or self.variant == "ip", "--ip-table",
                self.ip_tables, "given together with --quilt-sources ip")
        require(0 <= self.min_source_share <= 1, "--min-source-share", self.min_source_share,
                "from 0 to 1")

    def combinations(self) -> list[tuple[Any, ...]]:
        """The gram size, pages per gram, sources and patch fraction of each combination of the
        sweep; the pivot comes first."""
        lists = [getattr(self, name) for name in SWEPT]
        pivot = tuple(values[0] for values in lists)
        found = list(product(*lists)) if self.sweep == "grid" else [
            (*pivot[:place], value, *pivot[place + 1:])
            for place, values in enumerate(lists) for value in values]
        return list(dict.fromkeys([pivot, *found]))


@dataclass(frozen=True)
class ExperimentSettings:
    """What an experiment does to a site. *inject*: `copies` of it are made, `partial` ones
    with paragraphs of their own. *mutate*: in which `ways` pages change, how often (as
    `multiples` of the mean chunks per page), in how many `runs` from which `seed`; its blind
    labels are what discovery finds after `blind_copies` copies."""

    copies: tuple[int, ...] = tuple(range(100, 5001, 100))
    partial: bool = False
    ways: tuple[str, ...] = WAYS
    multiples: tuple[float, ...] = tuple(n / 4 for n in range(33))
    runs: int = 10
    seed: int = 0
    blind_copies: int = 5000

    def __post_init__(self) -> None:
        for option, values in (("--copies", self.copies), ("--multiples", self.multiples)):
            require(bool(values) and min(values) >= 0 and list(values) == sorted(set(values)),
                    option, values, "a list of ascending numbers from 0 on")
        require(max(self.copies) <= MOST_COPIES, "--copies", max(self.copies),
                f"{MOST_COPIES:,} at most")
        require(bool(self.ways) and set(self.ways) <= set(WAYS), "--ways", ",".join(self.ways),
                f"a list of {', '.join(WAYS)}")
        require(self.runs >= 2, "--runs", self.runs, "2 or more, for a standard error")
        require(0 <= self.blind_copies <= MOST_COPIES, "--blind-copies", self.blind_copies,
                f"from 0 to {MOST_COPIES:,}")


@dataclass(frozen=True)
class Settings:
    """All settings of a run that change values."""

    analyses: tuple[str, ...] = (
        "discovery", "detection", "near-duplicates", "overlap", "quilts")
    read: ReadSettings = field(default_factory=ReadSettings)
    chunks: ChunkSettings = field(default_factory=ChunkSettings)
    stops: StopSettings = field(default_factory=StopSettings)
    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    detection: DetectionSettings = field(default_factory=DetectionSettings)
    near_duplicates: NearDuplicateSettings = field(default_factory=NearDuplicateSettings)
    overlap: OverlapSettings = field(default_factory=OverlapSettings)
    quilts: QuiltSettings = field(default_factory=QuiltSettings)
    experiment: ExperimentSettings = field(default_factory=ExperimentSettings)
    max_rejects: float = 0.5

    def __post_init__(self) -> None:
        require(0 <= self.max_rejects <= 1, "--max-rejects", self.max_rejects, "from 0 to 1")
        require(self.detects or not self.detection.labels, "--labels",
                ", ".join(self.detection.labels), "given with detection among the --analyses")

    @property
    def discovers(self) -> bool:
        """Whether discovery runs: asked for, or needed by detection without labels."""
        return "discovery" in self.analyses or (self.detects and not self.detection.labels)

    @property
    def detects(self) -> bool:
        return "detection" in self.analyses

    @property
    def finds_near_duplicates(self) -> bool:
        return "near-duplicates" in self.analyses

    @property
    def finds_overlap(self) -> bool:
        return "overlap" in self.analyses

    @property
    def finds_quilts(self) -> bool:
        return "quilts" in self.analyses
