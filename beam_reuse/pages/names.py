"""From page numbers back to URLs."""

from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.columnar import Block, BuildKeyFilter, Fetch, JoinRows, MapBlocks
from beam_reuse.columnar.matching import lookup
from beam_reuse.pages.read_pages import Analysis, Pages


class NamesOfPages(Analysis):
    """(rows with a column `page`, pages) -> `page` and `url` of these pages, and of few others.

    To be shared by several joins: names are read once, and runners need not wait for one join
    to prepare another.
    """

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        rows, pages = inputs
        asked = AsSingleton(
            rows | "PagesAsked" >> BuildKeyFilter(pages.shuffle, ("page",)))
        return (
            pages.names
            | "FetchNames" >> Fetch(pages.shuffle, asked)
            | "NamesAsked" >> MapBlocks(_asked_for, asked)
        )


class UrlsOfPages(Analysis):
    """(rows with a column `page`, pages) -> the rows with a column `url` beside it.

    Names of pages that nobody asked for are not shuffled.
    """

    @no_annotations
    def expand(self, inputs: tuple[beam.PCollection, Pages]) -> beam.PCollection:
        rows, pages = inputs
        names = (rows, pages) | "Names" >> NamesOfPages()
        return {"left": rows, "right": names} | "Name" >> JoinRows(
            pages.shuffle, ("page",), with_names)


def with_names(rows: Block | None, names: Block | None) -> Block | None:
    """Rows with the URL of their page."""
    if rows is None:
        return None
    if names is None or (found := lookup(rows, names, ("page",))).min(initial=0) < 0:
        raise AssertionError("a page number without a page")
    return rows.with_columns(url=names.strings("url").take(found))


def _asked_for(names: Block, asked: Any) -> Block:
    return names.take(asked.may_hold(names.select(("page",))))
