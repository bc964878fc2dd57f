"""A corpus without what is superfluous: which pages go, and the shards that the others are in.

Pages stay in the order of the input. What is written is cut into shards where the bytes before a
page pass a multiple of the size of a shard, so shards follow from pages alone, whatever ranges and
workers read them. Records travel nowhere: whoever writes a shard reads them from the parts.
"""

from collections.abc import Mapping

from beam_reuse.analyses.boilerplate.lines import template_lines
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.analyses.clean import claims, fates, quilts, shards, strips
from beam_reuse.analyses.clean.earlier import EarlierResult, numbered
from beam_reuse.analyses.clean.settings import CleanSettings
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import TEXT, columns
from beam_reuse.core.features import LINES, PAYLOAD, STORED, UNSTORED, Reads
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.corpus.records import STORED_FOR
from beam_reuse.io.files import join
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.rows import Rows
from beam_reuse.rows.nodes import by_number

# What is dropped for itself: the table that has its URLs, and which of them.
_BY_URL = {"flagged": ("page_reuse", claims.flagged_urls)}


class CleanCorpus(Analysis):
    """Pages, and what analyses found -> `removed`; `write` gives receipts of shards, too.

    Exact: every page is in one shard or in `removed`. Cost: rows of some 30 bytes of dropped pages
    travel up to six times; what stays is read from parts and written once. What is taken out of
    pages costs as `strips` and `changing` say; what is left of them is written twice.
    """

    def __init__(
        self, settings: CleanSettings | None = None, boilerplate: BoilerplateSettings | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings or CleanSettings()
        self.boilerplate = boilerplate or BoilerplateSettings()

    @classmethod
    def of(cls, settings: Settings) -> "CleanCorpus":
        return cls(settings.clean, settings.boilerplate)

    def reads(self) -> Reads:
        if not self.settings.strip:
            return Reads(frozenset((STORED, UNSTORED)))
        lines = (LINES,) if self.settings.strips_lines else ()
        return Reads(frozenset((STORED, PAYLOAD, *lines)), text=bool(lines))

    @property
    def stored(self) -> tuple[str, ...]:
        """Of files of which formats records are kept as they are stored (`ReadSettings`)."""
        return STORED_FOR[self.settings.to]

    def find(self, pages: Pages) -> Found:
        """What lists of URLs remove."""
        return self.follow(pages, Found({}))

    def follow(self, pages: Pages, found: Found) -> Found:
        return Found({"removed": self._fates(pages, found).tagged(fates.REMOVED)})

    def write(self, pages: Pages, found: Found, folder: str) -> tuple[Found, Rows]:
        """The same, and receipts of the shards, which are written below `folder`."""
        decided = self._fates(pages, found)
        layout = decided.fold(shards.LayOut(self.settings.shard_bytes))
        receipts = decided.map(shards.cut, layout).into_buckets(
            by_number, "file", order=("file", "range"), kernel=shards.write,
            kernel_args=(folder, layout))
        return Found({"removed": decided.tagged(fates.REMOVED)}), receipts

    def compared(self, pages: Pages) -> Rows:
        """No rows: fails where an earlier result decides that is not of these pages."""
        if not self.settings.result:
            return pages.plan.nothing()
        return EarlierResult(self.settings.result).compared(pages)

    def _fates(self, pages: Pages, found: Found) -> Rows:
        """What stays of each part, with REMOVED beside it."""
        if self.settings.result:
            found = EarlierResult(self.settings.result).found(
                pages, self.settings.tables_that_decide)
        dropped = self.dropped(pages, found)
        if self.settings.flag:
            dropped = dropped.join(pages.names.map(claims.names_of_others), "because",
                                   claims.with_name)
        placed = dropped.join(pages.rows(fates.places, dropped.keys("page")), "page",
                              fates.with_place)
        return pages.with_parts(
            placed, fates.fates, self.settings, join(pages.spill, "changes"),
            others=(self._lines(pages, found, placed), self._spans(pages, found)))

    def _lines(self, pages: Pages, found: Found, dropped: Rows) -> Rows:
        """The lines that go (`strips.LINES`)."""
        every = pages.plan.rows([], "no lines", strips.LINES)
        if "boilerplate" in self.settings.strip:
            every += self._templates(pages, found)
        if "frequent-lines" in self.settings.strip:
            every += strips.frequent_lines(pages, dropped, self.settings.strip_pages,
                                           everywhere=self.settings.flag)
        return every

    def _templates(self, pages: Pages, found: Found) -> Rows:
        if not self.settings.result:
            return template_lines(pages, self.boilerplate).map(strips.of_templates)
        known = found.tables["boilerplate"]
        here = pages.rows(strips.lines_here, known.keys(("host", "line")))
        return here.join(known, ("host", "line"), strips.known_lines)

    def _spans(self, pages: Pages, found: Found) -> Rows:
        """The chunks that go (`strips.SPANS`)."""
        if "matched" not in self.settings.strip:
            return pages.plan.rows([], "no chunks", strips.SPANS)
        matched = found.tables["matched_chunks"]
        spans = matched if self.settings.result else matched.map(strips.spans_of)
        numbered_spans = numbered(pages, spans, "url").map(strips.of_page)
        return numbered_spans.join(
            pages.rows(fates.places, numbered_spans.keys("page")), "page", strips.with_place)

    def dropped(self, pages: Pages, found: Found) -> Rows:
        """A claim (see `claims`) for each page that is dropped."""
        tables = found.tables
        own = self._for_themselves(pages, found)
        if self.settings.drops("quilts"):
            own += self._quilts(pages, tables, own)
        near = pages.plan.nothing()
        if self.settings.drops("near-duplicates"):
            near = tables["keep"].map(claims.near_duplicates)
            if own.outputs:
                near = near.join(own.map(claims.gone), "because", claims.for_pages_that_stay,
                                 other_reducing={})
        every = own + near
        if self.settings.drops("exact-copies"):
            members = tables["exact_copies"].map(claims.copies).join(
                every.map(claims.against), "page", claims.with_fate, other_reducing={})
            every += members.group("centre", claims.exact_copies, order="page")
        return every.group("page", claims.first_claims, order=("reason", "because"))

    def _quilts(self, pages: Pages, tables: Mapping[str, Rows], own: Rows) -> Rows:
        """Claims against quilts whose sources have what they say. All of these stay: none has
        another claim, may go as a quilt itself, or is dropped by `keep`."""
        some = tables["quilts"].map(quilts.covered_quilts, self.settings.min_covered).join(
            tables["quilt_sources"].map(quilts.sources_of_quilts), quilts.KEY, quilts.with_sources)
        some = numbered(pages, numbered(pages, some, "url"), "because")
        going = some.map(quilts.may_go) + own.map(claims.gone)
        if self.settings.drops("near-duplicates"):
            going += tables["keep"].map(claims.near_duplicates).map(claims.gone)
        without = some.join(going, "because", quilts.without_a_source, other_reducing={})
        return some.map(quilts.as_pages).join(
            without, "page", quilts.claims, reducing={"share": "max"}, other_reducing={})

    def _for_themselves(self, pages: Pages, found: Found) -> Rows:
        """Claims against pages that go whatever others are there, but for quilts."""
        by_url = pages.plan.nothing()
        for what, (table, kernel) in _BY_URL.items():
            if self.settings.drops(what):
                by_url += found.tables[table].map(kernel)
        if self.settings.tables:
            by_url += pages.plan.rows(
                [Block({"path": VarBytes.from_list([path.encode()])})
                 for path in self.settings.tables], "lists of URLs",
                columns(path=TEXT)).map(claims.listed_urls)
        own = pages.plan.nothing()
        if by_url.outputs:
            own += by_url.join(pages.names, "url", claims.with_pages, reducing={"reason": "min"})
        if self.settings.drops("contaminated"):
            own += found.tables["contaminated_pages"].map(claims.contaminated)
        return own
