"""Term differences of near-duplicate pairs: how many tokens a diff of both pages shows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from beam_reuse.core.errors import UserError
from beam_reuse.core.verdicts import Verdict, pair_word
from beam_reuse.io.sheets import LABEL
from beam_reuse.judging.difference_kinds import DifferenceKind, Hunk, kind_of
from beam_reuse.judging.figures import MANY_TERMS, difference_figure
from beam_reuse.judging.measures import Rate
from beam_reuse.judging.page_texts import PageText, read_texts
from beam_reuse.judging.pair_lookup import URLS, PairKey
from beam_reuse.judging.reports import Report, Row, report_of
from beam_reuse.judging.sample import SampleSettings, draw
from beam_reuse.judging.similarities import ALGORITHMS, NEAR_DUPLICATES
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.diff import edit_masks

_AROUND = 4


@dataclass(frozen=True)
class DrawnPair:
    """A pair to compare, the algorithms it counts for, and what people say of it (None: nobody
    was asked)."""

    key: PairKey
    counts_for: frozenset[str]
    verdict: Verdict | None = None


@dataclass(frozen=True)
class TermDifference:
    """What makes the second page of the first: tokens deleted and inserted."""

    pair: DrawnPair
    deleted: int
    inserted: int
    kind: DifferenceKind

    @property
    def terms(self) -> int:
        return self.deleted + self.inserted

    def row(self) -> Row:
        return {**dict(zip(URLS, self.pair.key, strict=True)),
                "counts_for": ",".join(n for n in ALGORITHMS if n in self.pair.counts_for),
                LABEL: pair_word(self.pair.verdict), "deleted": self.deleted,
                "inserted": self.inserted, "terms": self.terms, "kind": self.kind.value}


@dataclass(frozen=True)
class Differences:
    """The pairs compared, and those of which a page was not in the inputs."""

    found: tuple[TermDifference, ...]
    missing: tuple[PairKey, ...]

    def summary(self) -> list[Row]:
        """The term differences of each algorithm's pairs, and by label where they are judged."""
        return [{**names, **summary_of([one.terms for one in mine])}
                for names, mine in self._groups()]

    def kinds(self) -> list[Row]:
        """The kinds of the same pairs, the most frequent first."""
        rows: list[Row] = []
        for names, mine in self._groups():
            counts = Counter(one.kind.value for one in mine)
            rows += [{**names, "kind": kind, "pairs": pairs, "share": Rate(pairs, len(mine)).value}
                     for kind, pairs in sorted(counts.items(), key=lambda two: (-two[1], two[0]))]
        return rows

    def report(self, drawn: bool) -> Report:
        """All of it, with a figure if it is to be `drawn`."""
        tables = {"summary": self.summary(), "kinds": self.kinds(),
                  "pairs": [one.row() for one in self.found]}
        figures = dict(difference_figure({
            name: [one.terms for one in self.found if name in one.pair.counts_for]
            for name in ALGORITHMS})) if drawn else {}
        facts = {"missing": [list(key) for key in self.missing]}
        return report_of("differences", facts, tables, figures)

    def _groups(self) -> Iterator[tuple[Row, list[TermDifference]]]:
        """For each algorithm all pairs, and where they are judged, those of each verdict."""
        judged = any(one.pair.verdict for one in self.found)
        for name in ALGORITHMS:
            for verdict in (None, *(Verdict if judged else ())):
                yield {"algorithm": name, LABEL: pair_word(verdict)}, [
                    one for one in self.found if name in one.pair.counts_for
                    and verdict in (None, one.pair.verdict)]


