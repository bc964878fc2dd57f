"""When a page is quilted."""

from dataclasses import dataclass
from itertools import product
from typing import Any

from beam_reuse.core.settings import MOST_COUNTED, require

VARIANTS = ("any", "foreign", "ip")
SWEEPS = ("pivot", "grid")
SWEPT = ("gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction")


@dataclass(frozen=True)
class QuiltSettings:
    """When a page is quilted: at least the share `min_patch_fraction` of its grams of `gram_size`
    tokens are on 2 to `max_pages_per_gram` pages, and a greedy cover of these takes
    `min_sources` pages or more. The four may be several numbers each, a sweep: one varies at a
    time (`pivot`; the first of each is the pivot) or all do (`grid`); sources are listed for the
    pivot, or for all with `sweep_sources`. `variant` says which pages may be sources, `ip_tables`
    are lists of hosts' addresses; a source that covers less than the share `min_source_share` of
    the patch grams ends the cover. Pages with the share `quilt_copy` of a page's grams are its
    copies: neither sources, nor what makes a gram of it one of a patch; more than 1: none are.

    >>> QuiltSettings(min_sources=6) == QuiltSettings(min_sources=(6,))
    True
    >>> QuiltSettings(min_sources=(4, 6, 8), sweep="grid").min_sources
    (4, 6, 8)
    """

    gram_size: int | tuple[int, ...] = 5
    max_pages_per_gram: int | tuple[int, ...] = 50
    min_sources: int | tuple[int, ...] = 4
    min_patch_fraction: float | tuple[float, ...] = 0.5
    sweep: str = "pivot"
    sweep_sources: bool = False
    variant: str = "foreign"
    ip_tables: tuple[str, ...] = ()
    min_source_share: float = 0.02
    quilt_copy: float = 0.9

    def __post_init__(self) -> None:
        for name, low, high in (("gram_size", 1, 1000), ("max_pages_per_gram", 2, 10_000),
                                ("min_sources", 1, MOST_COUNTED), ("min_patch_fraction", 0, 1)):
            value = getattr(self, name)
            values = value if isinstance(value, tuple) else (value,)
            object.__setattr__(self, name, values)
            require(bool(values) and len(set(values)) == len(values)
                    and all(low <= each <= high for each in values),
                    name, values,
                    "a list of different numbers, each "
                    + (f"{low} or more" if high == MOST_COUNTED else f"from {low:,} to {high:,}"))
        require(self.sweep in SWEEPS, "sweep", self.sweep, " or ".join(SWEEPS))
        require(self.variant in VARIANTS, "variant", self.variant, " or ".join(VARIANTS))
        require(not self.ip_tables or self.variant == "ip", "ip_tables",
                self.ip_tables, "given together with {variant} ip")
        require(0 <= self.min_source_share <= 1, "min_source_share", self.min_source_share,
                "from 0 to 1")
        require(0.5 <= self.quilt_copy <= 1.01, "quilt_copy", self.quilt_copy,
                "from 0.5 to 1, or 1.01 for none")

    def combinations(self) -> list[tuple[Any, ...]]:
        """The gram size, pages per gram, sources and patch fraction of each combination of the
        sweep; the pivot comes first."""
        lists = [getattr(self, name) for name in SWEPT]
        pivot = tuple(values[0] for values in lists)
        found = list(product(*lists)) if self.sweep == "grid" else [
            (*pivot[:place], value, *pivot[place + 1:])
            for place, values in enumerate(lists) for value in values]
        return list(dict.fromkeys([pivot, *found]))
