"""The value above which something is flagged: given, or mean plus one deviation."""

import apache_beam as beam

from beam_reuse.columnar import Block, MapBlocks, SumColumns
from beam_reuse.columnar.sums import Sums
from beam_reuse.core.shares import MOMENTS, auto_threshold, given_threshold, moments


class ThresholdOf(beam.PTransform):
    """Blocks with a column `share` -> the threshold, one integer share, for AsSingleton."""

    def __init__(self, given: float | None) -> None:
        super().__init__()
        self.given = given

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        if self.given is not None:
            return rows.pipeline | "Given" >> beam.Create([given_threshold(self.given)])
        return (
            rows
            | "Moments" >> MapBlocks(_moment_rows)
            | "Sums" >> SumColumns(MOMENTS)
            | "MeanPlusDeviation" >> beam.Map(_auto)
        )


class NameThreshold(beam.PTransform):
    """The threshold -> (name, threshold)."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def expand(self, threshold: beam.PCollection) -> beam.PCollection:
        return threshold | beam.Map(_named, self.name).with_output_types(tuple[str, int])


def _named(threshold: int, name: str) -> tuple[str, int]:
    return name, threshold


def _moment_rows(rows: Block) -> Block:
    return Block(moments(rows.array("share")))


def _auto(sums: Sums) -> int:
    return auto_threshold(sums)
