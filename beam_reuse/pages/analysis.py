"""What an analysis is: a way to write, in Rows, what is found in pages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PValue
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.io.results.tables import SCHEMAS, TableSchema
from beam_reuse.pages import read_pages
from beam_reuse.pages.naming import with_urls
from beam_reuse.rows import Plan, Rows, Value
from beam_reuse.rows.building import build


@dataclass(frozen=True)
class Pages:
    """The pages of a run, as analyses read them.

    `parts` has a row for each numbered part (see `pages.rows`), `names` the number and the URL of
    each page. `spill` is a folder that all workers share; `ranges` how many parts there may be.
    """

    plan: Plan
    parts: Rows
    names: Rows
    spill: str
    ranges: int = 64

    def rows(self, kernel: Callable[..., Any], *args: Any) -> Rows:
        """What `kernel(parts, *args)` reads of all pages."""
        return self.parts.map(kernel, *args)

    def with_parts(self, rows: Rows, kernel: Callable[..., Any], *args: Any) -> Rows:
        """What `kernel(rows, parts, *args)` gives where rows come to the parts that their column
        `range` names; all parts are there, and rows are None where there are none for them."""
        return rows.join(self.parts, "range", kernel, *args, buckets=self.ranges, dealt=True)

    @staticmethod
    def of(
        read: "read_pages.Pages", plan: Plan | None = None, name: str = "",
    ) -> "Pages":
        """Pages that another graph has read; those of several in one plan differ in `name`."""
        plan = plan or Plan(read.shuffle)
        return Pages(plan, plan.pieces(read.parts, f"parts{name}"),
                     plan.pieces(read.names, f"names{name}"), read.spill)


@dataclass(frozen=True)
class Found:
    """What an analysis gives: rows of its tables by name, in which pages may be numbers, and
    values that are reported by name."""

    tables: Mapping[str, Rows]
    values: Mapping[str, Value | int] = field(default_factory=dict)


class Analysis(beam.PTransform):
    """Pages -> tables by name, PCollections of blocks; `counts` and `values`: pairs of a
    name and a number."""

    schemas: Mapping[str, TableSchema] = SCHEMAS

    def find(self, pages: Pages) -> Found:
        """What is found, in the order of the paper."""
        raise NotImplementedError

    def _extract_input_pvalues(self, pvalueish: Any) -> tuple[Any, tuple[PValue, ...]]:
        return pvalueish, tuple(read_pages._pvalues(pvalueish))

    @no_annotations
    def expand(self, read: "read_pages.Pages") -> dict[str, beam.PCollection]:
        pages = Pages.of(read)
        return self.built(read.parts.pipeline, pages, self.find(pages))

    def built(
        self, pipeline: beam.Pipeline, pages: Pages, found: Found,
    ) -> dict[str, beam.PCollection]:
        """The graph of what is found, in which pages have their URLs."""
        tables = with_urls(found.tables, self.schemas, pages.names)
        built = build(pipeline, pages.plan, tables, found.values)
        return {**built.rows, "counts": built.counts, "values": built.values}
