"""Tables that screens show and a result does not have: made of one of its tables by DuckDB, and
sorted, filtered and paged like any other."""

from collections.abc import Mapping
from typing import NamedTuple


class Derived(NamedTuple):
    """`sql` makes it of the table `of`; there is none in results without that table."""

    of: str
    sql: str


def _site(url: str) -> str:
    """SQL of the site of a canonical URL, as `core.urls.site_of` has it."""
    host = f"regexp_extract({url}, '://(\\[[^]]*\\]|[^/:?]*)', 1)"
    address = f"(starts_with({host}, '[') or regexp_full_match({host}, '[0-9]+(\\.[0-9]+){{3}}'))"
    dots = f"length({host}) - length(replace({host}, '.', ''))"
    return (f"case when {dots} <= 1 or {address} then {host} "
            f"else substr({host}, strpos({host}, '.') + 1) end")


_FAMILIES = """
    select family, count(distinct m.domain) as domains, count(*) as pages,
        string_agg(distinct alike, ', ' order by alike) as alike, min(similarity) as least,
        avg(similarity) as mean, min(m.url) filter (where m.domain <> named.domain) as example
    from families m join (select url, domain from families where url = family) named
        on named.url = m.family
    group by family"""
_CHUNKS = """
    select *, length(regexp_replace(text, '<[^>]*(>|$)|[^\\p{L}]', '', 'g')) as letters
    from frequent_chunks"""
_LINES = """
    select fingerprint, min(text) as text, count(*) as hosts, sum(pages)::bigint as pages,
        length(min(text)) as letters, max(share) as share
    from boilerplate group by fingerprint"""
_OVERLAP = f"""
    select *, greatest(containment_a, containment_b) as larger,
        {_site('url_a')} = {_site('url_b')} as same_site
    from page_overlap"""

DERIVED: Mapping[str, Derived] = {
    "by_chunk": Derived("frequent_chunks", _CHUNKS),
    "by_family": Derived("families", _FAMILIES),
    "by_line": Derived("boilerplate", _LINES),
    "overlapping": Derived("page_overlap", _OVERLAP),
}
