"""Near-duplicates against what people say: labelled pairs, returned or not by each algorithm."""

from dataclasses import dataclass
from fractions import Fraction

from beam_reuse.core.settings import require
from beam_reuse.core.urls import name_page
from beam_reuse.io.results.tables import NEAR_DUPLICATES, read_manifest
from beam_reuse.io.sheets import LABEL, REASON, Sheet, SheetError, read_sheet
from beam_reuse.judging.judgements import (
    Judgement,
    Judgements,
    RefusedRow,
    drawn_from,
    judgements_of,
    page_key,
    page_url,
    stratum_weights,
)
from beam_reuse.judging.pair_figures import Figures, JudgedPair, figures, reasons
from beam_reuse.judging.pair_lookup import URLS, FoundPair, How, PairKey, look_up, pair_of
from beam_reuse.judging.pair_thresholds import (
    Calibration,
    Choice,
    Step,
    b_steps,
    c_sweep,
    calibrate,
    choices,
)
from beam_reuse.judging.reports import Row
from beam_reuse.judging.similarities import C_BINS, B, SimilaritySettings


@dataclass(frozen=True)
class PairSettings:
    """How judged pairs are evaluated: `bins` of C-similarity, the `seed` that halves the labels,
    and the least R of a threshold that may be chosen."""

    bins: int = C_BINS
    seed: int = 0
    least_kept: float = 0.8

    def __post_init__(self) -> None:
        require(1 <= self.bins <= 100, "bins", self.bins, "from 1 to 100")
        require(0 <= self.seed < 1 << 64, "seed", self.seed, "from 0 to 2**64 - 1")
        require(0 <= self.least_kept <= 1, "least_kept", self.least_kept, "from 0 to 1")


@dataclass(frozen=True)
class PairOutcome:
    """A judged pair and what the result says of it; `pair` is None for one that counts in no
    figure: a page is not in the crawl, or both have the same tokens."""

    judgement: Judgement[PairKey]
    found: FoundPair
    pair: JudgedPair | None

    def cell(self, column: str) -> str:
        return self.judgement.cell(column)


@dataclass(frozen=True)
class PairEvaluation:
    """All that labelled pairs say of a result."""

    settings: PairSettings
    similarities: SimilaritySettings
    sheet: Sheet
    judgements: Judgements[PairKey]
    outcomes: tuple[PairOutcome, ...]
    table_rows: int

    @property
    def other_rows(self) -> int | None:
        """How many rows the sheet was drawn from, if it says so and they are not those of the
        table: estimates are for these rows then."""
        rows = drawn_from(self.sheet)
        return None if rows == self.table_rows else rows

    @property
    def pairs(self) -> list[JudgedPair]:
        """The pairs that count."""
        return [outcome.pair for outcome in self.outcomes if outcome.pair]

    def found(self, how: How) -> list[PairOutcome]:
        return [outcome for outcome in self.outcomes if outcome.found.how is how]

    def figures(self) -> list[Figures]:
        return figures(self.pairs, self.similarities, self.settings.bins)

    def reasons(self) -> list[Row]:
        """Reasons of each algorithm's pairs; none if the sheet gives none."""
        return reasons(self.pairs) if any(pair.reason for pair in self.pairs) else []

    def swept(self) -> list[JudgedPair]:
        """What thresholds of combined can be tried on: B-similar pairs."""
        return [pair for pair in self.pairs if B in pair.returned]

    def sweep(self) -> list[Step]:
        return c_sweep(self.swept(), [self.similarities.combined_threshold])

    def b_steps(self) -> list[Step]:
        return b_steps(self.pairs, self.similarities)

    def choices(self) -> list[Choice]:
        least = Fraction(str(self.settings.least_kept))
        return choices(self.swept(), self.settings.seed, least)

    def calibration(self) -> Calibration:
        return calibrate(self.pairs, self.similarities)


def evaluate_pairs(folder: str, path: str, settings: PairSettings) -> PairEvaluation:
    """The pairs of the sheet at `path` against the result in `folder`. Cost: see `look_up`.
    Memory: the sheet and one batch."""
    sheet = read_sheet(path, (*URLS, LABEL))
    manifest = read_manifest(folder)
    captures = manifest.settings.get("captures") == "all"
    judgements = judgements_of(sheet, URLS, _capture_pair if captures else _page_pair)
    sites = {j.key: _same_site(j.key) for j in judgements.judged if j.key is not None}
    found = look_up(folder, sites)
    if all(pair.how is How.ABSENT for pair in found.values()):
        moments = (", and with each URL its #YYYYMMDDhhmmss, for the run kept all captures"
                   if captures else "")
        raise SheetError(f"{path}: {folder} has both pages of none of its "
                         f"{len(judgements.judged):,} judged pairs; give the result that the sheet "
                         f"was drawn from{moments}")
    counted = [j for j in judgements.judged
               if j.key and found[j.key].how not in (How.ABSENT, How.IDENTICAL)]
    weights = stratum_weights(sheet, counted) or [Fraction(1)] * len(counted)
    pairs = {j.key: _judged(j, j.key, found[j.key], sites[j.key], weight)
             for j, weight in zip(counted, weights, strict=True) if j.key}
    outcomes = tuple(
        PairOutcome(j, found[j.key] if j.key else FoundPair(How.ABSENT),
                    pairs.get(j.key) if j.key else None) for j in judgements.judged)
    table_rows = sum(part.rows for part in manifest.tables()[NEAR_DUPLICATES.name])
    return PairEvaluation(settings, SimilaritySettings.of(manifest), sheet, judgements, outcomes,
                          table_rows)


def _judged(judgement: Judgement[PairKey], key: PairKey, found: FoundPair, same_site: bool,
            weight: Fraction) -> JudgedPair:
    return JudgedPair(key, judgement.verdict, judgement.cell(REASON), same_site, found.returned,
                      found.b_similarity, found.c_similarity, weight)


def _page_pair(a: str, b: str) -> PairKey:
    return _two(page_url(a), page_url(b))


def _capture_pair(a: str, b: str) -> PairKey:
    return _two(page_key(a), page_key(b))


def _two(a: str, b: str) -> PairKey:
    if a == b:
        raise RefusedRow(f"url_a and url_b are one page, {a}; give another, or delete the row")
    return pair_of(a, b)


def _same_site(pair: PairKey) -> bool:
    return name_page(pair[0]).site == name_page(pair[1]).site