def summary_of(terms: Sequence[int]) -> Row:
    """The figures of some term differences. `median`: of an even number the mean of the two in the
    middle; `percentile_90`: the smallest that nine in ten do not exceed."""
    ordered = sorted(terms)
    above = Rate(sum(term > MANY_TERMS for term in terms), len(terms))
    return {
        "pairs": len(terms), "mean": Rate(sum(terms), len(terms)).value,
        "median": float(median(terms)) if terms else None,
        "percentile_90": ordered[-(-9 * len(ordered) // 10) - 1] if ordered else None,
        f"above_{MANY_TERMS}": above.part, f"share_above_{MANY_TERMS}": above.value,
    }


def draw_pairs(folder: str, rows: int, seed: int = 0) -> list[DrawnPair]:
    """Of each algorithm the pairs that `sample --where 'ALGORITHM = true'` draws. A pair drawn
    for one counts for that one alone, so that each has a random sample of its own pairs."""
    drawn: dict[PairKey, set[str]] = {}
    for name in ALGORITHMS:
        settings = SampleSettings(NEAR_DUPLICATES, rows, seed, where=(f"{name} = true",))
        for row in draw(folder, settings).rows.select(URLS).to_pylist():
            drawn.setdefault((row["url_a"], row["url_b"]), set()).add(name)
    return [DrawnPair(key, frozenset(drawn[key])) for key in sorted(drawn)]


def compare(folder: str, pairs: Sequence[DrawnPair], inputs: Sequence[str]) -> Differences:
    """The term differences of `pairs`, their pages read from `inputs`. Memory: their texts."""
    texts = read_texts(folder, {url for pair in pairs for url in pair.key}, inputs)
    there = [pair for pair in pairs if all(url in texts for url in pair.key)]
    if pairs and not there:
        raise UserError(
            f"--crawl: {', '.join(inputs)} has both pages of none of {len(pairs):,} pairs, as they "
            f"are in {folder}; give the files it was made of, or an index of them.")
    found = (difference(pair, texts[pair.key[0]], texts[pair.key[1]]) for pair in there)
    missing = {pair.key for pair in pairs}.difference(pair.key for pair in there)
    return Differences(tuple(found), tuple(sorted(missing)))


def difference(pair: DrawnPair, a: PageText, b: PageText) -> TermDifference:
    """The shortest diff of two pages' tokens, and a guess at its kind."""
    words_a, words_b = a.words(), b.words()
    first, second = _numbered([*words_a, *a.images], [*words_b, *b.images])
    deleted, inserted = edit_masks(frozen(first), frozen(second))
    places = hunks((*words_a, *a.images), (*words_b, *b.images), deleted, inserted,
                   (len(words_a), len(words_b)))
    return TermDifference(pair, int(deleted.sum()), int(inserted.sum()),
                          kind_of(places, *pair.key))


def _numbered(a: Sequence[str], b: Sequence[str]) -> tuple[NDArray, NDArray]:
    """Both sequences with equal numbers for equal tokens."""
    numbers: dict[str, int] = {}
    both = [numbers.setdefault(token, len(numbers)) for token in (*a, *b)]
    return np.array(both[:len(a)], np.uint64), np.array(both[len(a):], np.uint64)


def hunks(a: Sequence[str], b: Sequence[str], deleted: NDArray[np.bool_],
          inserted: NDArray[np.bool_], texts: tuple[int, int]) -> Iterator[Hunk]:
    """The places where `a` and `b` differ, with common tokens on either side; `texts`: how many
    tokens of each are no images."""
    for (i, i_end), (j, j_end) in _runs(deleted, inserted):
        before, after = (
            tuple(a[at] for at in near if not deleted[at])
            for near in (range(max(0, i - _AROUND), i),
                         range(i_end, min(i_end + _AROUND, len(a)))))
        yield Hunk(tuple(a[i:i_end]), tuple(b[j:j_end]), before, after,
                   image=i >= texts[0] and j >= texts[1])


def _runs(deleted: NDArray[np.bool_],
          inserted: NDArray[np.bool_]) -> Iterable[tuple[tuple[int, int], tuple[int, int]]]:
    """Stretches of a and of b between two tokens that both have, where one of them is not
    empty: token number n of the common ones is at kept_a[n] and kept_b[n]."""
    ends_a = np.concatenate([np.flatnonzero(~deleted), [len(deleted)]])
    ends_b = np.concatenate([np.flatnonzero(~inserted), [len(inserted)]])
    starts_a, starts_b = (np.concatenate([[0], ends[:-1] + 1]) for ends in (ends_a, ends_b))
    changed = np.flatnonzero((starts_a < ends_a) | (starts_b < ends_b))
    for n in changed.tolist():
        yield ((int(starts_a[n]), int(ends_a[n])), (int(starts_b[n]), int(ends_b[n])))
