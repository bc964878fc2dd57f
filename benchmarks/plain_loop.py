"""The plain loops that runs are measured against: one process, no Beam, nothing written.

`same` calls the project's own functions: what is left is what the graph and the writing
cost. `chunks` is the same without text: it only reads, cuts and hashes. `usual` is what one
would write with the libraries people use for this: FastWARC, Resiliparse, `re` and hashlib.
"""

import hashlib
import re
import sys

from beam_reuse.runners.forks import keep_freed_memory

_CHUNK = re.compile(rb"(?=<(?:p|div)[\s/>])", re.IGNORECASE)
_TOKEN = re.compile(r"\w+")


def same(paths: list[str], text: bool = True) -> int:
    """Read, chunk and hash every page, with `text` also parse and tokenise it; returns the
    bytes of payload."""
    from beam_reuse.core.features import FeatureSettings, page_features
    from beam_reuse.core.pages import RawPage
    from beam_reuse.core.settings import ChunkSettings, ReadSettings
    from beam_reuse.core.urls import name_page
    from beam_reuse.io.crawl.inputs import list_files
    from beam_reuse.io.crawl.payload import decode_text
    from beam_reuse.io.crawl.ranges import cut
    from beam_reuse.io.crawl.read import RangeReader

    keep_freed_memory()
    settings, total = FeatureSettings(ChunkSettings(), text), 0
    for piece in cut(list_files(paths)):
        for page in RangeReader(piece, ReadSettings()):
            if isinstance(page, RawPage):
                decoded = (decode_text(page.payload, page.charset)
                           if text and page.kind.has_text else None)
                page_features(page, name_page(page.fetched_url), decoded, settings)
                total += len(page.payload)
    return total


def chunks(paths: list[str]) -> int:
    """Read, chunk and hash every page."""
    return same(paths, text=False)


def usual(paths: list[str]) -> int:
    """The same work with FastWARC, Resiliparse, `re` and hashlib."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding
    from resiliparse.parse.html import HTMLTree

    total = 0
    for path in paths:
        for record in ArchiveIterator(path, record_types=WarcRecordType.response):
            if record.http_content_type != "text/html":
                continue
            body = record.reader.read()
            hashlib.sha1(body).digest()
            for chunk in _CHUNK.split(body):
                hashlib.sha1(b" ".join(chunk.split())).digest()
            tree = HTMLTree.parse(bytes_to_str(body, detect_encoding(body)))
            for token in _TOKEN.findall(tree.document.text.lower()):
                hash(token)
            total += len(body)
    return total


if __name__ == "__main__":
    print({"same": same, "chunks": chunks, "usual": usual}[sys.argv[1]](sys.argv[2:]))
