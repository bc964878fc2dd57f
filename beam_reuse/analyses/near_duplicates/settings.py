"""When two pages are near-duplicates, and which are dropped."""

from dataclasses import dataclass

from beam_reuse.core.settings import SettingError, parts_of, require

MOST_COMPARED = 1_000_000
ALGORITHMS = ("b", "c", "combined", "hybrid")
KEEP_RULES = ("plainest-url", "smallest-url", "earliest", "longest")


@dataclass(frozen=True)
class NearDuplicateSettings:
    """When two pages are near-duplicates. B: of `min_values` smallest hashes of shingles of
    `shingle_size` tokens, cut into `supershingles` fingerprints, `b_threshold` or more agree.
    C: of `projection_bits` signs of random projections `c_threshold` or more agree. Combined: B,
    and `combined_threshold` or more signs. Hybrid: combined on one site, C across sites. Groups of
    more than `max_group` candidates are compared in part. `keep_by` and `keep_rule` say which
    near-duplicates are dropped, and which page of several is kept; with `min_containment` none is
    of which less than that share occurs on the page it would be dropped for.

    >>> NearDuplicateSettings(c_threshold=375, keep_rule="longest").keep_by
    'hybrid'
    """

    shingle_size: int = 8
    min_values: int = 84
    supershingles: int = 6
    b_threshold: int = 2
    projection_bits: int = 384
    c_threshold: int = 372
    combined_threshold: int = 355
    max_group: int = 1000
    keep_by: str = "hybrid"
    keep_rule: str = "plainest-url"
    min_containment: float | None = None

    def __post_init__(self) -> None:
        require(1 <= self.shingle_size <= 1000, "shingle_size", self.shingle_size,
                "from 1 to 1000")
        require(1 <= self.supershingles <= 255, "supershingles", self.supershingles,
                "from 1 to 255")
        require(1 <= self.min_values <= 4096 and self.min_values % self.supershingles == 0,
                "min_values", self.min_values,
                f"a multiple of {{supershingles}} ({self.supershingles}), at most 4096")
        require(1 <= self.b_threshold <= self.supershingles, "b_threshold", self.b_threshold,
                f"from 1 to {{supershingles}} ({self.supershingles})")
        require(1 <= self.projection_bits <= 4096, "projection_bits", self.projection_bits,
                "from 1 to 4096")
        self._require_thresholds_of_their_own()
        for name, value in (("c_threshold", self.c_threshold),
                            ("combined_threshold", self.combined_threshold)):
            require(1 <= value <= self.projection_bits, name, value,
                    f"from 1 to {{projection_bits}} ({self.projection_bits})")
        require(2 <= self.max_group <= MOST_COMPARED, "max_group", self.max_group,
                f"from 2 to {MOST_COMPARED:,}")
        require(self.keep_by in ALGORITHMS, "keep_by", self.keep_by, " or ".join(ALGORITHMS))
        require(self.keep_rule in KEEP_RULES, "keep_rule", self.keep_rule,
                " or ".join(KEEP_RULES))
        require(self.min_containment is None or 0 <= self.min_containment <= 1, "min_containment",
                self.min_containment, "from 0 to 1")

    def _require_thresholds_of_their_own(self) -> None:
        """Refuse fewer bits than the default thresholds, where these were not changed too."""
        usual, bits = NearDuplicateSettings, self.projection_bits
        needed = [
            f"{{{name}}} {round(default * bits / usual.projection_bits)}"
            for name, value, default in (
                ("c_threshold", self.c_threshold, usual.c_threshold),
                ("combined_threshold", self.combined_threshold, usual.combined_threshold))
            if value == default > bits]
        if needed:
            raise SettingError(*parts_of(
                f"{{projection_bits}}: {bits} is less than the default thresholds ask for; add "
                f"{' '.join(needed)}, which is as strict"))
