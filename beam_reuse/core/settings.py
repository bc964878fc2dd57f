"""The settings that change values, as frozen values that refuse what makes no sense.

Each analysis has a class of its own; `Settings` holds them all and is what the manifest
records. Settings that change no value (runner, workers, folders) are not here.
"""

from dataclasses import dataclass, field

from beam_reuse.core.errors import UserError

KINDS = ("document", "code", "other")
CAPTURES = ("latest", "all")
NORMALISATIONS = ("whitespace", "none")


class SettingError(UserError):
    """A setting outside its range; the message names the option, the value and the range."""


def require(condition: bool, option: str, value: object, allowed: str) -> None:
    """Refuse `value` of `option` unless `condition`; the message tells what is allowed."""
    if not condition:
        raise SettingError(f"{option}: {value!r} is not allowed; it must be {allowed}")


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
class DiscoverySettings:
    """When a chunk counts as copied: occurrences > threshold (None = auto), on at least
    `min_hosts` hosts; with `top`, the `top` most frequent ones instead of a threshold."""

    chunk_threshold: int | None = None
    top: int | None = None
    min_hosts: int = 1

    def __post_init__(self) -> None:
        require(self.chunk_threshold is None or self.chunk_threshold >= 0, "--chunk-threshold",
                self.chunk_threshold, "auto, or 0 or more")
        require(self.top is None or self.top >= 1, "--top", self.top, "1 or more")
        require(self.top is None or self.chunk_threshold is None, "--top",
                self.top, "given without --chunk-threshold")
        require(self.min_hosts >= 1, "--min-hosts", self.min_hosts, "1 or more")


@dataclass(frozen=True)
class Settings:
    """All settings of a run that change values."""

    analyses: tuple[str, ...] = ("discovery",)
    read: ReadSettings = field(default_factory=ReadSettings)
    chunks: ChunkSettings = field(default_factory=ChunkSettings)
    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    max_rejects: float = 0.5

    def __post_init__(self) -> None:
        require(0 <= self.max_rejects <= 1, "--max-rejects", self.max_rejects, "from 0 to 1")
