"""How good algorithms are on judged pairs: precision, recall and R, as exact fractions."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from beam_reuse.core.verdicts import Verdict, pair_word
from beam_reuse.io.sheets import LABEL, REASON
from beam_reuse.judging.measures import Measure, Number, Rate, tally
from beam_reuse.judging.reports import Row
from beam_reuse.judging.similarities import (
    ALGORITHMS,
    C_BINS,
    COMBINED,
    B,
    SimilaritySettings,
    interval_label,
)

ALL, SITE, B_SIMILARITY, C_SIMILARITY = "all", "site", "b_similarity", "c_similarity"
SAME, DIFFERENT = "same", "different"


@dataclass(frozen=True)
class JudgedPair:
    """A judged pair of a crawl: who returns it, how similar it is (None: no row says), and how
    many rows of the table it stands for (1 unless drawn from strata)."""

    key: tuple[str, str]
    verdict: Verdict
    reason: str
    same_site: bool
    returned: frozenset[str] = frozenset()
    b_similarity: int | None = None
    c_similarity: int | None = None
    weight: Number = 1


@dataclass(frozen=True)
class Figures:
    """What one algorithm makes of one part of the judged pairs. `estimate`: of the whole table,
    from a stratified sample."""

    algorithm: str
    split: str
    value: str
    counts: Measure
    estimate: Measure | None = None


def _tally(pairs: Iterable[JudgedPair], weigh: bool) -> Measure:
    """The pairs by verdict, each counted once or by its weight."""
    some = list(pairs)
    return tally([pair.verdict for pair in some], [pair.weight for pair in some] if weigh else None)


def within(column: str, low: int, high: int | None = None) -> Callable[[JudgedPair], bool]:
    """Whether a pair's similarity is known and is between two, both included."""
    def holds(pair: JudgedPair) -> bool:
        value = pair.b_similarity if column == B_SIMILARITY else pair.c_similarity
        return value is not None and value >= low and (high is None or value <= high)

    return holds


def _returned_by(algorithm: str) -> Callable[[JudgedPair], bool]:
    return lambda pair: algorithm in pair.returned


def stratified(pairs: Iterable[JudgedPair]) -> bool:
    """Whether pairs stand for more than themselves."""
    return any(pair.weight != 1 for pair in pairs)


def figures(pairs: Sequence[JudgedPair], settings: SimilaritySettings,
            bins: int = C_BINS) -> list[Figures]:
    """Every algorithm on all pairs, by site and by similarity: B-similarities for B (intervals, if
    there are many), intervals of C-similarity for the others. Recall and R are there where all
    labelled pairs can be divided so."""
    found = []
    for algorithm in ALGORITHMS:
        found += by_site(algorithm, pairs, _returned_by(algorithm))
        mine = [pair for pair in pairs if algorithm in pair.returned]
        column, spans = (B_SIMILARITY, settings.b_intervals()) if algorithm == B else (
            C_SIMILARITY, settings.c_intervals(algorithm, bins))
        found += [_part(algorithm, column, interval_label(span), mine, within(column, *span))
                  for span in spans]
    return found


def by_site(algorithm: str, pairs: Sequence[JudgedPair],
            returned: Callable[[JudgedPair], bool]) -> list[Figures]:
    """What is `returned` of all pairs, of those on one site, and of those on two."""
    parts = ((ALL, "", list(pairs)),
             (SITE, SAME, [pair for pair in pairs if pair.same_site]),
             (SITE, DIFFERENT, [pair for pair in pairs if not pair.same_site]))
    return [
        Figures(algorithm, split, value, _measure(algorithm, part, returned, False),
                _measure(algorithm, part, returned, True) if stratified(pairs) else None)
        for split, value, part in parts
    ]


def _measure(algorithm: str, pairs: Sequence[JudgedPair], returned: Callable[[JudgedPair], bool],
             weigh: bool) -> Measure:
    of_b = _tally((pair for pair in pairs if B in pair.returned), weigh).correct
    return replace(_tally(filter(returned, pairs), weigh), labelled=_tally(pairs, weigh).correct,
                   of_b=of_b if algorithm == COMBINED else None)


def _part(algorithm: str, split: str, value: str, pairs: Sequence[JudgedPair],
          inside: Callable[[JudgedPair], bool]) -> Figures:
    part = [pair for pair in pairs if inside(pair)]
    return Figures(algorithm, split, value, _tally(part, False),
                   _tally(part, True) if stratified(pairs) else None)


def reasons(pairs: Sequence[JudgedPair]) -> list[Row]:
    """Pairs of each algorithm and verdict by reason, all of them and those on one site; the most
    frequent first."""
    rows: list[Row] = []
    for algorithm, verdict in product(ALGORITHMS, Verdict):
        mine = [p for p in pairs if algorithm in p.returned and p.verdict is verdict]
        counts = Counter(pair.reason for pair in mine)
        same = Counter(pair.reason for pair in mine if pair.same_site)
        rows += [{"algorithm": algorithm, LABEL: pair_word(verdict), REASON: reason,
                  "pairs": counts[reason], "share": Rate(counts[reason], len(mine)).value,
                  "same_site": same[reason],
                  "share_of_same_site": Rate(same[reason], same.total()).value}
                 for reason in sorted(counts, key=lambda name: (-counts[name], name))]
    return rows
