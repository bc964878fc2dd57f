"""Boilerplate: which lines are the template of their host, and how much of each page they are.

Lines of a host are counted coarsely first, so that those on few pages do not travel. Where the
lines of a host meet, the number of its pages decides; template lines then come to the parts that
have them, where pages are counted and one page of each line is read for its text.
"""

from beam_reuse.analyses.boilerplate.described import (
    POSITIONS,
    TEXTS,
    boilerplate_table,
    described,
)
from beam_reuse.analyses.boilerplate.lines import KEY, template_lines
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.core.features import LINE_TOKENS, LINES, PAYLOAD, Reads
from beam_reuse.core.settings import given_or_default
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages


class FindBoilerplate(Analysis):
    """Pages -> `boilerplate` and `boilerplate_pages`.

    Exact, as far as 64-bit fingerprints tell lines and hosts apart. Cost: as `template_lines`, then
    lines are read a third time, and a row of 26 bytes travels for each part, template line and
    position.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     settings = BoilerplateSettings(min_pages=5)
    ...     found = p | ReadPages("crawl/*.jsonl") | FindBoilerplate(settings)
    ...     rows = found | AsRows("boilerplate")
    ...     _ = rows | beam.Map(lambda row: print(row.host, row.text, row.pages))
    shop.example Home Contact Imprint 6
    """

    grows = True

    def __init__(self, settings: BoilerplateSettings | None = None) -> None:
        super().__init__()
        self.settings = given_or_default(settings, BoilerplateSettings, self)

    @classmethod
    def of(cls, settings: Settings) -> "FindBoilerplate":
        return cls(settings.boilerplate)

    def reads(self) -> Reads:
        return Reads(frozenset((LINES, LINE_TOKENS, PAYLOAD)), text=True)

    def find(self, pages: Pages) -> Found:
        found = pages.with_parts(template_lines(pages, self.settings), described, pages.sides)
        return Found({
            "boilerplate": found.tagged(TEXTS).join(
                found.tagged(POSITIONS), KEY, boilerplate_table, other_order="position",
                other_reducing={"count": "sum"}),
            "boilerplate_pages": found,
        })
