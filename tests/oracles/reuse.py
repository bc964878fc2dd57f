"""Discovery and detection by their definitions, with dicts, sets and fractions."""

import datetime
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isqrt
from pathlib import Path

from beam_reuse.core.stop_chunks import builtin_chunk_hashes, builtin_file_hashes
from beam_reuse.declaring.settings import Settings
from tests.oracles import chunks
from tests.oracles.crawl import Capture, Row, canonical, chunks_of, domain
from tests.oracles.tokens import tokens

ONE = 2**40
BACKGROUND = 1000  # values of which an average says what is usual
Labels = set[tuple[str, str, str | None, int | None]]
"""(kind, hash, source URL or None, on how many domains it occurs or None)"""
Sources = dict[tuple[str, str], dict[str, float]]
"""The sources of labels by kind and hash, each with the number of domains."""


@dataclass(frozen=True)
class Occurrence:
    """A file or chunk in a page that counts."""

    sha1: str
    page: str
    position: int
    start: int
    end: int


def stop_hashes(settings: Settings) -> tuple[set[str], set[str]]:
    """Hashes of files and of chunks that do not count."""
    listed = {line for path in settings.stops.lists for line in Path(path).read_text().split()}
    if not settings.stops.builtin:
        return listed, listed
    return (listed | {h.tobytes().hex() for h in builtin_file_hashes()},
            listed | {h.tobytes().hex() for h in builtin_chunk_hashes(settings.chunks)})


def occurrences(pages: dict[str, Capture], settings: Settings) -> dict[str, list[Occurrence]]:
    """All files and all chunks that count, pages in order of their names."""
    file_stops, chunk_stops = stop_hashes(settings)
    found: dict[str, list[Occurrence]] = {"file": [], "chunk": []}
    for name in sorted(pages):
        capture = pages[name]
        if capture.sha1 not in file_stops:
            found["file"].append(Occurrence(capture.sha1, name, 0, 0, len(capture.body)))
        for position, (sha1, start, end, length) in enumerate(chunks_of(capture, settings)):
            chunk = Occurrence(sha1, name, position, start, end)
            least = settings.stops
            if (length >= least.min_chunk_bytes and sha1 not in chunk_stops
                    and (not least.min_chunk_tokens
                         or words_of(chunk, pages, settings) >= least.min_chunk_tokens)):
                found["chunk"].append(chunk)
    return found


def words_of(chunk: Occurrence, pages: dict[str, Capture], settings: Settings) -> int:
    """How many tokens the text of a chunk has."""
    return len(tokens(object_bytes("chunk", chunk, pages, settings).decode("utf-8", "replace")))


def object_bytes(
    kind: str, at: Occurrence, pages: dict[str, Capture], settings: Settings,
) -> bytes:
    """The bytes of a file, or of a chunk as it is hashed."""
    capture = pages[at.page]
    if kind == "file":
        return capture.body
    whole = chunks.source(capture.body, capture.kind, settings.chunks)
    return chunks.hashed(whole[at.start : at.end], settings.chunks)


def host_of(capture: Capture) -> str:
    return canonical(capture.url).split("/")[2].split(":")[0]


def discovery(pages: dict[str, Capture], settings: Settings) -> dict[str, list[Row]]:
    """The tables frequent_files, frequent_chunks, frequency_histogram and labels."""
    tables: dict[str, list[Row]] = {"frequency_histogram": [], "labels": []}
    for kind, found in occurrences(pages, settings).items():
        places = defaultdict(list)
        for occurrence in found:
            places[occurrence.sha1].append(occurrence)
        rows = _frequent(kind, places, len(found), pages, settings)
        tables[f"frequent_{kind}s"] = [
            {key: value for key, value in row.items() if kind == "chunk" or key not in
             ("text", "pages")} for row in rows]
        tables["labels"] += [
            {"sha1": r["sha1"], "kind": kind, "source_url": r["first_url"], "domains": r["domains"],
             "bytes": r["bytes"], "text": (r["text"] or None) if kind == "chunk" else None}
            for r in rows]
        histogram = Counter(map(len, places.values()))
        tables["frequency_histogram"] += [
            {"kind": kind, "occurrences": n, "distinct": d} for n, d in sorted(histogram.items())]
    tables["frequency_histogram"].sort(key=lambda r: (r["kind"], r["occurrences"]))
    tables["labels"].sort(key=lambda r: (r["sha1"], r["kind"]))
    return tables


