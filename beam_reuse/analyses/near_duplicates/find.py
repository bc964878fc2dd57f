"""Near-duplicate pages: signatures, pairs, clusters, degrees, and what to keep.

Pages with the same tokens are one set, of which the smallest URL goes on. Pages that may be
similar share a key; keys are counted first, coarsely, so that rows of keys that occur once do
not travel. Similarities are verified where pages meet.
"""

from math import ceil, sqrt

from beam_reuse.analyses.graphs import proof
from beam_reuse.analyses.graphs.clusters import components
from beam_reuse.analyses.graphs.containment import contained, paired_pages
from beam_reuse.analyses.graphs.keep import clusters_and_connected, kept
from beam_reuse.analyses.near_duplicates import candidates, comparisons, pair_rows
from beam_reuse.analyses.near_duplicates.definition import PageSigner, key_masks
from beam_reuse.analyses.near_duplicates.degrees import degrees
from beam_reuse.analyses.near_duplicates.equal_pages import (
    KNOWN,
    MEMBERS,
    SETS,
    STARS,
    distinct_pages,
)
from beam_reuse.analyses.near_duplicates.families import families, family_edges
from beam_reuse.analyses.near_duplicates.grams import gram_lists
from beam_reuse.analyses.near_duplicates.settings import ALGORITHMS, NearDuplicateSettings
from beam_reuse.analyses.near_duplicates.signatures import (
    COMMON,
    DECLARED,
    SITES,
    TOKENLESS,
    signature_rows,
)
from beam_reuse.core.features import TOKENS, Reads
from beam_reuse.core.settings import given_or_default
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.rows import Rows, Value

_PAIR = ("page_a", "page_b")
_SAME = dict.fromkeys(("b_similarity", "c_similarity", "site_a", "site_b", "star"), "any")


class FindNearDuplicates(Analysis):
    """Pages -> `identity_sets`, `near_duplicates`, `near_duplicate_clusters`,
    `near_duplicate_degrees`, `site_pairs`, `keep` and `families`. Counts pages without tokens, and
    pairs that were not compared or not listed.

    Exact where no group of candidates has more than `max_group` pages: then every pair that
    reaches a threshold is returned, save that of more than MOST_EQUAL pages of one site with both
    signatures equal each is paired with the smallest only, which is compared for all. Cost: some
    55 ns per token; a row of some 120 bytes per page and key that it shares with another.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     found = p | ReadPages("crawl/*.jsonl") | FindNearDuplicates()
    ...     rows = found | AsRows("near_duplicates")
    ...     _ = rows | beam.Map(lambda row: print(row.url_a, row.url_b, row.hybrid))
    http://mirror.example/story http://news.example/story True
    """

    ignores_templates = True
    grows = True

    def __init__(self, settings: NearDuplicateSettings | None = None) -> None:
        super().__init__()
        self.settings = given_or_default(settings, NearDuplicateSettings, self)

    @classmethod
    def of(cls, settings: Settings) -> "FindNearDuplicates":
        return cls(settings.near_duplicates)

    def reads(self) -> Reads:
        kept = frozenset() if self.settings.min_containment is None else frozenset((TOKENS,))
        return Reads(kept, text=True, signer=PageSigner(self.settings))

    def find(self, pages: Pages) -> Found:
        settings, sides = self.settings, pages.sides
        signed = self.signed(pages)
        distinct = signed.stream(
            "equal", distinct_pages, settings, signed.tagged(DECLARED).keys("url"),
            order=("identity", "page"))
        members, stars = distinct.tagged(MEMBERS), distinct.tagged(STARS)
        found = sides.with_new(
            stars + self.similar(distinct, self.shared_keys(signed)), *_PAIR)
        sets = sides.sets_with_new(distinct.tagged(SETS), ["page"], "representative")
        pairs = found.reduce(_PAIR, _SAME)
        connected = components(found.map(pair_rows.pair_edges, settings)
                               + family_edges(distinct.tagged(SETS), signed.tagged(COMMON), sides))
        keep_by = ALGORITHMS.index(settings.keep_by)
        known = members + distinct.tagged(KNOWN) + pairs.map(pair_rows.keep_edges, settings)
        clusters, similar, alone = clusters_and_connected(
            known, connected, len(ALGORITHMS), keep_by)
        clusters = sides.sets_with_new(clusters, ["page"], "kind", "cluster")
        decided = sides.with_new(kept(self.proven(pages, similar), sides) + alone, "page")
        return Found({
            "identity_sets": sets.map(pair_rows.set_table),
            "near_duplicates": pairs.map(pair_rows.pair_table, settings),
            "near_duplicate_clusters": clusters.map(pair_rows.cluster_table),
            "near_duplicate_degrees": degrees(pairs, stars, members, settings, sides),
            "site_pairs": pair_rows.site_pairs(pairs, signed.tagged(SITES), settings),
            "families": families(connected, pages, settings),
            "keep": decided.map(pair_rows.keep_table, settings)
            + signed.tagged(TOKENLESS).map(pair_rows.tokenless_table, settings),
        }, sets={"identity": sets.map(pair_rows.set_rows)})

    def signed(self, pages: Pages) -> Rows:
        """Signatures of new pages, and of those old ones that may be similar to one."""
        settings = self.settings
        if key_masks(settings) is None:  # any page may be
            return pages.rows(signature_rows, settings, pages.sides, None)
        return pages.sharing(
            signature_rows, settings, pages.sides, bits=pages.plan.shuffle.counter_bits(1, 26),
            keys=lambda new: new.map(candidates.counted_keys, settings))

    def proven(self, pages: Pages, similar: Rows) -> Rows:
        """Rows of similar pages, of whose edges those stay that prove that enough is kept."""
        least = self.settings.min_containment
        if least is None:
            return similar
        asked = proof.asked(similar, pages.sides)
        lists = pages.rows(gram_lists, paired_pages(asked))
        return proof.proven(similar, contained(asked, lists), least)

    def shared_keys(self, signed: Rows) -> Value:
        """Which keys of signatures may occur twice or more, and which too often."""
        bits = signed.plan.shuffle.counter_bits(1, 26)
        return signed.map(candidates.counted_keys, self.settings).fold(
            candidates.FindShared(bits, self.settings.max_group))

    def similar(self, pages: Rows, shared: Value) -> Rows:
        """Signatures of pages that are all different -> similar pairs, some more than once."""
        settings = self.settings
        by_key = pages.map(candidates.key_rows, settings, shared).stream(
            "key", comparisons.key_groups, settings, order="page")
        if key_masks(settings) is not None:
            return by_key
        return by_key + self.all_pairs(pages, shared)

    def all_pairs(self, pages: Rows, shared: Value) -> Rows:
        """Pairs that are similar by C, where no keys promise to find them all: every page with
        every other, in tiles. Pages in one crowd (more than `max_group` pages that agree in a wide
        piece) are compared by the rule for crowds alone.

        Quadratic: see docs/definitions.md for the cost of a pair.
        """
        settings, sides = self.settings, ceil(sqrt(2 * pages.plan.shuffle.buckets))
        crowds = pages.map(candidates.wide_rows, settings, shared).stream(
            "key", comparisons.crowd_groups, settings, order="page")
        tiles = pages.join(crowds.tagged(comparisons.CROWDED), "page", comparisons.tile_rows, sides,
                           other_reducing={"crowds": "sum"})
        return crowds + tiles.group("tile", comparisons.compare_tiles, settings,
                                    order=("side", "page"))
