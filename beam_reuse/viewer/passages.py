"""One passage that is copied: what is known of it, and the pages it is on."""

from typing import Any

from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.view import NotThere, View

PAGES = 200


def passage(view: View, sha1: str) -> dict[str, Any]:
    """A frequent chunk, or another label, and where it occurs."""
    found = view.ask("frequent_chunks", "*", "sha1 = $sha1", sha1=sha1)
    labels = view.ask("labels", "*", "sha1 = $sha1 order by all limit 50", sha1=sha1)
    pages = view.ask("matched_chunks", "*", f"sha1 = $sha1 limit {PAGES + 1}", sha1=sha1)
    if not (found or labels or pages):
        raise NotThere("No chunk of this result has this hash.")
    return {"chunk": _first(found), "labels": list(map(shown, labels)),
            "pages": list(map(shown, pages[:PAGES])), "more": len(pages) > PAGES}


def _first(rows: list[dict[str, Any]]) -> Any:
    return shown(rows[0]) if rows else None
