"""The text of one page with all that is known of it marked: chunks that are known content, patches
of a quilt, lines that overlapping pages have too, and lines of its host's template."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from beam_reuse.viewer.contents import NoContent
from beam_reuse.viewer.pages import row_of, template_lines, text_of
from beam_reuse.viewer.quilts import sources_of, spans_of
from beam_reuse.viewer.tables import shown
from beam_reuse.viewer.texts import (
    Mark,
    MarkedText,
    chunk_settings,
    parser_of,
    read_source,
    read_text,
    shown_lines,
)
from beam_reuse.viewer.view import Row, View

PARTNERS = 3
"""So many overlapping pages are read, those that share most,"""

MOST_BYTES = 2 << 20
"""but none with more bytes."""

Reasons = dict[str, Any]
_CHUNK = "position, start, end, sha1, source_url, sources, own, score"


def text(view: View, url: str, source: bool = False) -> dict[str, Any]:
    """The text of a page, or its source, as pieces with the names of their marks, and by these
    names why they are marked; of known chunks also how often they occur, by hash. In the source
    only chunks are marked. Of chunks beyond what is shown of a long page nothing is said. Cost: the
    page is parsed twice, and PARTNERS others once."""
    row = row_of(view, url)
    chunks = view.ask("matched_chunks", _CHUNK, "url = $url order by position", url=url)
    try:
        stored = view.contents.of(row)
        settings = chunk_settings(view.manifest.settings)
        if source:
            lines = shown_lines(read_source(stored, settings, chunks))
            return {**lines, **_of_chunks(view, _shown_of(chunks, lines)), "template": {}}
        found = read_text(stored, settings, chunks, parser_of(view.manifest.settings))
    except NoContent as error:
        return {"why_not": str(error), **_of_chunks(view, chunks)}
    marks, reasons = [*found.marks], Reasons()
    for more, why in (_of_quilt(view, url, found), _of_overlap(view, url, found)):
        marks += more
        reasons |= why
    template = template_lines(view, row["host"])
    lines = shown_lines(MarkedText(found.text, marks),
                        {key: each["fingerprint"] for key, each in template.items()})
    used = {line["template"] for line in lines["lines"]}
    known = _of_chunks(view, _shown_of(chunks, lines))
    return {**lines, "marks": known["marks"] | reasons, "frequent": known["frequent"],
            "template": {each["fingerprint"]: shown(each) for each in template.values()
                         if each["fingerprint"] in used}}


def _shown_of(chunks: Sequence[Row], lines: Mapping[str, Any]) -> list[Row]:
    """The chunks that something is marked by in these lines."""
    names = {name for line in lines["lines"] for _, *marks in line["pieces"] for name in marks}
    return [row for row in chunks if str(row["position"]) in names]


def _of_chunks(view: View, chunks: Sequence[Row]) -> dict[str, Any]:
    """What is to be said of each chunk that is marked, by its position, and of each hash."""
    reasons = {str(row["position"]): {"why": "own" if row["own"] else "known", **shown(row)}
               for row in chunks}
    return {"marks": reasons, "frequent": _frequent(view, chunks)}


def _frequent(view: View, chunks: Sequence[Row]) -> dict[str, Any]:
    """How often chunks occur in the crawl, by hash: a page may have one of them many times."""
    return {row["sha1"]: shown(row) for row in view.ask(
        "frequent_chunks", "sha1, occurrences, pages, hosts, sample_urls",
        "sha1 in (select unnest($hashes))", hashes=sorted({row["sha1"] for row in chunks}))
    } if chunks else {}


def _of_quilt(view: View, url: str, page: MarkedText) -> tuple[list[Mark], Reasons]:
    """Patches, by the rank of their source: q1, q2, ..."""
    marks, reasons = list[Mark](), Reasons()
    for row in sources_of(view, url):
        name = f"q{row['rank']}"
        marks += page.of_tokens(spans_of(row), name)
        reasons[name] = {"why": "patch", **shown(
            {key: row[key] for key in ("rank", "source_url", "grams", "share", "linked")})}
    return marks, reasons


def _of_overlap(view: View, url: str, page: MarkedText) -> tuple[list[Mark], Reasons]:
    """Lines that the pages it overlaps with most have too: o1, o2, ..."""
    marks, reasons = list[Mark](), Reasons()
    mine, lines = page.fingerprints(), page.lines()
    for number, row in enumerate(_partners(view, url), 1):
        if row_of(view, row["url"])["bytes"] > MOST_BYTES:
            continue
        try:
            theirs = text_of(view, row["url"]).fingerprints()
        except NoContent:
            continue
        both = np.flatnonzero(np.isin(mine, theirs)).tolist()
        marks += [Mark(*lines[at], f"o{number}") for at in both if at < len(lines)]
        reasons[f"o{number}"] = {"why": "overlap", "lines": len(both), **shown(row)}
    return marks, reasons


def _partners(view: View, url: str) -> Iterator[Mapping[str, Any]]:
    """The pages that share most with this one, each once, with what both share."""
    seen: set[str] = set()
    for row in view.ask("page_overlap", "*", "url_a = $url or url_b = $url order by shared desc, "
                        f"url_a, url_b limit {20 * PARTNERS}", url=url):
        first = row["url_a"] == url
        other = row["url_b"] if first else row["url_a"]
        if other not in seen and len(seen) < PARTNERS:
            seen.add(other)
            yield {"url": other, "chunking": row["chunking"], "shared": row["shared"],
                   "of_this": row["containment_a" if first else "containment_b"],
                   "of_that": row["containment_b" if first else "containment_a"]}
