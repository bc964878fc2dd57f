"""Evaluation items in a corpus: which pages hold them, how much of them, and where.

Grams of items go out to all pages as a filter. What passes it is confirmed for some pages at a
time: which of the grams are known, of which texts, and which items these are. Then everything about
these pages is there at once. Grams that very many items share are prompts, and are left out first.
"""

from beam_reuse.analyses.decontaminate import items, matching
from beam_reuse.analyses.decontaminate.settings import DecontaminateSettings
from beam_reuse.core.features import TOKENS, Reads
from beam_reuse.core.settings import given_or_default
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages


class FindContamination(Analysis):
    """Pages -> `contamination`, `contaminated_pages`, `contaminated_items`, `evaluations` and
    `eval_rejects`.

    Exact, as far as 64-bit fingerprints tell grams apart. Cost: some 3 ns per token of the corpus,
    a row of 40 bytes for each place of a page at which a gram of an item begins. Memory: a filter
    of 4 bytes for each gram of an item, at most a sixteenth of a worker's; the rest does not grow
    with corpus or evaluation sets.

    >>> with beam.Pipeline(runner=FnApiRunner()) as p:
    ...     settings = DecontaminateSettings(against=("items.jsonl",))
    ...     found = p | ReadPages("crawl/*.jsonl") | FindContamination(settings)
    ...     rows = found | AsRows("contamination")
    ...     _ = rows | beam.Map(lambda row: print(row.url, row.id, row.share))
    http://leak.example/ q1 1.0
    """

    def __init__(self, settings: DecontaminateSettings | None = None) -> None:
        super().__init__()
        self.settings = given_or_default(settings, DecontaminateSettings, self)

    @classmethod
    def of(cls, settings: Settings) -> "FindContamination":
        return cls(settings.decontaminate)

    def reads(self) -> Reads:
        return Reads(frozenset((TOKENS,)), text=True)

    def find(self, pages: Pages) -> Found:
        settings, plan, most = self.settings, pages.plan, self.settings.max_items_per_gram
        # What is looked for?
        files = plan.rows(items.file_rows(settings), "evaluation files", items.FILES)
        read = files.map(items.read_items, settings)
        kept = read.group("text", items.same_texts, most, limit=most + 1)
        grams = kept.tagged(items.TEXTS).map(items.gram_rows, settings).group(
            "gram", items.without_prompts, most, limit=most + 1)
        counted = grams.map(items.gram_counts)
        described = kept.join(counted.reduce("text", {"total": "sum"}), "text", items.with_totals)
        wanted = grams.fold(items.FilterGrams(plan.shuffle.bucket_budget // 2),
                            counted.total("total"))
        # Where may it be, and is it there?
        hits = pages.rows(matching.find_hits, settings, wanted)
        confirmed = hits.map(matching.grams_of_blocks).join(
            grams, "gram", matching.confirm, order="block", reducing={}, other_order="text")
        asked = confirmed.map(matching.texts_of_blocks).join(
            described, "text", matching.items_of_blocks, order="block", reducing={})
        found = hits.join((confirmed, asked), "block", matching.match, settings,
                          order=("page", "at"))
        # Which items are found, and on which page most of them?
        best = found.tagged(matching.TEXTS).reduce("text", matching.BEST_OF)
        shown = best.join(
            (described, confirmed.tagged(matching.FOUND).reduce("text", {"found": "sum"})),
            "text", matching.contaminated_items)
        counts = (read.tagged(items.COUNTS) + described.tagged(items.COUNTS)
                  + shown.tagged(items.COUNTS))
        return Found({
            "contamination": found,
            "contaminated_pages": found.tagged(matching.PAGES),
            "contaminated_items": shown,
            "evaluations": counts.reduce("eval", items.SUMS).map(items.evaluation_rows),
            "eval_rejects": read.tagged(items.REJECTS),
        })
