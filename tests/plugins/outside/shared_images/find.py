"""Which images are shown by several hosts: the transform, and the kernels that do the work."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import NUMBER, PAGE, TEXT, columns, gives
from beam_reuse.core.features import PAYLOAD, Reads
from beam_reuse.core.pages import Kind
from beam_reuse.core.text import read_html
from beam_reuse.core.urls import BadUrl, name_page, resolve_url
from beam_reuse.declaring.settings import Settings
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.pages.analysis import Analysis, Found, Pages
from beam_reuse.pages.rows import numbered_rows
from beam_reuse.rows import Count
from shared_images.about import SharedImageSettings
from shared_images.tables import SHARED_IMAGES

IMAGES = columns(image=TEXT, host=TEXT, first_page=PAGE, pages=NUMBER)


class FindSharedImages(Analysis):
    """Pages -> `shared_images`. Counts images without a URL. Cost: every page is parsed again."""

    def __init__(self, settings: SharedImageSettings | None = None) -> None:
        super().__init__()
        self.settings = settings or SharedImageSettings()

    @classmethod
    def of(cls, settings: Settings) -> "FindSharedImages":
        return cls(settings.shared_images)

    def reads(self) -> Reads:
        return Reads(frozenset((PAYLOAD,)))

    def find(self, pages: Pages) -> Found:
        shown = pages.rows(image_rows)
        by_host = shown.reduce(("image", "host"), {"first_page": "min", "pages": "sum"})
        return Found({"shared_images": by_host.group("image", shared, self.settings)})


@gives(IMAGES)
def image_rows(parts: Block) -> Iterator[Block | Count]:
    """A row for each page and each image on it."""
    for pages in numbered_rows(parts, ("url", "host", "kind", "charset", "payload")):
        texts = (pages.rows.strings(name).to_list() for name in (
            "url", "host", "charset", "payload"))
        found: list[tuple[bytes, bytes, int]] = []
        inside = 0
        for url, host, charset, payload, kind, number in zip(
                *texts, pages.rows.numbers("kind"), pages.number, strict=True):
            if kind == Kind.HTML:
                images = images_of(url.decode(), decode_text(payload, charset.decode()))
                inside += images.count("")
                found += [(image.encode(), host, number) for image in {*images} - {""}]
        yield Count("images-without-url", inside)
        yield Block({
            "image": VarBytes.from_list([image for image, _, _ in found]),
            "host": VarBytes.from_list([host for _, host, _ in found]),
            "first_page": np.array([number for _, _, number in found], np.uint64),
            "pages": np.ones(len(found), np.int64),
        })


def images_of(url: str, html: str) -> list[str]:
    """The URLs of the images of a page; '' for those that have none."""
    document = read_html(html)
    start = url if document.base is None else resolve_url(url, document.base.decode())
    found = []
    for source in document.images:
        try:
            found.append(name_page(resolve_url(start, source.decode())).url)
        except BadUrl:
            found.append("")
    return found


@gives(SHARED_IMAGES.rows)
def shared(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64],
    settings: SharedImageSettings,
) -> Block:
    """Rows for each image and host -> rows for each image; `sizes` are the hosts."""
    images = rows.take(starts).without("host").with_columns(
        hosts=sizes, pages=np.add.reduceat(rows.array("pages"), starts),
        first_page=np.minimum.reduceat(rows.array("first_page"), starts))
    return images.take(sizes >= settings.min_hosts)
