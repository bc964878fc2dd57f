"""The definition of shared images, slow and obvious, by the standard library alone."""

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit


class _Images(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.sources += [value for name, value in attrs if name == "src" and value]


def shared_images(pages: Mapping[str, str], min_hosts: int) -> tuple[list[dict[str, Any]], int]:
    """Rows of `shared_images` of pages by their URLs, and how many images have no URL."""
    shown: dict[str, list[str]] = {}
    inside = 0
    for url, html in pages.items():
        parser = _Images()
        parser.feed(html)
        sources = [urljoin(url, source) for source in parser.sources]
        inside += sum(source.startswith("data:") for source in sources)
        for image in {source for source in sources if not source.startswith("data:")}:
            shown.setdefault(image, []).append(url)
    rows = [
        {"image": image, "hosts": len({urlsplit(url).hostname for url in urls}),
         "pages": len(urls), "first_page": min(urls)}
        for image, urls in sorted(shown.items())]
    return [row for row in rows if row["hosts"] >= min_hosts], inside
