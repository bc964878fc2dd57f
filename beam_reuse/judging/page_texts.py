"""The tokens of pages of a result, read from the crawl or an index it was made from."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa

from beam_reuse.core.chunking import file_sha1
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR, ReadSettings
from beam_reuse.core.text import read_html, read_plain
from beam_reuse.core.tokens import image_token_texts, token_texts
from beam_reuse.core.urls import name_page
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.io.results.scan import rows_of
from beam_reuse.io.results.tables import read_manifest
from beam_reuse.io.stored_pages import StoredPage, find_pages


@dataclass(frozen=True)
class PageText:
    """A page's text, and the tokens its images add behind those of the text."""

    text: bytes
    images: tuple[str, ...]

    def words(self) -> list[str]:
        """The tokens of the text."""
        return token_texts(self.text)


def read_texts(folder: str, keys: Collection[str], inputs: Sequence[str]) -> dict[str, PageText]:
    """The texts of the pages that the result in `folder` calls `keys`.

    Of several captures that is taken whose bytes have the SHA-1 that the table `pages` has.
    Pages that `inputs` do not hold are left out.
    """
    rows = rows_of(folder, "pages", ["url", "sha1"], """
        SELECT url, sha1
        FROM source SEMI JOIN asked USING (url)
        ORDER BY ALL
        """, asked=pa.table({"url": pa.array(sorted(keys), pa.string())}))
    wanted: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        wanted[row["url"].partition("#")[0], row["sha1"]].append(row["url"])
    settings = read_manifest(folder).settings
    most = settings.get("max-record-bytes", ReadSettings().max_record_bytes)
    parser = settings.get("parser", LEXBOR)
    found: dict[str, PageText] = {}
    for page in find_pages(inputs, {url for url, _ in wanted}, most):
        for key in wanted.get((page.url, file_sha1(page.payload).hex()), ()):
            if key not in found:
                found[key] = _text_of(page, parser)
    return found


def _text_of(page: StoredPage, parser: str) -> PageText:
    if not page.kind.has_text:
        return PageText(b"", ())
    text = decode_text(page.payload, page.charset)
    html = page.kind is Kind.HTML
    document = read_html(text, parser=parser) if html else read_plain(text)
    images = image_token_texts(document.images, document.base, name_page(page.url))
    return PageText(document.text, tuple(image.decode("utf-8", "replace") for image in images))
