"""When a line belongs to its host's template."""

from dataclasses import dataclass

from beam_reuse.core.settings import require

# Counters of lines stop at the least number of pages, in a byte each.
MOST_PAGES = 255
LEAST_SHARE = 0.001


@dataclass(frozen=True)
class BoilerplateSettings:
    """A line is a template line of a host if it is on `min_pages` of its pages or more, and on the
    share `min_share` or more of those of its pages that have lines. With `ignore` near-duplicates,
    overlap and quilts see pages without their template lines.

    >>> BoilerplateSettings(min_pages=3).min_share
    0.1
    """

    min_pages: int = 5
    min_share: float = 0.1
    ignore: bool = False

    def __post_init__(self) -> None:
        require(2 <= self.min_pages <= MOST_PAGES, "min_pages", self.min_pages,
                f"from 2 to {MOST_PAGES}")
        require(LEAST_SHARE <= self.min_share <= 1, "min_share", self.min_share,
                f"from {LEAST_SHARE} to 1")
