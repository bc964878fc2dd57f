"""How good algorithms are on judged pairs: precision, recall and R, as exact fractions."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from beam_reuse.judging.measures import Rate
from beam_reuse.judging.similarities import (
    ALGORITHMS,
    C_BINS,
    COMBINED,
    B,
    SimilaritySettings,
    interval_label,
)
from beam_reuse.judging.verdicts import Verdict

ALL, SITE, B_SIMILARITY, C_SIMILARITY = "all", "site", "b_similarity", "c_similarity"
SAME, DIFFERENT = "same", "different"

Number = int | Fraction


@dataclass(frozen=True)
class JudgedPair:
    """A judged pair of a crawl: who returns it, how similar it is (None: no row tells), and how
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
class Tally:
    """Judged pairs by verdict: counts, or sums of weights."""

    correct: Number = 0
    incorrect: Number = 0
    undecided: Number = 0

    @property
    def pairs(self) -> Number:
        return self.correct + self.incorrect + self.undecided

    @property
    def precision(self) -> Rate:
        """Correct pairs of all that were judged, the undecided too."""
        return Rate(self.correct, self.pairs)

    @property
    def decided_precision(self) -> Rate:
        """Correct pairs of those that are correct or incorrect."""
        return Rate(self.correct, self.correct + self.incorrect)


@dataclass(frozen=True)
class Measure:
    """Pairs that are returned; which part of the correct ones that were judged they hold, and
    which part of the correct ones that B returns (R)."""

    tally: Tally
    recall: Rate | None = None
    kept: Rate | None = None


@dataclass(frozen=True)
class Figures:
    """What one algorithm makes of one part of the judged pairs. `estimate`: of the whole table,
    from a stratified sample."""

    algorithm: str
    split: str
    value: str
    counts: Measure
    estimate: Measure | None = None


@dataclass(frozen=True)
class ReasonRow:
    """Pairs of one algorithm, verdict and reason: all of them, and those on one site."""

    algorithm: str
    verdict: Verdict
    reason: str
    pairs: int
    same_site: int
    of_pairs: int
    of_same_site: int


def tally(pairs: Iterable[JudgedPair], weigh: Callable[[JudgedPair], Number]) -> Tally:
    sums: dict[Verdict, Number] = dict.fromkeys(Verdict, 0)
    for pair in pairs:
        sums[pair.verdict] += weigh(pair)
    return Tally(sums[Verdict.POSITIVE], sums[Verdict.NEGATIVE], sums[Verdict.UNDECIDED])


def one(_: JudgedPair) -> Number:
    return 1


def weight(pair: JudgedPair) -> Number:
    return pair.weight


def within(column: str, low: int, high: int | None = None) -> Callable[[JudgedPair], bool]:
    """Whether a pair's similarity is known and lies between two, both included."""
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
    there are many), intervals of C-similarity for the others. Recall and R stand where all
    labelled pairs can be divided so."""
    found = []
    for algorithm in ALGORITHMS:
        found += by_site(algorithm, pairs, _returned_by(algorithm))
        mine = [pair for pair in pairs if algorithm in pair.returned]
        if algorithm == B:
            found += [_part(algorithm, B_SIMILARITY, interval_label(interval), mine,
                            within(B_SIMILARITY, *interval))
                      for interval in settings.b_intervals()]
        else:
            found += [_part(algorithm, C_SIMILARITY, interval_label(interval), mine,
                            within(C_SIMILARITY, *interval))
                      for interval in settings.c_intervals(algorithm, bins)]
    return found


def by_site(algorithm: str, pairs: Sequence[JudgedPair],
            returned: Callable[[JudgedPair], bool]) -> list[Figures]:
    """What is `returned` of all pairs, of those on one site, and of those on two."""
    parts = ((ALL, "", list(pairs)),
             (SITE, SAME, [pair for pair in pairs if pair.same_site]),
             (SITE, DIFFERENT, [pair for pair in pairs if not pair.same_site]))
    return [
        Figures(algorithm, split, value, _measure(algorithm, part, returned, one),
                _measure(algorithm, part, returned, weight) if stratified(pairs) else None)
        for split, value, part in parts
    ]


def _measure(algorithm: str, pairs: Sequence[JudgedPair], returned: Callable[[JudgedPair], bool],
             weigh: Callable[[JudgedPair], Number]) -> Measure:
    mine = tally(filter(returned, pairs), weigh)
    kept = None
    if algorithm == COMBINED:
        kept = Rate(mine.correct, tally((p for p in pairs if B in p.returned), weigh).correct)
    return Measure(mine, Rate(mine.correct, tally(pairs, weigh).correct), kept)


def _part(algorithm: str, split: str, value: str, pairs: Sequence[JudgedPair],
          inside: Callable[[JudgedPair], bool]) -> Figures:
    part = [pair for pair in pairs if inside(pair)]
    return Figures(algorithm, split, value, Measure(tally(part, one)),
                   Measure(tally(part, weight)) if stratified(pairs) else None)


def reasons(pairs: Sequence[JudgedPair]) -> list[ReasonRow]:
    """Pairs of each algorithm and verdict by reason, the most frequent first."""
    rows = []
    for algorithm in ALGORITHMS:
        for verdict in Verdict:
            mine = [p for p in pairs if algorithm in p.returned and p.verdict is verdict]
            counts = Counter(pair.reason for pair in mine)
            same = Counter(pair.reason for pair in mine if pair.same_site)
            rows += [ReasonRow(algorithm, verdict, reason, counts[reason], same[reason],
                               len(mine), same.total())
                     for reason in sorted(counts, key=lambda name: (-counts[name], name))]
    return rows
