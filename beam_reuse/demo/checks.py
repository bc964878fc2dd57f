"""Planted against found: one line per thing that must be in the tables."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from beam_reuse.core.pages import NO_DOCUMENT
from beam_reuse.demo.case import Check, hosts_of, rows_of
from beam_reuse.demo.cases import CASES
from beam_reuse.demo.planted import Planted, PlantedMirror, PlantedPassage
from beam_reuse.io.results import tables


def check_result(folder: str, planted: Planted) -> list[Check]:
    """Compare the result in `folder` with what was planted in the crawl it came from."""
    return [
        *_accounting(folder, planted),
        *_pages(folder, planted),
        *_passages(folder, planted),
        *_files(folder, planted),
        *_theft(folder, planted),
        *_near_duplicates(folder, planted),
        *_overlap(folder, planted),
        *_quilts(folder, planted),
        *(check for case in CASES for check in case.checks(folder)),
    ]


def _rows(folder: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table that concern no case with hosts of its own."""
    return rows_of(folder, table, set().union(*map(hosts_of, CASES)), beside=True)


def _accounting(folder: str, planted: Planted) -> Iterator[Check]:
    accounting = tables.read_manifest(folder).accounting
    yield Check("records read", planted.records, accounting.records)
    yield Check("records skipped, by reason", planted.skipped, accounting.skipped)
    rejects = tables.read(folder, "rejects").to_pylist()
    found = sorted((row["file"].rsplit("/", 1)[-1], row["offset"]) for row in rejects)
    damaged = sorted((place.file, place.offset) for place in planted.damaged)
    yield Check("damaged places, by file and byte", damaged, found)
    skipped = tables.read(folder, "skipped").to_pylist()
    documents = {why: n for why, n in planted.skipped.items() if why not in NO_DOCUMENT}
    yield Check("skipped documents, each with its place", documents,
                dict(Counter(row["reason"] for row in skipped)))
    older = {row["url"] for row in skipped if row["reason"] == "older-capture"}
    yield Check("what stays for older captures", older, {
        row["because_of"] for row in skipped if row["because_of"] in planted.page_urls})


def _pages(folder: str, planted: Planted) -> Iterator[Check]:
    urls = tables.read(folder, "pages")["url"].to_pylist()
    yield Check("pages", len(planted.page_urls), len(urls))
    yield Check("no page missing", set(), set(planted.page_urls) - set(urls))


def _passages(folder: str, planted: Planted) -> Iterator[Check]:
    found = {row["sha1"]: row for row in _rows(folder, "frequent_chunks")}
    for passage in planted.passages:
        row = found.pop(passage.sha1, None)
        counts = row and tuple(row[n] for n in ("occurrences", "pages", "hosts", "domains"))
        yield Check(f"{passage.name}: {_told(passage)}", _expected(passage), counts)
    stolen = [found.pop(sha1, {}).get("occurrences") for sha1 in planted.theft.sha1s]
    copies = planted.theft.pages + 1
    yield Check(f"an article of {planted.theft.paragraphs} paragraphs: {copies} copies of each",
                [copies] * planted.theft.paragraphs, stolen)
    found.pop(planted.file.sha1, None)
    yield Check("nothing reported that was not planted", [], sorted(found))
    histogram: Counter[int] = Counter()
    for row in tables.read(folder, "frequency_histogram").to_pylist():
        if row["kind"] == "chunk":
            histogram[row["occurrences"]] += row["distinct"]
    yield Check("how many chunks occur how often", planted.chunk_occurrences, dict(histogram))


def _files(folder: str, planted: Planted) -> Iterator[Check]:
    rows = _rows(folder, "frequent_files")
    found = [(row["sha1"], row["occurrences"], row["hosts"]) for row in rows]
    file = planted.file
    yield Check(f"{file.path} on {file.hosts} hosts, and no other file",
                [(file.sha1, file.hosts, file.hosts)], found)
    matched = [row["sha1"] for row in _rows(folder, "matched_files")]
    yield Check("each of its copies", [file.sha1] * file.hosts, matched)


def _theft(folder: str, planted: Planted) -> Iterator[Check]:
    """The directory that lives on another's article, and whose it is."""
    theft = planted.theft
    prefix, matching = f"{theft.thief}/{theft.directory}/", theft.pages * theft.paragraphs
    places = {row["prefix"]: row for row in _rows(folder, "neighbourhoods")}
    row = places.get(prefix, {})
    yield Check(f"{prefix} flagged: its pages are copies",
                (True, theft.pages, matching, theft.paragraphs),
                tuple(row.get(n) for n in ("flagged", "pages", "matching", "distinct_matching")))
    sources = _rows(folder, "neighbourhood_sources")
    yield Check(f"taken from {theft.source}", [(theft.source, matching, theft.paragraphs)],
                [(r["source"], r["matching"], r["distinct_matching"]) for r in sources
                 if r["prefix"] == prefix])
    known = sum(p.occurrences for p in planted.passages if p.is_frequent)
    known += theft.paragraphs * (theft.pages + 1) + planted.file.hosts
    yield Check("every copy of everything", known,
                len(_rows(folder, "matched_chunks")))


