"""Files that hold many pages in a form that is not read, and what to make of them."""

import re

from beam_reuse.io.crawl.sniff import first_bytes, plain_name
from beam_reuse.io.crawl.window import open_window

_ARRAY_OF_ROWS = re.compile(rb'\s*\[\s*\{.*"url"', re.DOTALL)


def remedy(path: str, size: int) -> str:
    """Why a file that was named as input would not be read as the pages it holds, and the way
    out; nothing if there is no reason. Only a `.json` file is opened."""
    name, _ = plain_name(path)
    stem, _, extension = name.rpartition(".")
    if extension.lower() in ("csv", "tsv"):
        return ("CSV is not read (only within a folder, as a page itself). Make it Parquet or JSON "
                "Lines with the columns url and html or text, for instance:\n"
                f"duckdb -c \"copy (from '{path}') to '{stem}.parquet'\"")
    if extension.lower() == "json" and size and _is_array(path, size):
        return ("this is one JSON array. Write each page on a line of its own, for instance:\n"
                f"jq -c '.[]' '{name}' > '{stem}.jsonl'")
    return ""


def _is_array(path: str, size: int) -> bool:
    """True if a file is, as far as its first bytes tell, one array of objects with a `url`.
    One that may not be opened tells nothing; it is rejected when it is read."""
    try:
        with open_window(path, size) as window:
            head, _ = first_bytes(window)
    except PermissionError:
        return False
    return _ARRAY_OF_ROWS.match(head.removeprefix(b"\xef\xbb\xbf")) is not None
