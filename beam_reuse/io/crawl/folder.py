"""Files that are pages themselves: HTML and text in a folder, or one file alone."""

import os
from urllib.parse import quote

from beam_reuse.core.pages import Outcome
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.documents import Capture, too_large
from beam_reuse.io.crawl.inputs import InputFile
from beam_reuse.io.crawl.kinds import kind_of, sniff_type
from beam_reuse.io.crawl.members import HEAD, Corrupt, Units, inflate_file
from beam_reuse.io.crawl.records import Place
from beam_reuse.io.crawl.sniff import type_by_name
from beam_reuse.io.crawl.window import Window


def file_url(file: InputFile) -> str:
    """The URL of a page that is a file: its true one if that is known, else `file://folder/path
    below it`."""
    return file.url or f"file://{file.host}/{quote(os.fsencode(file.relative))}"


def read_page(file: InputFile, window: Window, units: Units | None,
              settings: ReadSettings) -> Outcome:
    """What a file becomes: its type is recognised by its name, else by its first bytes.

    It has no timestamp: that of the copy at hand says nothing of the page.
    """
    capture = Capture(Place(file.path, 0, file.size), file_url(file))
    content_type = type_by_name(file.relative.partition("?")[0] if file.url else file.path)
    if content_type and kind_of(content_type).label not in settings.content_types:
        return capture.skipped("content-type")
    try:
        payload = _content(window, units, settings.max_record_bytes if content_type else HEAD)
        content_type = content_type or sniff_type(payload)
        if kind_of(content_type).label not in settings.content_types:
            return capture.skipped("content-type")
        payload = _content(window, units, settings.max_record_bytes)
    except Corrupt as bad:
        return capture.rejected(bad.reason, bad.detail)
    if len(payload) > settings.max_record_bytes:
        return too_large(capture, settings)
    return capture.page(payload, content_type, "")


def _content(window: Window, units: Units | None, limit: int) -> bytes:
    """The file's content, up to a bit more than `limit` bytes."""
    if units is None:
        buffer, a, b = window.span(0, limit + 1)
        return buffer[a:b]
    pieces, size = [], 0
    for piece in inflate_file(units, window.size):
        pieces.append(piece)
        size += len(piece)
        if size > limit:
            break
    return b"".join(pieces)
