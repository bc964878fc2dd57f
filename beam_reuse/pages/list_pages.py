"""ListPages: the table of pages, for pipelines of other people."""

from beam_reuse.core.features import Reads
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.pages.rows import page_table


class ListPages(Analysis):
    """Pages -> `pages`: a row for each, with its URL, time, host, hash, and where its record is.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     rows = p | ReadPages("crawl/*.jsonl") | ListPages() | AsRows("pages")
    ...     hosts = rows | beam.Map(lambda row: row.host) | beam.combiners.Count.PerElement()
    ...     _ = hosts | beam.Filter(lambda pair: pair[1] > 1) | beam.Map(print)
    ('shop.example', 6)
    """

    @classmethod
    def of(cls, settings: Settings) -> "ListPages":
        return cls()

    def reads(self) -> Reads:
        return Reads()

    def find(self, pages: Pages) -> Found:
        return Found({"pages": pages.rows(page_table, pages.text, pages.sides)})
