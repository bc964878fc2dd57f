"""What a corpus is cleaned of, and how it is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beam_reuse.core.settings import require

DROPS = ("near-duplicates", "exact-copies", "flagged", "quilts", "contaminated")
STRIPS = ("boilerplate", "frequent-lines", "matched")
AS_TEXT, AS_UTF8 = "as-text", "as-utf-8"
"""Why a page has less bytes, or more, where it is written as its text: without markup, or in
another encoding."""
TARGETS = ("same", "jsonl", "parquet", "warc")
NONE = ("none",)
# The option of near-duplicates that cleaning looks at, too.
PROVEN = "min-containment"
# The analysis that finds what is dropped or stripped, and its tables that decide.
_DECIDES = {
    "near-duplicates": ("near-duplicates", "keep"), "exact-copies": ("overlap", "exact_copies"),
    "flagged": ("detection", "page_reuse"), "quilts": ("quilts", "quilts", "quilt_sources"),
    "contaminated": ("decontaminate", "contaminated_pages"),
    "boilerplate": ("boilerplate", "boilerplate"), "matched": ("detection", "matched_chunks"),
}


@dataclass(frozen=True)
class CleanSettings:
    """Which pages are dropped, or with `flag` only marked: those that `drop` names, and those whose
    URLs are in `tables`; of quilts those of whose grams the share `min_covered` is on their
    sources. What `strip` names is taken out of the others: lines of their host's template, lines on
    more than `strip_pages` pages, matched chunks; one of which less than `min_left` tokens then is
    left is dropped, too. What stays is written in the format `to` (the same that its file has), in
    files of about `shard_bytes` each. `result` is the folder of an earlier result whose tables
    decide, or ''."""

    drop: tuple[str, ...] = ("near-duplicates",)
    tables: tuple[str, ...] = ()
    to: str = "same"
    shard_bytes: int = 256 << 20
    result: str = ""
    strip: tuple[str, ...] = ()
    strip_pages: int = 10
    min_left: int = 1
    min_covered: float = 0.8
    flag: bool = False

    def __post_init__(self) -> None:
        require(self.drop == NONE or (bool(self.drop) and set(self.drop) <= set(DROPS)), "drop",
                self.drop, f"a list of {', '.join(DROPS)}; or none")
        require(self.to in TARGETS, "to", self.to, " or ".join(TARGETS))
        require(1 <= self.shard_bytes <= 1 << 40, "shard_bytes", self.shard_bytes,
                "from 1 to 1024G")

        require(set(self.strip) <= set(STRIPS), "strip", self.strip,
                f"a list of {', '.join(STRIPS)}")
        require(1 <= self.strip_pages < 1 << 40, "strip_pages", self.strip_pages, "1 or more")
        require(0 <= self.min_left < 1 << 40, "min_left", self.min_left, "0 or more")
        require(0 <= self.min_covered <= 1, "min_covered", self.min_covered, "from 0 to 1")

    def drops(self, what: str) -> bool:
        return what in self.drop

    @property
    def tables_that_decide(self) -> tuple[str, ...]:
        return tables_for({"drop": self.drop, "strip": self.strip})

    @property
    def marks(self) -> tuple[str, ...]:
        """What records may show of changes, of `io.corpus.records.MARKS`."""
        return (*(("stripped",) if self.strip else ()), *(("flag",) if self.flag else ()))

    @property
    def strips_lines(self) -> bool:
        return bool({*self.strip} & {"boilerplate", "frequent-lines"})


def analyses_for(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The analyses that find what goes by the values of options; none, where an earlier result
    has found it."""
    return () if values.get("result") else tuple(analysis for analysis, *_ in _deciding(values))


def tables_for(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The tables that decide what goes."""
    return tuple(table for _, *tables in _deciding(values) for table in tables)


def _deciding(values: Mapping[str, Any]) -> list[tuple[str, ...]]:
    asked = (*values.get("drop", CleanSettings.drop), *values.get("strip", ()))
    return list(dict.fromkeys(_DECIDES[each] for each in asked if each in _DECIDES))
