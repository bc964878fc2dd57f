"""Quilted pages: which are stitched from others, from which, where, and whether they link to them.

Grams that stand on one page are dropped before they travel, by a coarse count. Where equal grams
meet, those on too many pages are dropped, and the others are told by the list of their pages. Lists
are brought to the pages on them only if a page's patch fraction can reach the least one asked for,
and grams and tokens only to pages that are quilts.
"""

import apache_beam as beam
from apache_beam.pvalue import AsSingleton
from apache_beam.typehints.decorators import no_annotations

from beam_reuse.analyses.quilts import cover_rows, gram_rows, lists, tables
from beam_reuse.columnar import (
    MAIN,
    Block,
    BuildKeyFilter,
    Fetch,
    GroupRows,
    JoinRows,
    MapBlocks,
    ProcessBuckets,
    PutAway,
    ReduceRows,
    Shuffle,
)
from beam_reuse.columnar.repeats import FindRepeats
from beam_reuse.columnar.shuffle import ForLater
from beam_reuse.core.settings import QuiltSettings
from beam_reuse.io.ip_tables import read_ip_tables
from beam_reuse.pages.names import UrlsOfPages
from beam_reuse.pages.read_pages import Analysis, Pages

Note = tuple[str, int]


class FindQuilts(Analysis):
    """Pages -> `quilts` and `quilt_sources`, as blocks, and `noted`: pairs of a name and how many
    pages were too short for a gram, and how many grams stand on too many pages.

    Exact, as far as 64-bit fingerprints tell grams and lists apart. Cost: some 30 ns per token, a
    row of 24 bytes per distinct gram of a page that may stand elsewhere, and another where the
    page is a quilt. Memory does not grow with the number of copies of a page; a page needs some
    100 bytes per token.
    """

    def __init__(self, settings: QuiltSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or QuiltSettings()

    @no_annotations
    def expand(self, pages: Pages) -> dict[str, beam.PCollection]:
        shuffle, settings = pages.shuffle, self.settings
        read_ip_tables(settings.ip_tables)
        heavy = AsSingleton(
            pages.parts
            | "FetchParts" >> Fetch(shuffle)
            | "AllGrams" >> MapBlocks(gram_rows.all_grams, settings)
            | "Repeated" >> FindRepeats(shuffle, ("gram",), shuffle.counter_bits(4, 29))
        )
        grams = (
            pages.parts
            | "FetchAgain" >> Fetch(shuffle, heavy)
            | "GramRows" >> MapBlocks(gram_rows.gram_rows, settings, heavy, outputs={
                gram_rows.TOTALS: Block, gram_rows.NOTED: Note})
        )
        shared = grams[MAIN] | "PatchGrams" >> ProcessBuckets(
            shuffle, ("gram",), lists.patch_lists, settings,
            outputs={lists.LISTS: Block, gram_rows.NOTED: Note})
        covers = (shared[lists.LISTS], grams[gram_rows.TOTALS]) | "Cover" >> CoverPages(
            shuffle, settings)
        late = pages._replace(parts=pages.parts | "LateParts" >> ForLater(),
                              names=pages.names | "LateNames" >> ForLater())
        named = (covers[MAIN], late) | "Sources" >> UrlsOfPages()
        quilts = AsSingleton(
            covers[MAIN] | "QuiltedPages" >> MapBlocks(cover_rows.quilted_pages)
            | "Quilts" >> BuildKeyFilter(shuffle, ("page",)))
        found = {
            "left": shared[MAIN] | "ParkGrams" >> PutAway(shuffle)
            | "Unpark" >> Fetch(shuffle, quilts)
            | "GramsOfQuilts" >> MapBlocks(cover_rows.grams_of_quilts, quilts),
            "right": (
                named | "SourceFacts" >> MapBlocks(cover_rows.source_facts),
                covers[cover_rows.FACTS] | "ParkFacts" >> PutAway(shuffle)
                | "FetchFacts" >> Fetch(shuffle, quilts),
                late.parts | "FetchTexts" >> Fetch(shuffle, quilts)
                | "TextFacts" >> MapBlocks(cover_rows.text_facts, quilts),
            ),
        } | "Tables" >> JoinRows(shuffle, ("page",), tables.quilt_tables, settings,
                                 outputs=(tables.QUILTS, tables.SOURCES))
        return {
            tables.QUILTS: found[tables.QUILTS],
            tables.SOURCES: found[tables.SOURCES],
            "noted": (grams[gram_rows.NOTED], shared[gram_rows.NOTED])
            | "Noted" >> beam.Flatten(),
        }


class CoverPages(beam.PTransform):
    """(lists and the numbers of grams that have them, numbers of grams of documents) -> sources of
    quilted pages, and FACTS: their covers and lists."""

    def __init__(self, shuffle: Shuffle, settings: QuiltSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(
        self, given: tuple[beam.PCollection, beam.PCollection]
    ) -> dict[str, beam.PCollection]:
        shuffle, settings = self.shuffle, self.settings
        some, totals = given
        distinct = (
            some
            | "DistinctLists" >> GroupRows(shuffle, ("list",), lists.distinct_lists)
            | "ParkLists" >> PutAway(shuffle)
        )
        counts = distinct | "Unpark" >> Fetch(shuffle) | "PatchCounts" >> MapBlocks(
            lists.patch_counts, settings)
        sums = dict.fromkeys(("grams", *gram_rows.patch_columns(settings)), "sum")
        reached = (
            (counts, totals) | "OfDocuments" >> ReduceRows(shuffle, ("doc",), sums)
            | "Reaching" >> MapBlocks(lists.reaching, settings)
        )
        reach = AsSingleton(
            reached | "Reach" >> BuildKeyFilter(shuffle, ("doc",)))
        classes = distinct | "UnparkAgain" >> Fetch(shuffle, reach) | "ListsOf" >> MapBlocks(
            lists.class_rows, settings, reach)
        waiting = reached | "ParkReached" >> PutAway(shuffle) | "FetchReached" >> Fetch(
            shuffle, reach)
        return (
            waiting | "Totals" >> MapBlocks(lists.total_rows, settings), classes,
        ) | "Covers" >> GroupRows(
            shuffle, ("doc",), cover_rows.cover_documents, settings, order=("kind",),
            outputs=(cover_rows.FACTS,))
