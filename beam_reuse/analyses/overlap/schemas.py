"""The tables of overlap."""

from beam_reuse.io.results.tables import flag, maybe, number, page, pages, share, table, text

EXACT_COPIES = table("exact_copies", centre=page, url=page, cause=maybe(text),
                     same_ip=maybe(flag))
PAGE_OVERLAP = table(
    "page_overlap",
    chunking=text, url_a=page, url_b=page, shared=number, containment_a=share,
    containment_b=share,
)
SERVER_OVERLAP = table(
    "server_overlap",
    chunking=text, host_a=text, host_b=text, shared=number, containment_a=share,
    containment_b=share, relation=text,
)
REPLICAS = table("replicas", chunking=text, copies=number, pages=number)
SKIPPABLE = table(
    "skippable", url=page, chunking=text, because_of=page, host=text, bytes=number,
    containment=share,
)
CRAWL_SAVINGS = table(
    "crawl_savings",
    chunking=text, host=text, pages=number, redundant_pages=number, bytes=number,
    redundant_bytes=number,
)
POPULAR_COLLECTIONS = table(
    "popular_collections",
    prefix=text, hosts=number, pages=number, bytes=number, sample_urls=pages,
)

TABLES = (
    EXACT_COPIES, PAGE_OVERLAP, SERVER_OVERLAP, REPLICAS, SKIPPABLE, CRAWL_SAVINGS,
    POPULAR_COLLECTIONS,
)
