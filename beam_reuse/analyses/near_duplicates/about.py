"""What near-duplicates are. No Beam."""

from beam_reuse.analyses.near_duplicates.settings import (
    ALGORITHMS,
    KEEP_RULES,
    NearDuplicateSettings,
)
from beam_reuse.declaring.about import About
from beam_reuse.declaring.kinds import SHARE, WHOLE, choice, optional
from beam_reuse.declaring.option import option

NEAR_DUPLICATES = About(
    name="near-duplicates",
    settings=NearDuplicateSettings,
    transform="beam_reuse.analyses.near_duplicates.find:FindNearDuplicates",
    tables="beam_reuse.analyses.near_duplicates.schemas:TABLES",
    findings="beam_reuse.analyses.near_duplicates.findings:findings",
    report="beam_reuse.analyses.near_duplicates.report:near_duplicates",
    question="which pages are nearly the same",
    help="""\
  keep                  each page: to be kept, or dropped for which kept page
  near_duplicates       pairs of pages with two similarities, and which algorithms return them
  identity_sets         pages with exactly the same words
  families              pages on different domains made of the same thing: kits, link farms, parked
  near_duplicate_clusters, near_duplicate_degrees, site_pairs   what hangs together, how much""",
    options=(
        option("shingle-size", WHOLE,
               "tokens of a shingle (algorithm B)"),
        option("min-values", WHOLE,
               "smallest hashes taken of a page's shingles"),
        option("supershingles", WHOLE,
               "fingerprints these are cut into"),
        option("b-threshold", WHOLE,
               "B-similar: so many supershingles agree"),
        option("projection-bits", WHOLE,
               "random projections of a page's tokens (algorithm C)"),
        option("c-threshold", WHOLE,
               "C-similar: so many projections agree; below some 360 of 384 ever more pairs merely "
               "share a language or a subject, below 354 all pages are compared with all"),
        option("combined-threshold", WHOLE,
               "combined: B-similar, and so many projections agree"),
        option("max-group", WHOLE,
               "larger groups of candidates are compared in part: each page with the group's "
               "smallest URL and the next 10"),
        option("keep-by", choice(*ALGORITHMS),
               "the algorithm by whose pairs pages are dropped (table keep)"),
        option("keep-rule", choice(*KEEP_RULES),
               "which of similar pages is kept; plainest-url: what another of them declares "
               "canonical, then without a query, then the shorter"),
        option("min-containment", optional(SHARE),
               "drop a page only if that share of its 5-grams of words occurs on the page that is "
               "kept for it (column containment of keep)"),
    ),
    counts={
        "no-tokens":
            "pages without words: code, data, no text; they are in no pair and always kept",
        "pairs-not-compared":
            "of more than --max-group pages with a key in common each is compared with the "
            "smallest URL and the ten after it",
        "more-than-ten-neighbours":
            "pages with more than ten similar pages before them by --keep-rule: --min-containment "
            "compares them with the first ten",
        "pairs-not-listed":
            "of more than ten pages of a site with equal signatures each is paired with the "
            "smallest URL alone",
    },
)
