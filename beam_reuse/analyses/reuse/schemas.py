"""The tables of discovery and of detection."""

from beam_reuse.io.results.tables import (
    TIMESTAMP,
    flag,
    maybe,
    number,
    pages,
    sha1,
    share,
    table,
    text,
)

FREQUENT_FILES = table(
    "frequent_files",
    sha1=sha1, occurrences=number, hosts=number, domains=number, bytes=number, first_url=text,
    first_timestamp=maybe(TIMESTAMP), sample_urls=pages,
)
FREQUENT_CHUNKS = table(
    "frequent_chunks",
    sha1=sha1, occurrences=number, pages=number, hosts=number, domains=number, bytes=number,
    text=text, first_url=text, first_timestamp=maybe(TIMESTAMP), sample_urls=pages,
)
FREQUENCY_HISTOGRAM = table(
    "frequency_histogram", kind=text, occurrences=number, distinct=number
)
MATCHED_FILES = table(
    "matched_files", url=text, sha1=sha1, source_url=maybe(text), sources=number, own=flag
)
MATCHED_CHUNKS = table(
    "matched_chunks",
    url=text, position=number, start=number, end=number, sha1=sha1, source_url=maybe(text),
    sources=number, own=flag, score=maybe(number),
)
PAGE_REUSE = table(
    "page_reuse",
    url=text, chunks=number, stop_chunks=number, matching=number, own_matching=number,
    distinct_matching=number, contains=maybe(share), file_match=flag, flagged=flag,
)
NEIGHBOURHOODS = table(
    "neighbourhoods",
    prefix=text, depth=number, pages=number, chunks=number, matching=number,
    own_matching=number, distinct_matching=number, badness=maybe(share),
    mean_contains=maybe(share), flagged=flag,
)
NEIGHBOURHOOD_SOURCES = table(
    "neighbourhood_sources", prefix=text, source=text, matching=number, distinct_matching=number
)
NILSIMSA_SWEEP = table(
    "nilsimsa_sweep", threshold=number, matching=number, exact=number, pages=number
)

DISCOVERED = (FREQUENT_FILES, FREQUENT_CHUNKS, FREQUENCY_HISTOGRAM)
DETECTED = (
    MATCHED_FILES, MATCHED_CHUNKS, PAGE_REUSE, NEIGHBOURHOODS, NEIGHBOURHOOD_SOURCES,
    NILSIMSA_SWEEP,
)
