"""Quilted pages: which are stitched from others, from which, where, and whether they link to them.

Grams that occur on one page are dropped before they travel, by a coarse count. Where equal grams
meet, those on too many pages are dropped, and the others are known by the list of their pages.
Lists are brought to the pages on them only if a page's patch fraction can reach the least one asked
for, and grams and tokens only to pages that are quilts. Copies of a page are known by the same
lists; grams of two pages are compared only where those on too many pages could decide.
"""

from beam_reuse.analyses.graphs.containment import contained, paired_pages
from beam_reuse.analyses.quilts.copies import copied, grams_in_doubt, verified_copies
from beam_reuse.analyses.quilts.cover_rows import (
    CLASSES,
    DOUBTFUL,
    PAIRS,
    TAKEN,
    cover_documents,
    cover_doubtful,
    grams_taken,
    named_sources,
    text_rows,
    with_source_urls,
)
from beam_reuse.analyses.quilts.definition import Sweep
from beam_reuse.analyses.quilts.gram_rows import (
    COUNTS,
    all_grams,
    document_grams,
    gram_rows,
    patch_columns,
)
from beam_reuse.analyses.quilts.lists import (
    GRAMS,
    class_rows,
    patch_counts,
    patch_lists,
    reaching,
)
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.analyses.quilts.tables import QUILTS, SOURCES, quilt_tables
from beam_reuse.core.features import LINKS, TOKENS, Reads
from beam_reuse.core.settings import given_or_default
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.ip_tables import read_ip_tables
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.rows import Rows
from beam_reuse.rows.folds import FindRepeats


class FindQuilts(Analysis):
    """Pages -> `quilts` and `quilt_sources`; counted are pages that are too short for a gram, and
    grams that occur on too many pages.

    Exact, as far as 64-bit fingerprints tell grams and lists apart. Cost: some 30 ns per token, a
    row of 24 bytes per distinct gram of a page that may occur elsewhere. Memory does not grow with
    the number of copies of a page; a page needs some 100 bytes per token.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     found = p | ReadPages("crawl/*.jsonl") | FindQuilts(QuiltSettings(min_sources=4))
    ...     rows = found | AsRows("quilts")
    ...     _ = rows | beam.Map(lambda row: print(row.url, row.sources))
    http://quilt.example/ 4
    """

    ignores_templates = True
    grows = True

    def __init__(self, settings: QuiltSettings | None = None) -> None:
        super().__init__()
        self.settings = given_or_default(settings, QuiltSettings, self)

    @classmethod
    def of(cls, settings: Settings) -> "FindQuilts":
        return cls(settings.quilts)

    def reads(self) -> Reads:
        return Reads(frozenset((TOKENS, LINKS)), text=True)

    def find(self, pages: Pages) -> Found:
        settings, sides = self.settings, pages.sides
        read_ip_tables(settings.ip_tables)
        # Which grams occur on several pages, and on which?
        bits = pages.plan.shuffle.counter_bits(4, 29)
        documents = pages.sharing(
            document_grams, settings, keys=lambda new: new.map(all_grams), bits=bits)
        repeated = documents.map(all_grams).fold(FindRepeats(("gram",), bits))
        grams = documents.map(gram_rows, settings, sides, repeated)
        lists = grams.group(
            "gram", patch_lists, settings, limit=max(Sweep.of(settings).limits) + 1)
        # Which documents have patch grams enough, and from where can they have them?
        counts = grams.tagged(COUNTS) + lists.map(patch_counts, settings, sides)
        sums = dict.fromkeys(("grams", "repeated", *patch_columns(settings)), "sum")
        reached = counts.reduce("doc", sums).map(reaching, settings)
        classes = lists.reduce("list", {"members": "any", "grams": "sum"}).map(
            class_rows, settings, reached.keys("doc"),
            reached.map(copied, settings).keys("doc"))
        # Which are quilts, what are their sources called, and where are the patches of each?
        covered = reached.join(classes, "doc", cover_documents, settings)
        sources = covered + self._in_doubt(pages, covered)
        named = sources.join(pages.names.map(named_sources), "source", with_source_urls)
        taken = sources.tagged(TAKEN).join(lists.tagged(GRAMS), "list", grams_taken)
        texts = pages.rows(text_rows, sources.keys("page"))
        found = named.join((texts, taken), "page", quilt_tables, settings, order=("cover", "rank"))
        return Found({QUILTS: found.tagged(QUILTS), SOURCES: found.tagged(SOURCES)})

    def _in_doubt(self, pages: Pages, covered: Rows) -> Rows:
        """The sources of documents of which it was in doubt whether others are their copies: their
        grams are read again, and compared."""
        settings, pairs = self.settings, covered.tagged(PAIRS)
        grams = pages.rows(grams_in_doubt, settings, paired_pages(pairs))
        verified = contained(pairs, grams).map(verified_copies, settings)
        return covered.tagged(DOUBTFUL).join(
            (covered.tagged(CLASSES), verified), "doc", cover_doubtful, settings)
