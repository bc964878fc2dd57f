"""What Ardi and Heidemann report of these experiments, to be shown beside one's own values.

Their site was blog.archive.org: 4,626 pages, 48 chunks per page on average, 21,000 distinct
chunks, in Common Crawl (2.86e9 files, 40.5e9 chunks).
"""

PAGE_THRESHOLD = 0.144
NEIGHBOURHOOD_THRESHOLD = 0.163

# Mutations tolerated, as multiples of the mean chunks per page. For neighbourhoods they give
# one range for all ways; deleting was tolerated to the end of their range.
_TOLERANCES = {
    ("add", "page", "blind"): "3.4", ("add", "page", "expert"): "4.5",
    ("change", "page", "blind"): "1.8", ("change", "page", "expert"): "2.0",
    ("add", "neighbourhood", "blind"): "4.4-5.4",
    ("add", "neighbourhood", "expert"): "4.4-5.4",
    ("change", "neighbourhood", "blind"): "4.4-5.4",
    ("change", "neighbourhood", "expert"): "4.4-5.4",
    ("delete", "page", "blind"): "all", ("delete", "page", "expert"): "all",
}


def tolerance(way: str, level: str, labels: str) -> str:
    """The papers' tolerance as they print it; '' where they give none."""
    return _TOLERANCES.get((way, level, labels), "")
