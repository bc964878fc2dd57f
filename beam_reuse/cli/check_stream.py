"""A stream of pages as JSON Lines, and an answer to each line, whatever it holds."""

from collections.abc import Iterator
from typing import IO, Any

import orjson

from beam_reuse.detector import Detector
from beam_reuse.io.crawl.rows import parse_json

LONGEST_LINE = 128 << 20
LONGEST_MESSAGE = 300
_STEP = 1 << 20
_CONTENT = {"html": "html", "text": "text"}


class BadLine(ValueError):
    """A line that holds no page; the message says why."""


def answers(detector: Detector, source: IO[bytes]) -> Iterator[dict[str, Any]]:
    """An answer for each line that is not blank: a finding, or an object with the number of
    the line and its `error`. Memory: one line, of at most 128 MB."""
    for number, line in enumerate(lines_of(source), 1):
        try:
            url, content, kind = read_line(line)
            if content is not None:
                yield detector.check(content, url, kind).as_json()
        except BadLine as error:
            yield {"line": number, "error": str(error)}
        except Exception as error:  # whatever a line holds, the next one must be answered
            yield {"line": number, "error": f"{type(error).__name__}: {error}"[:LONGEST_MESSAGE]}


def lines_of(source: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of a stream, each as soon as it is there; None for one that is too long."""
    while line := source.readline(LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < LONGEST_LINE:
            yield line
            continue
        while (rest := source.readline(_STEP)) and not rest.endswith(b"\n"):
            pass
        yield None


def read_line(line: bytes | None) -> tuple[str, str | None, str]:
    """URL, content and kind of the page in a line; no content for a blank line. A page with
    `html` is HTML, else it is the plain text of `text`."""
    if line is None:
        raise BadLine(f"longer than {LONGEST_LINE >> 20} MB")
    if not line.strip():
        return "", None, ""
    row = _object_in(line)
    url = row.get("url")
    if not isinstance(url, str | None):
        raise BadLine(f"url is {_type_of(url)}, not text")
    for name, kind in _CONTENT.items():
        content = row.get(name)
        if isinstance(content, str):
            return url or "", content, kind
        if content is not None:
            raise BadLine(f"{name} is {_type_of(content)}, not text")
    raise BadLine("neither html nor text")


def _object_in(line: bytes) -> dict[str, Any]:
    """The JSON object in a line. What only Python's parser takes (lone surrogates) is taken."""
    line = line.removeprefix(b"\xef\xbb\xbf")
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            row = parse_json(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise BadLine(f"not UTF-8 at byte {error.start}") from None
        except ValueError as error:
            raise BadLine(f"not JSON: {error}") from None
    if not isinstance(row, dict):
        raise BadLine(f"{_type_of(row)}, not an object")
    return row


def _type_of(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text",
             list: "a list", dict: "an object", type(None): "null"}
    return names.get(type(value), type(value).__name__)
