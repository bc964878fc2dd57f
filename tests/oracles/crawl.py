"""A run by its definition: captures in, tables out, with dicts and sets."""

import datetime
import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from beam_reuse.core.pages import Kind
from beam_reuse.declaring.settings import Settings
from tests.oracles import declared, overlap, quilts
from tests.oracles.chunks import chunks
from tests.oracles.near_duplicates import Page
from tests.oracles.text import html5lib_tree, text_of
from tests.oracles.tokens import fingerprint, lines, tokens
from tests.oracles.urls import cut_reason

SUFFIXES = PublicSuffixList()
Row = dict[str, Any]


@dataclass(frozen=True)
class Capture:
    """One HTTP response of a crawl; `file` and `offset` are where it was written."""

    url: str
    body: bytes
    time: datetime.datetime | None
    status: int = 200
    content_type: str = "text/html"
    file: str = ""
    offset: int = 0
    link: str = ""
    modified: datetime.datetime | None = None

    @property
    def kind(self) -> Kind:
        return {
            "text/html": Kind.HTML, "text/plain": Kind.TEXT, "text/css": Kind.CODE,
        }.get(self.content_type, Kind.OTHER)

    @property
    def sha1(self) -> str:
        return hashlib.sha1(self.body).hexdigest()


def canonical(url: str) -> str:
    """For the plain URLs of these tests: lower-case host, no fragment, no empty path."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path or '/'}{query}"


def depth(url: str) -> int:
    return urlsplit(url).path.count("/")


def site(host: str) -> str:
    return host if host.count(".") <= 1 else host.split(".", 1)[1]


def domain(host: str) -> str:
    return SUFFIXES.privatesuffix(host) or host


def chunks_of(capture: Capture, settings: Settings) -> list[tuple[str, int, int, int]]:
    if capture.kind.has_chunks or settings.chunks.classic:
        return chunks(capture.body, capture.kind, settings.chunks)
    return []


def stamp(capture: Capture) -> str:
    return capture.time.strftime("%Y%m%d%H%M%S") if capture.time else "0" * 14


def accounting(captures: list[Capture], settings: Settings) -> tuple[dict[str, Capture], Counter]:
    """The pages by name, and how many records were skipped for which reason."""
    read = settings.read
    skipped: Counter = Counter()
    candidates = defaultdict(list)
    for capture in captures:
        url = canonical(capture.url)
        reason = cut_reason(url, read.max_prefix_depth, read.max_path_repeats)
        if read.statuses is not None and capture.status not in read.statuses:
            skipped["status"] += 1
        elif capture.kind.label not in read.content_types:
            skipped["content-type"] += 1
        elif reason:
            skipped[reason] += 1
        elif read.captures == "all":
            candidates[f"{url}#{stamp(capture)}"].append(capture)
        else:
            candidates[url].append(capture)
    never = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    pages = {}
    for key, found in candidates.items():
        found.sort(key=lambda c: (c.sha1, c.file, c.offset))
        found.sort(key=lambda c: c.time or never, reverse=True)
        if read.captures == "latest":
            pages[key] = found[0]
            skipped["older-capture"] += len(found) - 1
            continue
        for n, digest in enumerate(sorted({c.sha1 for c in found})):
            same = [c for c in found if c.sha1 == digest]
            pages[key if n == 0 else f"{key}~{n + 1}"] = same[0]
            skipped["same-capture"] += len(same) - 1
    return pages, +skipped


def skipped_rows(
    captures: list[Capture], pages: dict[str, Capture], settings: Settings,
) -> list[Row]:
    """A row for each capture that is no page. That which stays for it has its URL; where each
    capture is kept, its key up to `~` and its payload too."""
    read = settings.read
    rows = []
    for c in captures:
        url = canonical(c.url)
        reason = cut_reason(url, read.max_prefix_depth, read.max_path_repeats)
        stays = None
        if read.statuses is not None and c.status not in read.statuses:
            reason = "status"
        elif c.kind.label not in read.content_types:
            reason = "content-type"
        elif not reason:
            key = f"{url}#{stamp(c)}" if read.captures == "all" else url
            (stays,) = (name for name, page in pages.items() if name.split("~")[0] == key and (
                read.captures == "latest" or page.sha1 == c.sha1))
            if (pages[stays].file, pages[stays].offset) == (c.file, c.offset):
                continue
            reason = "older-capture" if read.captures == "latest" else "same-capture"
        rows.append({"file": c.file, "offset": c.offset, "url": c.url, "reason": reason,
                     "because_of": stays})
    return sorted(rows, key=lambda row: (row["file"], row["offset"]))


def depth_histogram(captures: list[Capture], settings: Settings) -> list[Row]:
    read = settings.read
    found = Counter(
        depth(canonical(c.url)) for c in captures
        if (read.statuses is None or c.status in read.statuses)
        and c.kind.label in read.content_types
    )
    return [{"depth": d, "records": n} for d, n in sorted(found.items())]


def text_of_capture(capture: Capture) -> str:
    """Its text, with a form feed between blocks and a newline between lines."""
    if not capture.kind.has_text:
        return ""
    text = capture.body.decode()
    if capture.kind is Kind.HTML:
        return text_of(html5lib_tree(text))
    return "\n".join(text.replace("\f", "\n").splitlines())


def near_pages(pages: dict[str, Capture]) -> list[Page]:
    """The pages as near-duplicates see them; there are no images in these tests."""
    found = []
    for name, capture in pages.items():
        words = tuple(fingerprint(token) for token in tokens(text_of_capture(capture)))
        host = canonical(capture.url).split("/")[2].split(":")[0]
        file = capture.body if capture.kind in (Kind.HTML, Kind.TEXT) else b""
        said = declared.canonical(canonical(capture.url), html_of(capture), capture.link)
        found.append(Page(name, site(host), words, len(words), capture.time, domain(host), file,
                          said))
    return found


def overlap_pages(pages: dict[str, Capture]) -> list[overlap.Page]:
    """The pages as overlap sees them."""
    return [overlap.Page(name, text_of_capture(c), len(c.body), "",
                         declared.canonical(canonical(c.url), html_of(c), c.link))
            for name, c in pages.items()]


def quilt_pages(pages: dict[str, Capture]) -> list[quilts.Page]:
    """The pages as quilts see them; there are no links in these tests."""
    hosts = {name: canonical(c.url).split("/")[2].split(":")[0] for name, c in pages.items()}
    return [quilts.Page(name, domain(hosts[name]), tuple(tokens(text_of_capture(capture))))
            for name, capture in pages.items()]


def html_of(capture: Capture) -> str:
    """The markup of a page; nothing of other kinds."""
    return capture.body.decode() if capture.kind is Kind.HTML else ""


def page_rows(pages: dict[str, Capture], settings: Settings) -> list[Row]:
    rows = []
    text = any(map(settings.asks_for, (
        "near-duplicates", "overlap", "quilts", "boilerplate")))
    for name, c in pages.items():
        host = canonical(c.url).split("/")[2].split(":")[0]
        rows.append({
            "url": name, "fetched_url": c.url, "kind": c.kind.label, "host": host,
            "site": site(host), "domain": domain(host), "timestamp": c.time, "status": c.status,
            "content_type": c.content_type, "bytes": len(c.body), "sha1": c.sha1,
            "chunks": len(chunks_of(c, settings)), "file": c.file,
            "offset": c.offset,
            "tokens": len(tokens(text_of_capture(c))) if text else None,
            "lines": len(lines(text_of_capture(c))) if text else None,
            "declared_canonical": declared.canonical(canonical(c.url), html_of(c), c.link),
            "declared_date": declared.date(html_of(c), c.time, c.modified),
        })
    return sorted(rows, key=lambda row: row["url"])
