"""All-pairs overlap: exact copies, overlapping pages and hosts, and what a crawler can save.

Pages with the same lines are one set, of which the smallest URL goes on, and the plainest stays.
Fingerprints are counted first, coarsely, so that those on one page do not travel. All chunkings, of
pages and of hosts, are grouped at once; see `iceberg` for how pairs are counted.
"""

from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.overlap import reports
from beam_reuse.analyses.overlap.copies import CENTRES, copy_rows, exact_sets, member_rows, set_rows
from beam_reuse.analyses.overlap.definition import chunkings_of, page_threshold, server_threshold
from beam_reuse.analyses.overlap.directories import popular_collections
from beam_reuse.analyses.overlap.iceberg import counted_pairs
from beam_reuse.analyses.overlap.own_lines import with_own_lines
from beam_reuse.analyses.overlap.pairs import overlapping, page_overlap, with_both
from beam_reuse.analyses.overlap.postings import (
    CROWDED,
    KEY,
    SERVER_CROWDS,
    SERVERS,
    crowd_postings,
    fingerprint_rows,
    postings,
    with_names,
)
from beam_reuse.analyses.overlap.reading import (
    DECLARED,
    HOSTS,
    KEYS,
    all_keys,
    page_rows,
    size_names,
)
from beam_reuse.analyses.overlap.servers import (
    ALIASES,
    HOST_PAIR,
    exact_copies,
    host_table,
    related_hosts,
)
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.analyses.overlap.staying import as_because, because_of_first, first_pages
from beam_reuse.core.features import LINES, PAYLOAD, TOKENS, Reads
from beam_reuse.core.settings import given_or_default
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.pages.sides import ONE_SIDE, Sides
from beam_reuse.rows import Rows
from beam_reuse.rows.folds import FindKeys, FindRepeats


class FindOverlap(Analysis):
    """Pages -> `exact_copies`, `page_overlap`, `server_overlap`, `replicas`, `skippable`,
    `crawl_savings` and `popular_collections`. Counts pages without lines, fingerprints and those
    left out, pairs made and kept, and the rows of pairs that were shuffled, which depend on how
    blocks were cut.

    Exact, but for fingerprints on more than `max_df` pages (or hosts): crowds, of which each is
    compared with the first and its next ten. Cost: 8 bytes per page and fingerprint; a row of 17
    bytes per page and fingerprint that another page has, too, and as many at most for hosts; some
    5 ns per pair and pass; 8 bytes per pair that may overlap and crowd that it is in, and per pair
    that does and line of its page; and what template lines cost.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     settings = OverlapSettings(chunkings=("2-lines",), thresholds=("3",))
    ...     found = p | ReadPages("crawl/*.jsonl") | FindOverlap(settings)
    ...     rows = found | AsRows("page_overlap")
    ...     _ = rows | beam.Map(lambda row: print(row.url_a, row.url_b, row.containment_a))
    http://mirror.example/story http://news.example/story 0.8
    """

    ignores_templates = True
    grows = True

    def __init__(
        self, settings: OverlapSettings | None = None,
        boilerplate: BoilerplateSettings | None = None,
    ) -> None:
        super().__init__()
        self.settings = given_or_default(settings, OverlapSettings, self)
        self.boilerplate = given_or_default(boilerplate, BoilerplateSettings, self)

    @classmethod
    def of(cls, settings: Settings) -> "FindOverlap":
        return cls(settings.overlap, settings.boilerplate)

    def reads(self) -> Reads:
        columns = {column for chunking in chunkings_of(self.settings)
                   for column in chunking.columns}
        return Reads(frozenset((LINES, *({TOKENS, PAYLOAD} & columns))), text=True)

    def find(self, pages: Pages) -> Found:
        settings, sides = self.settings, pages.sides
        read = pages.rows(page_rows, settings, sides)
        bits = pages.plan.shuffle.counter_bits(2, 27)
        repeated = read.tagged(KEYS).fold(FindRepeats(("key",), bits))
        new = sides.with_new(read, "page").map(all_keys, settings).fold(
            FindKeys(("key",), bits)) if sides.are_two else None
        sets = read.stream("whole", exact_sets, order="page")
        copies = sets.map(copy_rows, settings, sides)
        centres = copies.tagged(CENTRES).reduce(
            "unit", {"host": "any", **dict.fromkeys(
                ("members", "new", *size_names(len(settings.chunkings))), "sum")})
        copied = sides.sets_with_new(copies, ("centre", "page"), "centre")
        fingerprints = sets.map(fingerprint_rows, settings, repeated, new)
        posted = fingerprints.stream(KEY, postings, settings, order="unit")
        hosts = (read.tagged(HOSTS) + fingerprints.tagged(HOSTS) + posted.tagged(HOSTS)).group(
            "unit", host_table, len(settings.chunkings), order="kind")
        pairs = sides.with_new(
            self._overlapping(posted, posted.tagged(CROWDED), sides), "unit", "other")
        known = with_both(pairs, centres)
        related = with_both(self._overlapping(
            posted.tagged(SERVERS) + self._crowds_of_hosts(posted, read),
            posted.tagged(SERVER_CROWDS)), hosts).map(related_hosts, settings)
        # Facts come late, so they are waited for only where there is a baseline.
        gone = with_own_lines(known if sides.are_two else pairs, pages, self.boilerplate).map(
            reports.neighbours, settings.skip).stream(
            "chunking", reports.dropped, order=("page", "near"))
        firsts = first_pages(sets, read.tagged(DECLARED).keys("named"), sides)
        gone = gone.join(firsts.map(as_because), "because", because_of_first)
        skipped = sides.with_new(sets.map(member_rows), "page").join(
            [gone, firsts], "centre", reports.skippable, settings)
        return Found({
            "page_overlap": known.map(page_overlap, settings),
            "server_overlap": related,
            "exact_copies": copied.join(
                related.tagged(ALIASES), HOST_PAIR, exact_copies, other_reducing={}),
            "replicas": reports.replicas(centres, known, settings),
            "skippable": skipped,
            "crawl_savings": skipped.tagged(reports.SAVINGS).reduce(
                ("chunking", "host"), dict.fromkeys(reports.SAVED, "sum")),
            "popular_collections": popular_collections(sets, known, settings, sides),
        }, sets={"copies": copied.map(set_rows)})

    def _overlapping(self, lists: Rows, crowded: Rows, sides: Sides = ONE_SIDE) -> Rows:
        """Pairs of pages of these sides, or of hosts, by their postings and the rows of crowds."""
        thresholds = tuple(
            rule(chunking, self.settings) for chunking in chunkings_of(self.settings)
            for rule in (page_threshold, server_threshold))
        iceberg = self.settings.method == "iceberg"
        return overlapping(counted_pairs(lists, thresholds, iceberg, sides), crowded, thresholds)

    def _crowds_of_hosts(self, posted: Rows, read: Rows) -> Rows:
        """Postings of crowds of hosts, in the order of their names."""
        named = posted.tagged(SERVER_CROWDS).join(
            read.tagged(HOSTS), "unit", with_names, other_reducing={"name": "any"})
        return named.stream(KEY, crowd_postings, order="name")
