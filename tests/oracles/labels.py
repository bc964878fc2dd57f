"""Which labels are distinctive, by the definition."""

from collections import defaultdict

from beam_reuse.declaring.settings import Settings
from tests.oracles import reuse
from tests.oracles.crawl import Capture, domain

Key = tuple[str, str, str | None]
"""(hash, kind, source URL)"""


def domains_of(sources: set[str | None]) -> set[str]:
    """Registered domains of sources; a folder is none, what is no URL is one by itself."""
    return {reuse.name_of(source) for source in sources
            if source and not source.startswith("file:")}


def pages_without_labels(rows: dict[Key, tuple], kept: dict[Key, tuple]) -> dict[str, int]:
    """Sources of chunks none of which is kept, with the number of these."""
    lost: dict[str, int] = defaultdict(int)
    for _, kind, source in rows:
        if kind == "chunk" and source and not any(
                key[1:] == ("chunk", source) for key in kept):
            lost[source] += 1
    return dict(lost)


def distinctive(
    rows: dict[Key, tuple], background: dict[str, Capture], settings: Settings, limit: int,
) -> tuple[dict[Key, tuple], int, int]:
    """Rows of labels with the number of their domains in front; without chunks whose sources are on
    several domains, and without those that are on more than `limit` hosts of other domains; and how
    many were left out for the one and the other."""
    sources: dict[tuple[str, str], set[str | None]] = defaultdict(set)
    for sha1, kind, source in rows:
        sources[sha1, kind].add(source)
    hosts: dict[str, set[str]] = defaultdict(set)
    for o in reuse.occurrences(background, settings)["chunk"]:
        hosts[o.sha1].add(reuse.host_of(background[o.page]))
    several, elsewhere = set(), set()
    for (sha1, kind), urls in sources.items():
        own = domains_of(urls)
        if kind == "chunk" and len(own) > 1:
            several.add(sha1)
        elif kind == "chunk" and sum(domain(host) not in own for host in hosts[sha1]) > limit:
            elsewhere.add(sha1)
    kept = {
        key: (max(len(domains_of(sources[key[:2]])), any(sources[key[:2]])) or None, *rest)
        for key, rest in rows.items()
        if key[1] == "file" or key[0] not in several | elsewhere}
    return kept, len(several), len(elsewhere)