def _frequent(kind: str, places: dict[str, list[Occurrence]], total: int,
              pages: dict[str, Capture], settings: Settings) -> list[Row]:
    wanted = settings.discovery
    threshold = wanted.file_threshold if kind == "file" else wanted.chunk_threshold
    if threshold is None:
        ratio = 2_860_000 if kind == "file" else 405_000
        threshold = 1 if wanted.top else max(10, total // ratio)
    rows = [_describe(kind, found, pages, settings) for found in places.values()
            if len(found) > threshold]
    rows = [row for row in rows if row["hosts"] >= wanted.min_hosts]
    if wanted.top:
        rows = sorted(rows, key=lambda r: (-r["occurrences"], r["sha1"]))[: wanted.top]
    return sorted(rows, key=lambda r: r["sha1"])


def _describe(
    kind: str, found: list[Occurrence], pages: dict[str, Capture], settings: Settings,
) -> Row:
    names = sorted({o.page for o in found})
    hosts: dict[str, str] = {}
    for name in names:
        hosts.setdefault(host_of(pages[name]), name)
    never = datetime.datetime.max.replace(tzinfo=datetime.UTC)
    first = min(names, key=lambda name: (pages[name].time or never, name))
    body = object_bytes(kind, found[0], pages, settings)
    return {
        "sha1": found[0].sha1, "occurrences": len(found), "pages": len(names),
        "hosts": len(hosts), "domains": len({domain(host) for host in hosts}),
        "bytes": len(body), "text": body.decode("utf-8", "replace")[:1000], "first_url": first,
        "first_timestamp": pages[first].time, "sample_urls": sorted(hosts.values())[:10],
    }


def found_labels(tables: dict[str, list[Row]]) -> Labels:
    """What discovery found, as labels."""
    return {(row["kind"], row["sha1"], row["source_url"], row["domains"])
            for row in tables["labels"]}


def detection(pages: dict[str, Capture], labels: Labels, settings: Settings,
              ) -> dict[str, list[Row]]:
    """matched_files, matched_chunks, page_reuse, neighbourhoods, neighbourhood_sources. What a page
    has of its own domain is listed and counts nowhere, if labels come from lists."""
    sources: Sources = {}
    for kind, sha1, source, domains in labels:
        of_label = sources.setdefault((kind, sha1), {})
        if source:
            of_label[source] = min(domains or inf, of_label.get(source, inf))
    found = occurrences(pages, settings)
    files = [o for o in found["file"] if ("file", o.sha1) in sources]
    matched = [o for o in found["chunk"] if ("chunk", o.sha1) in sources]

    def own(kind: str, o: Occurrence) -> bool:
        return (bool(settings.detection.labels) and not settings.detection.count_own
                and is_own(canonical(pages[o.page].url), sources[kind, o.sha1]))

    of_page: dict[str, list[str]] = {name: [] for name in pages}
    owned: Counter[str] = Counter(o.page for o in matched if own("chunk", o))
    counted: Counter[str] = Counter(o.page for o in found["chunk"])
    for o in matched:
        if not own("chunk", o):
            of_page[o.page].append(o.sha1)
    share = {
        name: floor(Fraction(len(of_page[name]) * ONE, counted[name])) if counted[name] else None
        for name in pages
    }
    limit = threshold(share.values(), settings.detection.page_threshold,
                      bool(settings.detection.labels))
    tables = {
        "matched_files": [
            {"url": o.page, "sha1": o.sha1, "source_url": _strongest(sources["file", o.sha1]),
             "sources": len(sources["file", o.sha1]), "own": own("file", o)}
            for o in files],
        "matched_chunks": [
            {"url": o.page, "position": o.position, "start": o.start, "end": o.end,
             "sha1": o.sha1, "source_url": _strongest(sources["chunk", o.sha1]),
             "sources": len(sources["chunk", o.sha1]), "own": own("chunk", o)} for o in matched],
        "page_reuse": [
            {"url": name, "chunks": counted[name],
             "stop_chunks": len(chunks_of(pages[name], settings)) - counted[name],
             "matching": len(of_page[name]), "own_matching": owned[name],
             "distinct_matching": len(set(of_page[name])),
             "contains": len(of_page[name]) / counted[name] if counted[name] else None,
             "file_match": any(o.page == name and not own("file", o) for o in files),
             "flagged": above(share[name], limit)
             and counted[name] >= settings.detection.min_chunks
             and len(set(of_page[name])) >= settings.detection.min_matching}
            for name in sorted(pages)],
    }
    tables |= _neighbourhoods(pages, counted, of_page, owned, share, sources, settings)
    return tables


def is_own(url: str, sources: Iterable[str]) -> bool:
    """Whether a source is on the registered domain of a page; folders own nothing."""
    return not url.startswith("file:") and name_of(url) in {name_of(source) for source in sources}


def prefixes(url: str) -> list[str]:
    """Directory prefixes by hand."""
    place = url.split("://", 1)[1].partition("?")[0]
    host, _, path = place.partition("/")
    parts = path.split("/")[:-1]
    return ["/".join([host.split(":")[0], *parts[:n], ""]) for n in range(len(parts) + 1)]


def _neighbourhoods(pages: dict[str, Capture], counted: Counter[str],
                    of_page: dict[str, list[str]], owned: Counter[str],
                    share: dict[str, int | None],
                    sources: Sources, settings: Settings,
                    ) -> dict[str, list[Row]]:
    below: dict[str, list[str]] = defaultdict(list)
    for name, capture in pages.items():
        for prefix in prefixes(canonical(capture.url)):
            below[prefix].append(name)
    rows, by_source = [], []
    for prefix, names in sorted(below.items()):
        matching = [sha1 for name in names for sha1 in of_page[name]]
        whole = sum(counted[name] for name in names)
        values = [s for name in names if (s := share[name]) is not None]
        pooled = floor(Fraction(len(matching) * ONE, whole)) if whole else None
        mean = floor(Fraction(sum(values), len(values))) if values else None
        rows.append({
            "prefix": prefix, "depth": prefix.count("/"), "pages": len(names), "chunks": whole,
            "matching": len(matching), "own_matching": sum(owned[name] for name in names),
            "distinct_matching": len(set(matching)),
            "badness": len(matching) / whole if whole else None,
            "mean_contains": sum(values) / (len(values) * ONE) if values else None,
            "share": pooled if settings.detection.neighbourhood_score == "pooled" else mean,
        })
        names_of = {sha1: {name_of(url) for url in sources["chunk", sha1]} for sha1 in matching}
        for source in sorted(set().union(*names_of.values())):
            theirs = [sha1 for sha1 in matching if source in names_of[sha1]]
            by_source.append({"prefix": prefix, "source": source, "matching": len(theirs),
                              "distinct_matching": len(set(theirs))})
    limit = threshold((r["share"] for r in rows), settings.detection.neighbourhood_threshold,
                      bool(settings.detection.labels))
    for row in rows:
        row["flagged"] = above(row.pop("share"), limit)
    return {"neighbourhoods": rows, "neighbourhood_sources": by_source}


def name_of(url: str) -> str:
    """Whose a source is."""
    return domain(url.split("/")[2].split(":")[0]) if "://" in url else url


def _strongest(found: Mapping[str, float]) -> str | None:
    """The source on the fewest domains, and of these the smallest URL."""
    return min(found, key=lambda url: (found[url], url), default=None)


def threshold(
    shares: Iterable[int | None], given: float | None, informed: bool, least: int | None = None,
) -> tuple[Fraction, int, int] | Fraction:
    """Mean and deviation of the shares there are, or what was given. With labels of others
    (`informed`) any share is above where there are too few to say what is usual, or half of them
    are more than nothing."""
    if given is not None:
        return Fraction(given) * ONE
    values = [s for s in shares if s is not None]
    few = len(values) < (BACKGROUND if least is None else least)
    if informed and (few or sum(s > 0 for s in values) >= len(values) / 2):
        return Fraction(0)
    n, total, squares = len(values), sum(values), sum(s * s for s in values)
    return Fraction(total), n, n * squares - total * total


def above(share: int | None, limit: tuple[Fraction, int, int] | Fraction) -> bool:
    """share > mean + deviation, in whole numbers: n·share - sum > sqrt(n·squares - sum²)."""
    if share is None:
        return False
    if isinstance(limit, Fraction):
        return share > limit
    total, n, variance = limit
    ahead = n * share - total
    return ahead > 0 and ahead * ahead > variance and ahead > isqrt(variance)
