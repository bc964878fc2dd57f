"""The table of the analysis."""

from beam_reuse.io.results.tables import number, page, table, text

SHARED_IMAGES = table("shared_images", image=text, hosts=number, pages=number, first_page=page)

TABLES = (SHARED_IMAGES,)
