"""A hook of mkdocs: links to files outside of docs/ become the names of these files.

In the repository such links work as they are; the site does not have those files.
"""

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(((?:\.\./)+[^)#]*)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The Markdown of a page without links that lead out of the site."""
    folder = posixpath.dirname(page.file.src_uri)

    def named(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, match[2]))
        if path.startswith("docs/"):
            return match[0]
        return match[1] if match[1] == path else f"{match[1]} (`{path}`)"

    return _LINK.sub(named, markdown)