def _near_duplicates(folder: str, planted: Planted) -> Iterator[Check]:
    """The report in its versions, the stolen pages, which are alike, and nothing else."""
    report, theft = planted.report, planted.theft
    sets = _rows(folder, "identity_sets")
    mirrored = _mirrored(planted.mirror)
    same = {(group[0], url) for group in (report.copies, *mirrored) for url in group}
    yield Check(f"{len(same)} pages with the same words as others, and no more", same,
                {(row["representative"], row["url"]) for row in sets})
    versions = sorted(report.pages())
    stolen = sorted(f"http://{theft.thief}/{theft.directory}/{n}.html" for n in range(theft.pages))
    clusters: dict[str, list[str]] = {}
    for row in _rows(folder, "near_duplicate_clusters"):
        if row["algorithm"] == "combined":
            clusters.setdefault(row["cluster"], []).append(row["url"])
    yield Check(f"near-duplicates: {len(versions)} versions of a report, the {len(stolen)} stolen",
                {group[0]: group for group in (versions, stolen, *mirrored)}, clusters)
    kept = {row["url"]: row["because_of"] for row in _rows(folder, "keep")
            if row["url"] in versions}
    plainest = min(versions, key=lambda url: ("?" in url, len(url), url))
    yield Check("one version of it kept",
                {url: None if url == plainest else plainest for url in versions}, kept)


def _mirrored(mirror: PlantedMirror) -> list[list[str]]:
    """Each chapter of the handbook: both URLs, the smaller first."""
    both = zip(mirror.urls(mirror.host), mirror.urls(mirror.mirror), strict=True)
    return [sorted(pair) for pair in both]


def _overlap(folder: str, planted: Planted) -> Iterator[Check]:
    """A handbook, its mirror, and a page that quotes it."""
    mirror, mirrored = planted.mirror, _mirrored(planted.mirror)
    copies = _rows(folder, "exact_copies")
    yield Check(f"{mirror.chapters} chapters that are on two servers, and no other exact copies",
                sorted((a, url, None if url == a else "server-alias")
                       for a, b in mirrored for url in (a, b)),
                [(row["centre"], row["url"], row["cause"]) for row in copies])
    hosts = _rows(folder, "server_overlap")
    yield Check(f"{mirror.mirror} mirrors {mirror.host}, and nobody else anybody",
                {tuple(sorted((mirror.host, mirror.mirror)))},
                {(row["host_a"], row["host_b"]) for row in hosts if row["relation"] == "mirror"})
    pages = _rows(folder, "page_overlap")
    shared = mirror.quoted // 2
    yield Check(f"{mirror.digest} quotes {mirror.quoted} lines of it, and no other page",
                [(mirror.digest, mirrored[0][0], shared,
                  2 * shared / (mirror.quoted + mirror.more), 2 * shared / mirror.lines)],
                [(row["url_a"], row["url_b"], row["shared"], row["containment_a"],
                  row["containment_b"]) for row in pages if row["chunking"] == "2-lines"])
    gone = {row["host"]: row["redundant_pages"] for row in _rows(
        folder, "crawl_savings") if row["chunking"] == "whole"}
    redundant = max(mirrored[0], key=len).split("/")[2]
    yield Check(f"the {mirror.chapters} pages of {redundant} are copies of pages that stay",
                {redundant: mirror.chapters}, {host: n for host, n in gone.items() if n})
    found = _rows(folder, "popular_collections")
    directory = mirrored[0][0].split("//")[1].rpartition("/")[0] + "/"
    yield Check(f"{directory} is a collection that two hosts have",
                [(directory, 2, mirror.chapters)],
                [(row["prefix"], row["hosts"], row["pages"]) for row in found
                 if row["prefix"] == directory])


def _quilts(folder: str, planted: Planted) -> Iterator[Check]:
    """The page that is stitched from others, from which, and its links."""
    quilt = planted.quilt
    found = _rows(folder, "quilts")
    yield Check(f"{quilt.url} is a quilt of {len(quilt.sources)} sources, and no other page",
                [(quilt.url, len(quilt.sources))], [(row["url"], row["sources"]) for row in found])
    main = [row for row in _rows(folder, "quilt_sources")
            if row["url"] == quilt.url]
    yield Check(f"its {len(quilt.sources)} sources, and which of them it links to",
                quilt.linked(), {row["source_url"]: row["linked"] for row in main})
    longest = {row["source_url"]: max(row["spans"], key=lambda span: span["end"] - span["start"])
               for row in main}
    yield Check("their patches, one after another", list(quilt.sources),
                sorted(longest, key=lambda url: longest[url]["start"]))


def _expected(passage: PlantedPassage) -> tuple[int, int, int, int] | None:
    if not passage.is_frequent:
        return None
    return passage.occurrences, passage.pages, passage.hosts, passage.domains


def _told(passage: PlantedPassage) -> str:
    if not passage.is_frequent:
        return f"{passage.occurrences} copies, not reported"
    hosts = "1 host" if passage.hosts == 1 else f"{passage.hosts} hosts"
    return f"{passage.occurrences} copies on {passage.pages} pages of {hosts}"
