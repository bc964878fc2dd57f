"""The tables of near-duplicates."""

from beam_reuse.io.results.tables import flag, maybe, number, page, share, table, text

IDENTITY_SETS = table("identity_sets", representative=page, url=page)
NEAR_DUPLICATES = table(
    "near_duplicates",
    url_a=page, url_b=page, b_similarity=number, c_similarity=number, same_site=flag, b=flag,
    c=flag, combined=flag, hybrid=flag,
)
NEAR_DUPLICATE_CLUSTERS = table("near_duplicate_clusters", algorithm=text, cluster=page, url=page)
NEAR_DUPLICATE_DEGREES = table(
    "near_duplicate_degrees", algorithm=text, degree=number, pages=number
)
SITE_PAIRS = table("site_pairs", algorithm=text, site_a=text, site_b=text, pairs=number)
KEEP = table(
    "keep", url=page, keep=flag, because_of=maybe(page), reason=maybe(text),
    containment=maybe(share),
)
SIMILAR = ("equal-signatures", "pair")
"""Reasons in `keep` of pages that are dropped because signatures agree, not their words."""
FAMILIES = table(
    "families", family=page, url=page, domain=text, alike=text, similarity=share
)

TABLES = (
    IDENTITY_SETS, NEAR_DUPLICATES, NEAR_DUPLICATE_CLUSTERS, NEAR_DUPLICATE_DEGREES, SITE_PAIRS,
    KEEP, FAMILIES,
)
