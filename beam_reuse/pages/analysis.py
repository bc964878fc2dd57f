"""What an analysis is: a way to write, in Rows, what is found in pages."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PBegin, PValue

from beam_reuse.core.errors import UserError
from beam_reuse.core.features import Reads
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.results.folding import FoldedRows
from beam_reuse.io.results.tables import SCHEMAS, TableSchema
from beam_reuse.pages.batches import to_batches
from beam_reuse.pages.composite import Composite
from beam_reuse.pages.naming import require_tables, with_urls
from beam_reuse.pages.pages import Pages
from beam_reuse.pages.read_pages import PagesRead, inputs_in
from beam_reuse.rows import Rows, Value
from beam_reuse.rows.building import build


@dataclass(frozen=True)
class Found:
    """What an analysis gives: rows of its tables by name, in which pages may be numbers, values
    that are reported by name, and, for analyses that follow, `sets` of pages that are the same, by
    kind: a row for each page of a set of two or more, with `set`, the smallest of them, and `page`.
    """

    tables: Mapping[str, Rows]
    values: Mapping[str, Value | int] = field(default_factory=dict)
    sets: Mapping[str, Rows] = field(default_factory=dict)

    @staticmethod
    def joined(some: Iterable["Found"]) -> "Found":
        """What several analyses give."""
        every = list(some)
        return Found(*({name: value for each in every for name, value in getattr(each, of).items()}
                       for of in ("tables", "values", "sets")))


class Analysis(Composite, ABC):
    """PagesRead -> tables by name, PCollections of Arrow record batches with the table's schema;
    `counts` and `values`: pairs of a name and a number."""

    schemas: Mapping[str, TableSchema] = SCHEMAS
    # How rows of a table that travel in another form are folded into it, by the table's name.
    folding: Mapping[str, FoldedRows] = {}
    # Whether it sees pages without template lines where --ignore-boilerplate asks for that.
    ignores_templates: bool = False
    # Whether it leaves out what concerns pages of a baseline alone (`Pages.sides`).
    grows: bool = False

    @classmethod
    @abstractmethod
    def of(cls, settings: Settings) -> "Analysis":
        """The analysis as the settings of a run ask for it."""

    @abstractmethod
    def reads(self) -> Reads:
        """What it looks at of pages."""

    @abstractmethod
    def find(self, pages: Pages) -> Found:
        """What is found, in the order of the paper."""

    def follow(self, pages: Pages, found: Found) -> Found:
        """What is found, where other analyses have `found` something before."""
        return self.find(pages)

    def _extract_input_pvalues(self, pvalueish: Any) -> tuple[Any, tuple[PValue, ...]]:
        return inputs_in(pvalueish)

    def expand(self, read: PagesRead) -> dict[str, beam.PCollection]:
        self.require_pages(read)
        pages = read.pages()
        return self.built(read.parts.pipeline, pages, self.find(pages))

    def require_pages(self, given: Any) -> None:
        """Refuse what is not given by ReadPages, or was read without what is looked at here."""
        name = type(self).__name__
        if not isinstance(given, PagesRead):
            raise UserError(
                f"{name} takes what ReadPages gives, not {_shown(given)}. Write "
                f"`pages = p | ReadPages([...])`, and then `pages | {name}(...)`.")
        reads = self.reads()
        chunks = getattr(self, "chunks", given.features.chunks)
        if chunks != given.features.chunks:
            raise UserError(f"{name} was given {chunks}, and ReadPages cut pages by "
                            f"{given.features.chunks}. Give both the same.")
        missing = reads.features - given.features.kept
        if missing or (reads.text and not given.features.text):
            raise UserError(
                f"{name} looks at {', '.join(sorted(missing)) or 'the text'} of pages, which "
                "ReadPages was asked to leave out (features). Ask for it there.")

    def built(
        self, pipeline: beam.Pipeline, pages: Pages, found: Found,
    ) -> dict[str, beam.PCollection]:
        """The graph of what is found, in which pages have their URLs."""
        require_tables({name: rows for name, rows in found.tables.items()
                        if name not in self.folding}, self.schemas)
        tables = with_urls(found.tables, self.schemas, pages.names)
        built = build(pipeline, pages.plan, tables, found.values)
        batches = {name: to_batches(blocks, self.schemas[name], self.folding.get(name))
                   for name, blocks in built.rows.items()}
        return {**batches, "counts": built.counts, "values": built.values}


def _shown(given: Any) -> str:
    """What was given instead of pages, for people."""
    if isinstance(given, tuple | list | dict):
        return f"a {type(given).__name__} of {len(given)}"
    kinds = {beam.PCollection: "a PCollection", PBegin: "the pipeline"}
    return next((name for kind, name in kinds.items() if isinstance(given, kind)),
                f"a {type(given).__name__}")


__all__ = ["Analysis", "Found", "Pages"]
