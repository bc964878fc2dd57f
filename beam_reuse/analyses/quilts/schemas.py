"""The tables of quilts."""

from beam_reuse.io.results.tables import SPANS, number, share, table, text

QUILTS = table(
    "quilts",
    url=text, gram_size=number, max_pages_per_gram=number, min_sources=number,
    min_patch_fraction=share, variant=text, min_source_share=share, grams=number,
    patch_grams=number, patch_fraction=share, sources=number, linked_page_share=share,
    linked_domain_share=share, copies=number, covered=share,
)
QUILT_SOURCES = table(
    "quilt_sources",
    url=text, gram_size=number, max_pages_per_gram=number, min_sources=number,
    min_patch_fraction=share, variant=text, min_source_share=share, rank=number, source_url=text,
    grams=number, share=share, linked=text, spans=SPANS,
)

TABLES = (QUILTS, QUILT_SOURCES)
