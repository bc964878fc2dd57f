"""Small sites with copies really made, written as crawls."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from beam_reuse.core.settings import ChunkSettings
from tests.crawls import write_warc
from tests.oracles.chunks import chunks
from tests.oracles.crawl import Capture

PARAGRAPHS = [b"<p>shared %d</p>\n" % i for i in range(8)] + [b"<p>&nbsp;</p>", b"<div>"]


def pages(seed: int, host: str, n: int = 6) -> list[Capture]:
    """HTML, text, CSS and empty pages of few paragraphs, some with an own one, some equal."""
    rng = random.Random(seed)
    found = []
    for i in range(n):
        body = b"<html>" + b"".join(rng.choices(PARAGRAPHS, k=rng.choice([0, 1, 4, 9])))
        body += b"<p>footer of %s" % host.encode()
        if rng.random() < 0.5:
            body += b"<p>own of %d on %s" % (i, host.encode())
        found.append(Capture(f"http://{host}/{'a/' * (i % 3)}{i}.html", body, None))
    found.append(Capture(f"http://{host}/copy.html", found[0].body, None))
    lines = b"\n\n".join(rng.choices([b"one line", b"another line", b"third"], k=5))
    found.append(Capture(f"http://{host}/notes.txt", lines, None, content_type="text/plain"))
    found.append(Capture(f"http://{host}/style.css", b"p {}\n\na {}", None,
                         content_type="text/css"))
    found.append(Capture(f"http://{host}/empty.html", b"", None))
    return found


def copies(
    site: Sequence[Capture], d: int, partial: bool, settings: ChunkSettings,
) -> list[Capture]:
    """The site d times under made-up hosts; `partial` ones with paragraphs of their own where
    pages have chunks."""
    made = []
    for copy in range(d):
        for i, page in enumerate(site):
            path = page.url.split("/", 3)[3]
            own = partial and chunks(page.body, page.kind, settings)
            body = _with_own(page, f"{copy} {i}".encode()) if own else page.body
            made.append(replace(page, url=f"http://copy{copy}.example/{path}", body=body))
    return made


def _with_own(page: Capture, name: bytes) -> bytes:
    """The page with one paragraph before its second chunk and one behind its last."""
    found = chunks(page.body, page.kind, ChunkSettings())
    at = found[0][2]
    head, tail = page.body[:at], page.body[at:]
    if page.content_type == "text/html":
        return head + b"<p>head " + name + tail + b"<p>tail " + name
    return head + b"\n\nhead " + name + b"\n\n" + tail + b"\n\ntail " + name


def write(folder: Path, name: str, captures: Sequence[Capture]) -> str:
    path = folder / f"{name}.warc.gz"
    write_warc(path, captures)
    return str(path)
