"""The tables of evaluation items that occur in a corpus."""

from beam_reuse.io.results.tables import SPANS, number, page, share, table, text

CONTAMINATION = table(
    "contamination",
    eval=text, id=text, field=text, url=page, share=share, grams=number, spans=SPANS,
    item_spans=SPANS,
)
CONTAMINATED_PAGES = table(
    "contaminated_pages", url=page, share=share, items=number, tokens=number, page_share=share)
CONTAMINATED_ITEMS = table(
    "contaminated_items",
    eval=text, id=text, field=text, share=share, found=share, grams=number, pages=number, url=page,
    text=text,
)
EVALUATIONS = table(
    "evaluations",
    eval=text, rows=number, rejected=number, items=number, too_short=number, prompts=number,
    compared=number, contaminated=number,
)
EVAL_REJECTS = table("eval_rejects", eval=text, row=number, reason=text, detail=text)

TABLES = (CONTAMINATION, CONTAMINATED_PAGES, CONTAMINATED_ITEMS, EVALUATIONS, EVAL_REJECTS)
