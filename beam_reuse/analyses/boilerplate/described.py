"""Template lines on their pages: how much of each page they are, where, and what they say."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.definition import lower_medians, positions, shown_lines
from beam_reuse.analyses.boilerplate.lines import KEY, LINES, keys_of, lines_of
from beam_reuse.analyses.boilerplate.schemas import BOILERPLATE, BOILERPLATE_PAGES
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.distinct import find_rows
from beam_reuse.columnar.matching import match_ranges
from beam_reuse.columnar.schema import NUMBER, SHARE, SMALL, TEXT, columns, gives
from beam_reuse.io.part_columns import PageRows
from beam_reuse.kernels import lines as kernels
from beam_reuse.kernels.compiled import frozen
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.pages.sides import Sides
from beam_reuse.pages.texts import page_texts
from beam_reuse.rows import Tagged

POSITIONS, TEXTS = "positions", "texts"
POSITION_ROWS = columns(LINES, position=SMALL, count=NUMBER)
TEXT_ROWS = columns(LINES, name=TEXT, text=TEXT, pages=NUMBER, share=SHARE)


@dataclass(frozen=True)
class TemplateLines:
    """The template lines of one part, from `lines.template_lines`."""

    rows: Block
    keys: NDArray

    @staticmethod
    def of(rows: Block) -> "TemplateLines":
        return TemplateLines(rows, keys_of(rows))

    def find(self, pages: PageRows) -> NDArray[np.int64]:
        """For each line of the pages, page after page, the row of it here, or -1; needs the
        columns `host` and `lines`."""
        return find_rows(self.keys, keys_of(lines_of(pages)))


def template_lines_of(
    templates: Block | None, parts: Block | None,
) -> Iterator[tuple[TemplateLines, Block]]:
    """Each of the parts with its template lines, where `Pages.with_parts` brings both."""
    if parts is None:
        return
    none = np.zeros(len(parts), np.int64)
    low, high = (none, none) if templates is None else match_ranges(parts, templates, ("range",))
    for i in range(len(parts)):
        rows = _NO_LINES if templates is None else templates.slice(int(low[i]), int(high[i]))
        yield TemplateLines.of(rows), parts.slice(i, i + 1)


_NO_LINES = Block({name: np.zeros(0, np.uint64) for name in KEY})


@gives(BOILERPLATE_PAGES.rows, {POSITIONS: POSITION_ROWS, TEXTS: TEXT_ROWS})
def described(
    templates: Block | None, parts: Block | None, sides: Sides,
) -> Iterator[Block | Tagged]:
    """Rows of `boilerplate_pages`, of new pages. POSITIONS: where template lines are on their
    pages, and on how many; TEXTS: what they say, from the smallest page that has each, which is
    parsed again."""
    for mine, part in template_lines_of(templates, parts):
        new = sides.is_new_part(int(part.array("range")[0]))
        if not new and not len(mine.rows):
            continue
        for pages in numbered_rows(part, (
                "url", "host", "lines", "line_tokens", "line_count", "token_count")):
            found = mine.find(pages.rows)
            if new:
                yield _page_rows(pages, found >= 0)
            if len(mine.rows):
                yield Tagged(POSITIONS, _position_rows(pages, mine.rows, found))
        if len(mine.rows) and mine.rows.array("shown").any():
            yield Tagged(TEXTS, _text_rows(mine, part))


def _page_rows(pages: NumberedRows, in_template: NDArray[np.bool_]) -> Block:
    offsets, tokens = pages.rows.lists("line_tokens").flat()
    lines = np.repeat(np.arange(len(pages)), np.diff(offsets))[in_template]
    return Block({
        "url": pages.urls(), "lines": pages.rows.numbers("line_count"),
        "template_lines": np.bincount(lines, minlength=len(pages)),
        "tokens": pages.rows.numbers("token_count"),
        "template_tokens": np.bincount(
            lines, tokens[in_template], len(pages)).astype(np.int64),
    })


def _position_rows(pages: NumberedRows, templates: Block, found: NDArray[np.int64]) -> Block:
    """Each template line at each position, with the pages where it is first there."""
    counts = pages.rows.lists("lines").lengths()
    page = np.repeat(np.arange(len(pages)), counts)
    first = np.asarray(kernels.first_on_pages(frozen(found), frozen(page), len(templates)))
    page = page[first]
    above = first - (np.cumsum(counts) - counts)[page]
    rows = Block({"number": found[first], "position": positions(above, counts[page])}).sort(
        ("number", "position"))
    starts = rows.starts(("number", "position"))
    some = rows.take(starts)
    return templates.select(KEY).take(some.array("number")).with_columns(
        position=some["position"], count=np.diff(np.append(starts, len(rows))))


def _text_rows(mine: TemplateLines, part: Block) -> Block:
    """What the lines say whose smallest page is in this part. Each such page is parsed once."""
    shown = mine.rows.take(mine.rows.array("shown"))
    texts, names = [b""] * len(shown), [b""] * len(shown)
    numbers, rows = part.lists("pages")[0].array("number"), part.lists("pages")[0].array("row")
    wanted = np.sort(rows[np.isin(numbers, shown.array("first").astype(np.int64))])
    for pages in numbered_rows(part, ("host", "lines", "payload", "kind", "charset"), wanted):
        some = np.isin(pages.row, wanted)
        texts_of = page_texts(pages.rows, some)
        for at, text in zip(np.flatnonzero(some).tolist(), texts_of, strict=True):
            lines, said = pages.rows.lists("lines")[at], shown_lines(text)
            for k in np.flatnonzero(shown.array("first") == pages.number[at]):
                place = int(np.flatnonzero(lines == shown.array("line")[k])[0])
                texts[k], names[k] = said[place], pages.rows.strings("host")[at]
    return shown.select((*KEY, "pages", "share")).with_columns(
        name=VarBytes.from_list(names), text=VarBytes.from_list(texts))


@gives(BOILERPLATE.rows)
def boilerplate_table(texts: Block | None, places: Block | None) -> Block | None:
    """Rows of `boilerplate`, from TEXTS and POSITIONS of the same lines in order."""
    if texts is None:
        return None
    assert places is not None, "a template line that is nowhere"
    starts = places.starts(KEY)
    return Block({
        "host": texts["name"],
        "fingerprint": texts.array("line").astype(">u8").view("V8"),
        "text": texts["text"], "pages": texts["pages"], "share": texts["share"],
        "position": lower_medians(places.array("position"), places.array("count"), starts),
    })
