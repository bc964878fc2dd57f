"""HTML pages of the corpora, for tests on what the web is really like."""

from functools import cache
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz")


@cache
def real_pages(corpora: Path, max_bytes: int = 400_000) -> list[tuple[str, str]]:
    """(URL, HTML) of every different HTML response in the archives that warcio can read."""
    pages: dict[bytes, str] = {}
    for path in sorted((corpora / "warcs").rglob("*")):
        if path.name.endswith(SUFFIXES):
            with path.open("rb") as stream:
                try:
                    for record in ArchiveIterator(stream):
                        headers = record.http_headers
                        kind = headers.get_header("Content-Type") if headers else None
                        if record.rec_type == "response" and kind and "html" in kind.lower():
                            payload = record.content_stream().read()
                            named = record.rec_headers.get_header
                            url = named("WARC-Target-URI") or named("uri")
                            pages.setdefault(payload, f"{path.name} {url}")
                except ArchiveLoadFailed:
                    pass  # a broken archive; what is before the break counts
    return [(url, _decode(page)) for page, url in pages.items() if len(page) <= max_bytes]


def _decode(page: bytes) -> str:
    try:
        return page.decode("utf-8")
    except UnicodeDecodeError:
        return page.decode("cp1252", "replace")
