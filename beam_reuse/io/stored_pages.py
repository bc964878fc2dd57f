"""Single pages looked up in crawl files and indexes, by their URLs. No Beam."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import KINDS, ReadSettings
from beam_reuse.core.urls import BadUrl, canonical_url
from beam_reuse.io.crawl.inputs import InputFile, is_result_folder, list_files
from beam_reuse.io.crawl.ranges import FileRange
from beam_reuse.io.crawl.read import read_range
from beam_reuse.io.files import join, open_files
from beam_reuse.io.index import INDEX, read_index_manifest

_COLUMNS = ("url", "kind", "charset", "payload")


@dataclass(frozen=True)
class StoredPage:
    """A capture of a page: its canonical URL and its bytes, with what is needed to read them."""

    url: str
    kind: Kind
    charset: str
    payload: bytes


def find_pages(inputs: Sequence[str], urls: Collection[str],
               max_record_bytes: int) -> Iterator[StoredPage]:
    """Every capture of these canonical URLs in crawl files and indexes.

    Cost: crawl files are read whole; of an index the URLs, and those row groups that hold one
    of them. Memory: a record, or a row group.
    """
    folders = [spec for spec in inputs if is_result_folder(spec)]
    for folder in folders:
        yield from _of_index(folder, urls)
    crawls = [spec for spec in inputs if spec not in folders]
    yield from _of_crawl(crawls, urls, ReadSettings(None, KINDS, max_record_bytes))


def _of_crawl(specs: Sequence[str], urls: Collection[str],
              settings: ReadSettings) -> Iterator[StoredPage]:
    for file in list_files(specs) if specs else ():
        for page in read_range(FileRange(0, (file,), 0, file.size), settings):
            if isinstance(page, RawPage) and (url := _canonical(page.fetched_url)) in urls:
                yield StoredPage(url, page.kind, page.charset, page.payload)


def _canonical(url: str) -> str:
    try:
        return canonical_url(url)
    except BadUrl:
        return ""


def _of_index(folder: str, urls: Collection[str]) -> Iterator[StoredPage]:
    wanted = pa.array(sorted(urls), pa.string())
    for part in read_index_manifest(folder).tables().get(INDEX, []):
        with open_files(folder).open(join(folder, part.path)) as source:
            content = pq.ParquetFile(source)
            for group in range(content.num_row_groups):
                names = content.read_row_group(group, columns=["url"])["url"]
                rows = pc.indices_nonzero(pc.is_in(names, wanted))
                if len(rows):
                    found = content.read_row_group(group, columns=list(_COLUMNS)).take(rows)
                    for row in found.to_pylist():
                        yield StoredPage(row["url"], Kind(row["kind"]), row["charset"] or "",
                                         row["payload"])


def page_at(files: Sequence[InputFile], name: str, offset: int,
            max_record_bytes: int) -> Iterator[StoredPage]:
    """The page at an offset of the crawl file that a result calls `name`; again, by reading the
    file from its beginning, for who asks for another.

    Cost: one record, where files can be read from the middle.
    """
    settings = ReadSettings(None, KINDS, max_record_bytes)
    for file in files:
        if file.name != name:
            continue
        for start, end in ((offset, min(offset + 1, file.size)), (0, file.size)):
            for page in read_range(FileRange(0, (file,), start, end), settings):
                if isinstance(page, RawPage) and page.offset == offset:
                    yield StoredPage(_canonical(page.fetched_url), page.kind, page.charset,
                                     page.payload)
