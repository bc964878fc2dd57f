"""The algorithms that find near-duplicates, and the settings by which a run decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from beam_reuse.analyses.near_duplicates.settings import ALGORITHMS, NearDuplicateSettings
from beam_reuse.io.results.manifest import Manifest

NEAR_DUPLICATES = "near_duplicates"
B, C, COMBINED, HYBRID = ALGORITHMS
C_BINS = 4
B_BINS = 8

Interval = tuple[int, int]


@dataclass(frozen=True)
class SimilaritySettings:
    """Thresholds of a run, and the largest B- and C-similarity two pages can have."""

    b_threshold: int = NearDuplicateSettings.b_threshold
    c_threshold: int = NearDuplicateSettings.c_threshold
    combined_threshold: int = NearDuplicateSettings.combined_threshold
    supershingles: int = NearDuplicateSettings.supershingles
    projection_bits: int = NearDuplicateSettings.projection_bits

    @staticmethod
    def of(manifest: Manifest) -> "SimilaritySettings":
        """Those the manifest records; the defaults where it records none."""
        names = SimilaritySettings.__dataclass_fields__
        options = {name: name.replace("_", "-") for name in names}
        return SimilaritySettings(**{
            name: int(manifest.settings[option]) for name, option in options.items()
            if option in manifest.settings})

    def returned(self, b_similarity: int | None, c_similarity: int | None,
                 same_site: bool) -> frozenset[str]:
        """The algorithms that return a pair with these similarities; what is not known counts
        as too low."""
        b = b_similarity is not None and b_similarity >= self.b_threshold
        c = c_similarity is not None and c_similarity >= self.c_threshold
        combined = b and c_similarity is not None and c_similarity >= self.combined_threshold
        flags = (b, c, combined, combined if same_site else c)
        return frozenset(name for name, flag in zip(ALGORITHMS, flags, strict=True) if flag)

    def b_intervals(self) -> list[Interval]:
        """The B-similarities that B returns, each for itself, or in B_BINS intervals if there are
        more."""
        return intervals(self.b_threshold, self.supershingles, B_BINS)

    def c_intervals(self, algorithm: str, count: int = C_BINS) -> list[Interval]:
        """The C-similarities that an algorithm returns, in intervals."""
        lowest = {C: self.c_threshold, COMBINED: self.combined_threshold,
                  HYBRID: min(self.c_threshold, self.combined_threshold)}[algorithm]
        return intervals(lowest, self.projection_bits, count)

    def cuts(self) -> dict[str, list[int]]:
        """Where columns of near_duplicates are cut for a stratified sample: B-similarities below
        the threshold each for itself if they are few, above it at the intervals of B,
        C-similarities at the thresholds and the intervals of C."""
        lows = {low for low, _ in self.c_intervals(C)}
        below = range(self.b_threshold) if self.b_threshold <= B_BINS else (0,)
        return {"b_similarity": [*below, *(low for low, _ in self.b_intervals())],
                "c_similarity": sorted({0, self.combined_threshold, *lows})}


def intervals(low: int, high: int, count: int) -> list[Interval]:
    """`low` to `high` in `count` intervals as equal as can be, the longer ones first."""
    width, longer = divmod(high - low + 1, count)
    lows = [low + i * width + min(i, longer) for i in range(count + 1)]
    return [(a, b - 1) for a, b in pairwise(lows) if a < b]


def interval_label(interval: Sequence[int]) -> str:
    low, high = interval
    return str(low) if low == high else f"{low}-{high}"
