"""Detection against what people say: labelled pages or directories, flagged or not."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from beam_reuse.core.shares import ONE, given_threshold, shares
from beam_reuse.core.verdicts import Verdict
from beam_reuse.io.results.manifest import Manifest
from beam_reuse.io.results.scan import rows_of
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.io.sheets import LABEL, Sheet, read_sheet
from beam_reuse.judging.intervals import Drawn, Interval, of_strata
from beam_reuse.judging.judgements import (
    DERIVED,
    Judgement,
    Judgements,
    columns_by,
    derived,
    is_stratified,
    judgements_of,
    page_key,
    page_url,
    prefix_key,
    stratum_of,
    stratum_rows,
    stratum_weights,
)
from beam_reuse.judging.measures import Confusion, Rate, SweepStep, confusion_of, sweep


@dataclass(frozen=True)
class Subject:
    """What is judged: the table that has what became of it and the column that names it."""

    name: str
    table: str
    key: str
    columns: tuple[str, ...]


PAGES = Subject("pages", "page_reuse", "url",
                ("chunks", "matching", "distinct_matching", "flagged"))
NEIGHBOURHOODS = Subject("neighbourhoods", "neighbourhoods", "prefix",
                         ("chunks", "matching", "mean_contains", "flagged"))


@dataclass(frozen=True)
class JudgedOutcome:
    """A judged row of the table. A share of 0 is never flagged: nothing matches, or the page
    has fewer chunks than `--min-chunks`. `evidence`: distinct chunks of a page that match."""

    key: str
    judgement: Judgement[str]
    flagged: bool
    share: int
    evidence: int = 0

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict

    @property
    def name(self) -> str:
        """tp, fp, fn, tn, or `undecided`."""
        if self.verdict is Verdict.UNDECIDED:
            return "undecided"
        right = self.flagged is (self.verdict is Verdict.POSITIVE)
        return f"{'t' if right else 'f'}{'p' if self.flagged else 'n'}"


@dataclass(frozen=True)
class ClassRow:
    """A class of rows: of one verdict, with one value in each column asked for. `evidence` is the
    mean share of those that were flagged; None where none was."""

    verdict: Verdict
    values: tuple[str, ...]
    rows: int
    flagged: int
    of_verdict: int
    evidence: float | None


@dataclass(frozen=True)
class Evaluation:
    """All that labelled rows say of a result."""

    subject: Subject
    sheet: Sheet
    judgements: Judgements[str]
    outcomes: tuple[JudgedOutcome, ...]
    by: tuple[str, ...]
    table_rows: int
    threshold: float | None = None

    @property
    def decided(self) -> list[JudgedOutcome]:
        return [o for o in self.outcomes if o.verdict is not Verdict.UNDECIDED]

    @property
    def undecided(self) -> list[JudgedOutcome]:
        return [o for o in self.outcomes if o.verdict is Verdict.UNDECIDED]

    @property
    def absent(self) -> list[Judgement[str]]:
        """Judged rows that the table does not hold."""
        there = {id(outcome.judgement) for outcome in self.outcomes}
        return [j for j in self.judgements.judged if id(j) not in there]

    def confusion(self) -> Confusion:
        return confusion_of(map(_pair, self.decided))

    def weighted(self) -> Confusion | None:
        """The confusion of the whole table, estimated from a stratified sample: each stratum
        counts as many rows as it has. None if the sheet names no strata."""
        weights = stratum_weights(self.sheet, [o.judgement for o in self.decided])
        return None if weights is None else confusion_of(map(_pair, self.decided), weights)

    def precision(self) -> Interval | None:
        """The share of positives in all flagged rows of the table, with its interval, if the sheet
        was drawn from it. Flagged rows of a stratum are as many as the judged ones say: of one
        that is all flagged, all. None if no flagged row is judged."""
        strata: dict[str, list[JudgedOutcome]] = {}
        for outcome in self.decided:
            strata.setdefault(stratum_of(self.sheet, outcome.judgement), []).append(outcome)
        return of_strata([self._drawn(judged) for judged in strata.values()])

    def _drawn(self, judged: Sequence[JudgedOutcome]) -> Drawn:
        flagged = [outcome for outcome in judged if outcome.flagged]
        rows = (stratum_rows(self.sheet, judged[0].judgement) if is_stratified(self.sheet)
                else max(self.table_rows, len(judged)))
        positive = sum(outcome.verdict is Verdict.POSITIVE for outcome in flagged)
        return Drawn(Rate(positive, len(flagged)), max(
            round(rows * len(flagged) / len(judged)), len(flagged)))

    def sweep(self) -> list[SweepStep]:
        """The confusion at every page (or neighbourhood) threshold that makes a difference."""
        return sweep([(o.verdict is Verdict.POSITIVE, o.share) for o in self.decided])

    def evidence_sweep(self) -> list[SweepStep]:
        """The confusion if only those flagged pages were that have more evidence than each number
        which makes a difference; none of neighbourhoods."""
        if self.subject is not PAGES:
            return []
        return sweep([(o.verdict is Verdict.POSITIVE, o.evidence if o.flagged else 0)
                      for o in self.decided])

    def step_of_run(self) -> int | None:
        """The share of the step in the sweep that flags what the run has flagged; None if the
        run's flags follow from no threshold."""
        below = max((o.share for o in self.decided if not o.flagged), default=0)
        as_run = all(o.flagged is (o.share > below) for o in self.decided)
        return below if as_run else None

    def classes(self) -> list[ClassRow]:
        """Rows of each verdict and class, flagged or not: the most frequent first."""
        return classes(self.outcomes, self.by)


