"""What near-duplicates say in the summary of a run."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from beam_reuse.analyses.near_duplicates.schemas import (
    FAMILIES,
    IDENTITY_SETS,
    KEEP,
    NEAR_DUPLICATES,
    SIMILAR,
)
from beam_reuse.core.wording import counted
from beam_reuse.io.results.result import Result

SHOWN = 5
_ALIKE = {"file": "the same file", "words": "the same words", "similar": "similar"}


def findings(there: Result) -> Iterator[str]:
    """Pairs, what is dropped, and families."""
    yield from near_duplicates(there)
    if there.has(FAMILIES):
        yield from families(there)
    yield ""


def near_duplicates(there: Result) -> Iterator[str]:
    """How many pairs there are, by each algorithm, and what is dropped."""
    pairs = there.rows(NEAR_DUPLICATES)
    by = ", ".join(f"{there.count(NEAR_DUPLICATES, name):,} by {name}"
                   for name in ("b", "c", "combined", "hybrid"))
    pages = there.rows(KEEP)
    dropped = pages - there.count(KEEP, "keep")
    yield f"near-duplicates: {counted(pairs, 'pair')}" + (f" ({by})" if pairs else "")
    sets = sum(
        pc.sum(pc.equal(batch["url"], batch["representative"])).as_py() or 0
        for batch in there.batches(IDENTITY_SETS, IDENTITY_SETS.names))
    superfluous = there.rows(IDENTITY_SETS) - sets
    yield (f"{counted(sets, 'set')} of pages with the same words, "
           f"{counted(superfluous, 'page')} superfluous; "
           f"{dropped:,} of {counted(pages, 'page')} dropped by "
           f"{there.settings.get('keep-by', 'hybrid')} (keep)")
    similar = sum(pc.sum(pc.is_in(batch["reason"], pa.array(SIMILAR))).as_py() or 0
                  for batch in there.batches(KEEP, ["reason"]))
    if similar and there.settings.get("min-containment") is None:
        yield (f"  {similar:,} of them because signatures agree; --min-containment 0.8 drops only "
               "pages whose text is on the page that stays")


@dataclass
class _Family:
    """What the summary says of a family; `others` have the same domains, and on the `certain` ones
    are pages with the same words, or the same file, as others of it."""

    name: str
    pages: int = 0
    least: float = 1.0
    similarity: float = 0.0
    domains: set[str] = field(default_factory=set)
    certain: set[str] = field(default_factory=set)
    alike: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_ALIKE, 0))
    others: int = 0

    def add(self, domain: str, alike: str, similarity: float) -> None:
        self.pages += 1
        self.alike[alike] += 1
        self.domains.add(domain)
        if alike != "similar":
            self.certain.add(domain)
        self.similarity += similarity
        self.least = min(self.least, similarity)

    @property
    def rank(self) -> tuple[int, int, int, str]:
        return -len(self.certain), -len(self.domains), -self.pages, self.name

    def lines(self) -> Iterator[str]:
        others = f"; {counted(self.others, 'other')} on the same" if self.others else ""
        alike = ", ".join(
            f"{count:,} {_ALIKE[name]}" for name, count in self.alike.items() if count)
        yield (f"  {counted(len(self.domains), 'domain')}{others}: "
               f"{counted(self.pages, 'page')} such as {self.name}")
        yield (f"    {alike}; similarity to it {self.least:.3f} or more, "
               f"{self.similarity / self.pages:.3f} on average")


def families(there: Result) -> Iterator[str]:
    """How many there are, and those that are on most domains for certain: signatures may agree by
    chance. Of those on the same domains the largest.
    Memory: a line for each set of domains."""
    count, best = 0, dict[tuple[str, ...], _Family]()
    for family in _each_family(there):
        count += 1
        domains = tuple(sorted(family.domains))
        known = best.get(domains)
        if known is None:
            best[domains] = family
            continue
        kept = min(known, family, key=lambda each: each.rank)
        kept.others = known.others + 1
        best[domains] = kept
    if not count:
        return
    yield f"families: {counted(count, 'set')} of pages on different domains, made of the same thing"
    for family in sorted(best.values(), key=lambda each: each.rank)[:SHOWN]:
        yield from family.lines()


def _each_family(there: Result) -> Iterator[_Family]:
    """Families one by one: their rows are next to each other, in one file."""
    family: _Family | None = None
    for batch in there.batches(FAMILIES, FAMILIES.names):
        columns = (batch[name].to_pylist() for name in FAMILIES.names)
        for name, _, domain, alike, similarity in zip(*columns, strict=True):
            if family is None or family.name != name:
                yield from filter(None, [family])
                family = _Family(name)
            family.add(domain, alike, similarity)
    yield from filter(None, [family])
