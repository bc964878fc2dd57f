"""A sample of a result table for people to judge.

A row is drawn by a hash of the seed and of its content, those with the smallest first. So a
sample depends on the table's rows and the seed alone; a larger sample contains the smaller,
and the first rows of a sample are a sample too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import require
from beam_reuse.io.results.queries import Stream, query
from beam_reuse.io.results.scan import TableScan
from beam_reuse.io.sheets import (
    ADDED,
    LABEL,
    LINK,
    REASON,
    STRATUM,
    STRATUM_ROWS,
    WEIGHT,
    cell_text,
    neutral,
)
from beam_reuse.judging.conditions import Condition, parse_condition
from beam_reuse.judging.row_hashes import row_hashes
from beam_reuse.judging.similarities import NEAR_DUPLICATES, SimilaritySettings
from beam_reuse.judging.strata import (
    Division,
    StrataError,
    divisions_of,
    parse_by,
    refuse_indivisible,
)

PREFIX = "prefix"
HASH, SIZE = "_hash", "_size"
MOST_ROWS, MOST_STRATA = 1_000_000, 1000


@dataclass(frozen=True)
class SampleSettings:
    """What to draw: `rows` rows of `table`, equally many from each stratum."""

    table: str
    rows: int = 100
    seed: int = 0
    by: tuple[str, ...] = ()
    bins: int = 5
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require(1 <= self.rows < MOST_ROWS, "rows", self.rows, f"from 1 to {MOST_ROWS - 1:,}")
        require(1 <= self.bins <= 100, "bins", self.bins, "from 1 to 100")
        require(0 <= self.seed < 1 << 64, "seed", self.seed, "from 0 to 2**64 - 1")


    @property
    def is_part(self) -> bool:
        """Whether rows are drawn from parts of the table, which the sheet then names."""
        return bool(self.by or self.where)


@dataclass(frozen=True)
class Stratum:
    """A part of the table: its rows, and how many of them were drawn."""

    label: str
    rows: int
    drawn: int

    @property
    def weight(self) -> Fraction | None:
        """How many rows of the table each drawn one stands for; None if none was drawn."""
        return Fraction(self.rows, self.drawn) if self.drawn else None


@dataclass(frozen=True)
class Sample:
    """Rows drawn from a table, in the order they are to be judged, with their strata."""

    settings: SampleSettings
    rows: pa.Table
    stratum: NDArray[np.int64]
    strata: tuple[Stratum, ...]

    @property
    def table_rows(self) -> int:
        """Rows the sample was drawn from."""
        return sum(stratum.rows for stratum in self.strata)

    def columns(self) -> list[str]:
        """The columns of the sheet: the table's, then what `evaluate` needs, then those to be
        filled."""
        table = sheet_columns(self.settings.table, self.rows.column_names)
        return [*table.values(), *self._added()]

    def cells(self) -> Iterator[list[str]]:
        """The rows of the sheet."""
        values = self.rows.to_pylist()
        for row, number in zip(values, self.stratum.tolist(), strict=True):
            yield [*map(cell_text, row.values()), *self._extra(row, self.strata[number])]

    def _added(self) -> list[str]:
        link = [LINK] if PREFIX in self.rows.column_names else []
        strata = [STRATUM, STRATUM_ROWS, WEIGHT] if self.settings.is_part else []
        return [*link, *strata, LABEL, REASON]

    def _extra(self, row: dict[str, Any], stratum: Stratum) -> list[str]:
        link = [f"http://{row[PREFIX]}"] if PREFIX in row else []
        weight = repr(float(stratum.weight or 0))
        strata = [neutral(stratum.label), str(stratum.rows), weight] if (
            self.settings.is_part) else []
        return [*link, *strata, "", ""]


def sheet_columns(table: str, columns: Iterable[str]) -> dict[str, str]:
    """What a sheet calls the columns of a table: one that is called as what is added to these has
    the table's name before it."""
    return {name: f"{table}_{name}" if name in ADDED else name for name in columns}


def draw(folder: str, settings: SampleSettings) -> Sample:
    """Draw from a table of the result in `folder`.

    Cost: one pass over the whole table, before it one over the columns in `by` and `where`
    (two, where numbers are cut into intervals). Memory: the sample and some batches.
    """
    scan = TableScan(folder, settings.table)
    if scan.manifest.kind == "index":
        raise UserError(f"{folder} is an index; give the result of a `run`, which has tables.")
    conditions = [parse_condition(text, scan.schema) for text in settings.where]
    by = _cuts(parse_by(settings.by), scan)
    refuse_indivisible(scan.schema, by)
    divisions = divisions_of(by, settings.bins, _rows(scan, conditions, by))
    found = _sizes(_rows(scan, conditions, by), divisions)
    sizes = [row.pop(SIZE) for row in found]
    labels = [", ".join(division.label(value) for division, value in zip(
        divisions, row.values(), strict=True)) or " and ".join(settings.where) or "all"
        for row in found]
    quotas = equal_quotas(sizes, settings.rows, _turns(labels, settings.seed))
    everything = _rows(scan, conditions, scan.schema.names)
    rows, numbers = _drawn(_hashed(everything, settings.seed), divisions, quotas)
    return Sample(settings, rows, numbers, tuple(
        Stratum(*stratum) for stratum in zip(labels, sizes, quotas, strict=True)))


