"""Evaluation items in a corpus by their definition: sets of tuples of words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles.tokens import tokens

Words = tuple[str, ...]
Row = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """A text of an evaluation set."""

    eval: str
    id: str
    field: str
    text: str

    @property
    def words(self) -> Words:
        return tuple(tokens(self.text))

    @property
    def name(self) -> Row:
        return {"eval": self.eval, "id": self.id, "field": self.field}


def size_for(words: Words, size: int) -> int:
    """The size of an item's grams; 0 if it is too short."""
    least = min(8, size)
    return min(len(words), size) if len(words) >= least else 0


def places(words: Words, size: int) -> dict[Words, list[int]]:
    found: dict[Words, list[int]] = {}
    for at in range(len(words) - size + 1):
        found.setdefault(words[at:at + size], []).append(at)
    return found


def spans(where: Mapping[Words, list[int]], grams: set[Words]) -> list[dict[str, int]]:
    """Stretches of neighbouring tokens that are in one of the grams."""
    covered = sorted({at + i for gram in grams for at in where[gram] for i in range(len(gram))})
    # Grams that touch make one stretch, and so do neighbouring tokens.
    out: list[dict[str, int]] = []
    for at in covered:
        if out and out[-1]["end"] == at:
            out[-1]["end"] = at + 1
        else:
            out.append({"start": at, "end": at + 1})
    return out


def tables(
    pages: Mapping[str, Words], items: Sequence[Item], size: int, least: float, most: int,
) -> dict[str, list[Row]]:
    """All tables but `eval_rejects`; of `evaluations` the counts of items."""
    long_enough = [item for item in items if size_for(item.words, size)]
    having = Counter(gram for item in long_enough
                     for gram in places(item.words, size_for(item.words, size)))
    pairs: list[Row] = []
    found_items: list[Row] = []
    on_pages: dict[str, list[tuple[float, set[int]]]] = {}
    compared: Counter[str] = Counter()
    contaminated: Counter[str] = Counter()
    for item in long_enough:
        mine = size_for(item.words, size)
        here = {gram: where for gram, where in places(item.words, mine).items()
                if having[gram] <= most}
        if not here:
            continue
        compared[item.eval] += 1
        rows, anywhere = [], set()
        for url, words in pages.items():
            there = places(words, mine)
            both = set(here) & set(there)
            anywhere |= both
            if both:
                rows.append({**item.name, "url": url, "share": len(both) / len(here),
                             "grams": len(both), "spans": spans(there, both),
                             "item_spans": spans(here, both)})
        pairs += rows
        enough = [row for row in rows if row["share"] >= least]
        for row in enough:
            on_pages.setdefault(row["url"], []).append((row["share"], {
                at for span in row["spans"] for at in range(span["start"], span["end"])}))
        if enough:
            best = min(enough, key=lambda row: (-row["grams"], row["url"]))
            contaminated[item.eval] += 1
            found_items.append({
                **item.name, "share": best["share"], "found": len(anywhere) / len(here),
                "grams": len(here), "pages": len(enough), "url": best["url"],
                "text": item.text[:200]})
    return {
        "contamination": sorted(pairs, key=_order),
        "contaminated_pages": [
            {"url": url, "share": max(share for share, _ in found), "items": len(found),
             "tokens": len(set().union(*(at for _, at in found))),
             "page_share": len(set().union(*(at for _, at in found))) / len(pages[url])}
            for url, found in sorted(on_pages.items())],
        "contaminated_items": sorted(found_items, key=_order),
        "evaluations": [
            {"eval": name, "items": number, "too_short": short, "compared": compared[name],
             "prompts": number - short - compared[name], "contaminated": contaminated[name]}
            for name, number, short in _files(items, long_enough)],
    }


def _order(row: Row) -> list[Any]:
    """Rows are sorted by all columns, texts by their bytes."""
    return [value.encode() if isinstance(value, str) else
            [tuple(span.values()) for span in value] if isinstance(value, list) else value
            for value in row.values()]


def _files(items: Sequence[Item], kept: Sequence[Item]) -> list[tuple[str, int, int]]:
    every = Counter(item.eval for item in items)
    long_enough = Counter(item.eval for item in kept)
    return [(name, every[name], every[name] - long_enough[name]) for name in sorted(every)]