def _pair(outcome: JudgedOutcome) -> tuple[bool, bool]:
    return outcome.verdict is Verdict.POSITIVE, outcome.flagged


def classes(outcomes: Sequence[JudgedOutcome], by: Sequence[str]) -> list[ClassRow]:
    """Outcomes counted by verdict and the values of the columns `by`; none without columns."""
    if not by:
        return []
    rows: Counter[tuple[Verdict, tuple[str, ...]]] = Counter()
    flagged: Counter[tuple[Verdict, tuple[str, ...]]] = Counter()
    held: Counter[tuple[Verdict, tuple[str, ...]]] = Counter()
    for outcome in outcomes:
        key = outcome.verdict, tuple(_value(outcome, column) for column in by)
        rows[key] += 1
        flagged[key] += outcome.flagged
        held[key] += outcome.share if outcome.flagged else 0
    totals = Counter(outcome.verdict for outcome in outcomes)
    order = {verdict: number for number, verdict in enumerate(Verdict)}
    ordered = sorted(rows, key=lambda key: (order[key[0]], -rows[key], key[1]))
    return [ClassRow(v, values, rows[v, values], flagged[v, values], totals[v],
                     held[v, values] / flagged[v, values] / ONE if flagged[v, values] else None)
            for v, values in ordered]


def _value(outcome: JudgedOutcome, column: str) -> str:
    if column in outcome.judgement.row.cells or column not in DERIVED:
        return outcome.judgement.cell(column)
    return derived(column, outcome.key)


def evaluate(folder: str, path: str, subject: Subject,
             by: Sequence[str] | None = None) -> Evaluation:
    """The sheet at `path` against the result in `folder`.

    `by` names columns of the sheet, or host, site, domain, neighbourhood, to break the counts
    down by; None: by `reason` where the sheet has any. Cost: one pass over three or four
    columns of the table. Memory: the sheet and one batch.
    """
    sheet = read_sheet(path, (subject.key, LABEL))
    manifest = read_manifest(folder)
    captures = manifest.settings.get("captures") == "all"
    judgements = judgements_of(sheet, (subject.key,), _key_function(subject, captures))
    outcomes = tuple(_outcomes(folder, manifest, subject, judgements))
    named = "neighbourhood" if subject is NEIGHBOURHOODS else "page"
    return Evaluation(subject, sheet, judgements, outcomes,
                      columns_by(sheet, judgements, by, DERIVED),
                      sum(part.rows for part in manifest.tables()[subject.table]),
                      manifest.thresholds.get(named))


def _key_function(subject: Subject, captures: bool) -> Callable[[str], str]:
    if subject is NEIGHBOURHOODS:
        return prefix_key
    return page_key if captures else page_url


def _outcomes(folder: str, manifest: Manifest, subject: Subject,
              judgements: Judgements[str]) -> Iterator[JudgedOutcome]:
    """The rows of the table that are judged, in the order of their keys: one capture by what is
    said of itself, or else of its page."""
    judged = [j for j in judgements.judged if j.key is not None]
    keys = pa.table({"judged_key": pa.array([j.key for j in judged], pa.string()),
                     "number": np.arange(len(judged))})
    captures = manifest.settings.get("captures") == "all"
    page = f"split_part({subject.key}, '#', 1)" if captures else subject.key
    rows = rows_of(folder, subject.table, (subject.key, *subject.columns), f"""
        SELECT *
        FROM (SELECT *, {subject.key} AS key, {page} AS page FROM source)
            JOIN (SELECT *, split_part(judged_key, '#', 1) AS page FROM keys) USING (page)
        WHERE judged_key IN (key, page)
        QUALIFY judged_key = max(judged_key) OVER (PARTITION BY key)
        ORDER BY key
        """, keys=keys)
    for row in rows:
        share = deciding_share(row, manifest.settings)
        yield JudgedOutcome(row["key"], judged[row["number"]], row["flagged"], share,
                            row.get("distinct_matching", 0))


def deciding_share(row: Mapping[str, Any], settings: Mapping[str, Any]) -> int:
    """The share by which detection decided over a row of page_reuse or neighbourhoods; 0 where
    no threshold flags it."""
    if "mean_contains" in row and settings.get("neighbourhood-score") == "mean":
        return given_threshold(row["mean_contains"] or 0.0)
    if "mean_contains" not in row and (
            row["chunks"] < settings.get("min-chunks", 1)
            or row["distinct_matching"] < settings.get("min-matching", 1)):
        return 0
    return max(int(shares(np.array([row["matching"]]), np.array([row["chunks"]]))[0]), 0)