def _turns(labels: Sequence[str], seed: int) -> list[int]:
    """The strata in the order in which they take turns: drawn by the seed, as rows are."""
    hashes = row_hashes(pa.RecordBatch.from_pydict({"label": pa.array(labels, pa.string())}), seed)
    return [int(place) for place in np.argsort(hashes, kind="stable")]


def _cuts(by: dict[str, list[float]], scan: TableScan) -> dict[str, list[float]]:
    """The columns to divide by, with where they are cut: similarities of pairs at the run's
    thresholds, unless asked otherwise."""
    if scan.name != NEAR_DUPLICATES:
        return by
    usual = SimilaritySettings.of(scan.manifest).cuts()
    return {column: cuts or list(usual.get(column, ())) for column, cuts in by.items()}


def equal_quotas(sizes: Sequence[int], rows: int, turns: Sequence[int]) -> list[int]:
    """How many rows to draw from strata of these sizes: one from each in `turns` until there
    are `rows` or all are empty. No quota is smaller for more rows."""
    quotas = [0] * len(sizes)
    left = min(rows, sum(sizes))
    while left:
        open_ones = [i for i in turns if quotas[i] < sizes[i]]
        rounds = min(left // len(open_ones), min(sizes[i] - quotas[i] for i in open_ones))
        for i in open_ones[: left if rounds == 0 else None]:
            quotas[i] += max(rounds, 1)
        left = min(rows, sum(sizes)) - sum(quotas)
    return quotas


def _rows(scan: TableScan, conditions: Sequence[Condition], columns: Iterable[str]) -> Stream:
    """The rows that fulfil all conditions, with these columns and those of the conditions; with
    some column that is quick to read, if these are none."""
    names = list(dict.fromkeys([*columns, *(condition.column for condition in conditions)]))
    quick = [field.name for field in scan.schema if pa.types.is_primitive(field.type)]
    schema, batches = scan.stream(names or (quick or scan.schema.names)[:1])

    def fulfilling() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for condition in conditions:
                batch = batch.filter(condition.holds(batch))
            yield batch

    return Stream(schema, fulfilling())


def _hashed(rows: Stream, seed: int) -> Stream:
    """Rows with the hash by which they are drawn."""
    return Stream(rows.schema.append(pa.field(HASH, pa.uint64())), (
        batch.append_column(HASH, pa.array(row_hashes(batch, seed))) for batch in rows.batches))


def _sizes(rows: Stream, divisions: Sequence[Division]) -> list[dict[str, Any]]:
    """The rows of each stratum, beside what its divisions give; in the order of these."""
    found = query(f"""
        SELECT {_strata(divisions)} count(*) AS {SIZE}
        FROM source
        GROUP BY ALL
        HAVING {SIZE} > 0
        ORDER BY ALL NULLS FIRST
        LIMIT $most + 1
        """, {"source": rows}, {"most": MOST_STRATA, **_values(divisions)}).to_pylist()
    if len(found) > MOST_STRATA:
        names = ",".join(division.column for division in divisions)
        raise StrataError(f"--by {names}: more than {MOST_STRATA:,} strata; choose columns with "
                          "fewer values, give fewer columns or fewer --bins, or narrow them with "
                          "--where")
    return found


def _drawn(rows: Stream, divisions: Sequence[Division],
           quotas: Sequence[int]) -> tuple[pa.Table, NDArray[np.int64]]:
    """Of each stratum the rows with the smallest hashes, as many as its quota; all together in
    the order of their hashes, each with the number of its stratum.

    As quotas are equal as far as strata reach, the largest one is a good bound for all.
    """
    found = query(f"""
        SELECT {_strata(divisions)} min_by(_row, {HASH}, $most) AS nearest
        FROM source AS _row
        GROUP BY ALL
        ORDER BY ALL NULLS FIRST
        """, {"source": rows}, {"most": max(quotas, default=1), **_values(divisions)})
    names = [name for name in rows.schema.names if name != HASH]
    if not quotas:
        return rows.schema.empty_table().select(names), np.zeros(0, np.int64)
    nearest = pa.concat_tables(
        pa.Table.from_struct_array(stratum.values.slice(0, quota))
        for stratum, quota in zip(found["nearest"], quotas, strict=True))
    order = np.argsort(nearest[HASH].to_numpy(), kind="stable")
    numbers = np.repeat(np.arange(len(quotas)), quotas)
    return nearest.select(names).take(order), numbers[order]


def _strata(divisions: Sequence[Division]) -> str:
    """The columns by which a query tells strata apart."""
    return "".join(f"{division.sql()} AS stratum_{number}, "
                   for number, division in enumerate(divisions))


def _values(divisions: Sequence[Division]) -> dict[str, float]:
    return {name: value for division in divisions for name, value in division.values().items()}
