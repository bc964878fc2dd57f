"""The definition of a cleaned corpus, slow and obvious."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.oracles.text import lexbor_tree, text_of
from tests.oracles.tokens import tokens


class Removal(NamedTuple):
    """Why a page goes, for which page, and how much of it is there."""

    reason: str
    because_of: str | None = None
    containment: float | None = None


def removals(
    drop: Collection[str], listed: Collection[str],
    tables: Mapping[str, Iterable[Mapping[str, Any]]], min_covered: float = 0.8,
) -> dict[str, Removal]:
    """What goes, by URL, of the tables of the analyses and of a list of URLs; of quilts those whose
    sources have the share `min_covered` of their grams, and all of whose sources stay."""
    gone: dict[str, Removal] = {}
    if "flagged" in drop:
        gone |= {row["url"]: Removal("flagged") for row in tables["page_reuse"] if row["flagged"]}
    if "contaminated" in drop:
        gone = {row["url"]: Removal("contaminated")
                for row in tables["contaminated_pages"]} | gone
    gone = {url: Removal("drop-table") for url in listed} | gone
    if "quilts" in drop:
        similar = {row["url"] for row in tables["keep"] if not row["keep"]} if (
            "near-duplicates" in drop) else set()
        gone = quilts(tables, {*gone} | similar, min_covered) | {
            url: why for url, why in gone.items() if why.reason != "flagged"} | {
            url: why for url, why in gone.items() if why.reason == "flagged"}
    alone = set(gone)
    if "near-duplicates" in drop:
        for row in tables["keep"]:
            if not row["keep"] and row["url"] not in gone and row["because_of"] not in alone:
                gone[row["url"]] = Removal(
                    "near-duplicate", row["because_of"], row["containment"])
    if "exact-copies" in drop:
        sets: dict[str, list[str]] = {}
        for row in tables["exact_copies"]:
            sets.setdefault(row["centre"], []).append(row["url"])
        for members in sets.values():
            stay = sorted(url for url in members if url not in gone)
            gone |= {url: Removal("exact-copy", stay[0]) for url in stay[1:]}
    return gone


def quilts(
    tables: Mapping[str, Iterable[Mapping[str, Any]]], going: Collection[str], least: float,
) -> dict[str, Removal]:
    """Quilts that go, where others are `going`."""
    def combination(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(row[name] for name in (
            "url", "gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction"))

    sources: dict[tuple[Any, ...], set[str]] = {}
    for row in tables["quilt_sources"]:
        sources.setdefault(combination(row), set()).add(row["source_url"])
    shares: dict[str, float] = {}
    of: dict[str, set[str]] = {}
    for row in tables["quilts"]:
        share = row["patch_fraction"] * row["covered"]
        if share >= least and combination(row) in sources:
            shares[row["url"]] = max(share, shares.get(row["url"], 0.0))
            of.setdefault(row["url"], set()).update(sources[combination(row)])
    return {url: Removal("quilt", None, shares[url])
            for url, names in of.items() if not names & ({*going} | {*of})}


def shards(sizes: Sequence[int], shard_bytes: int) -> dict[int, list[int]]:
    """Which records are in which shard, by the bytes of all before them."""
    found: dict[int, list[int]] = {}
    before = 0
    for record, size in enumerate(sizes):
        found.setdefault(before // shard_bytes, []).append(record)
        before += size
    return found


@dataclass(frozen=True)
class Page:
    """A page of a corpus, in UTF-8."""

    url: str
    host: str
    content: str
    is_html: bool

    @property
    def text(self) -> str:
        return text_of(lexbor_tree(self.content)) if self.is_html else self.content

    def lines(self) -> Iterator[tuple[str, bool]]:
        """Lines, white space collapsed, without empty ones; and which begin a paragraph."""
        new = True
        for block in self.text.split("\f") if self.is_html else [self.text]:
            new = True
            for line in block.split("\n") if self.is_html else block.splitlines():
                if clean := " ".join(line.split()):
                    yield clean, new
                new = not clean


@dataclass
class Left:
    """What is left of a page, and what went: reason, text, and bytes by reason."""

    page: Page
    gone: list[tuple[str, str]] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)

    def take(self, reason: str, shown: str, raw: str) -> None:
        self.gone.append((reason, shown))
        self.sizes[reason] = self.sizes.get(reason, 0) + len(raw.encode())

    @property
    def tokens(self) -> int:
        return len(tokens(self.page.text))


def frequent(pages: Iterable[Page], gone: Collection[str], most: int) -> dict[str, str]:
    """Lines on more than `most` pages that stay, with the first of these."""
    on: dict[str, list[str]] = {}
    for page in pages:
        if page.url not in gone:
            for line in {line for line, _ in page.lines()}:
                on.setdefault(line, []).append(page.url)
    return {line: min(urls) for line, urls in on.items() if len(urls) > most}


def stripped(
    page: Page, templates: Collection[tuple[str, str]], often: Mapping[str, str],
    spans: Sequence[tuple[int, int]],
) -> Left:
    """A page without matched chunks, and then without template lines of its host and lines that are
    on many pages, of which it is not the first."""
    payload, kept, at = page.content.encode(), b"", 0
    left = Left(page)
    for start, end in sorted(spans):
        chunk = payload[start:end].decode("utf-8", "replace")
        left.gone.append(("matched", chunk))
        left.sizes["matched"] = left.sizes.get("matched", 0) + end - start
        kept, at = kept + payload[at:start], end
    cut = Page(page.url, page.host, (kept + payload[at:]).decode("utf-8", "replace"), page.is_html)
    left.page = cut

    def why(line: str) -> str:
        if (page.host, line) in templates:
            return "boilerplate"
        return "frequent-lines" if often.get(line, page.url) != page.url else ""

    if not any(why(line) for line, _ in cut.lines()):
        return left
    if page.is_html:
        text = ""
        new = False
        for line, starts in cut.lines():
            new |= starts
            if why(line):
                left.take(why(line), line, line)
            else:
                text += ("\n\n" if new else "\n") * bool(text) + line
                new = False
    else:
        text = ""
        for raw in cut.content.splitlines(keepends=True):
            line = " ".join(raw.split())
            if line and why(line):
                left.take(why(line), line, raw)
            else:
                text += raw
    left.page = Page(page.url, page.host, text, False)
    without = len(cut.content.encode()) - len(text.encode()) - sum(
        size for reason, size in left.sizes.items() if reason != "matched")
    if without:
        assert page.is_html
        left.sizes["as-text"] = without
    return left
