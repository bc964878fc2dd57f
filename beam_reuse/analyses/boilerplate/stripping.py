"""Pages without the template lines of their hosts: parts are written again without them.

What reads these parts need not know of it: tokens, lines, paragraphs, counts and signatures are
those of the lines that stay, and a payload that is read for its text is this text. Images,
links, bytes and names are those of the page.
"""

import os
import uuid
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.boilerplate.definition import own_text, paragraph_starts
from beam_reuse.analyses.boilerplate.described import TemplateLines, template_lines_of
from beam_reuse.analyses.boilerplate.lines import no_template_lines, template_lines
from beam_reuse.analyses.boilerplate.settings import BoilerplateSettings
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.schema import gives
from beam_reuse.columnar.store import full_disk_told, make_shared
from beam_reuse.core.features import CHUNKS, LINE_TOKENS, LINES, TOKENS, FeatureSettings, Reads
from beam_reuse.core.pages import Kind
from beam_reuse.io.files import is_local, join, open_files
from beam_reuse.io.part_columns import (
    HAS_TOKENS,
    TOKEN_PLACES,
    PageRows,
    number_lists,
    part_schema,
    signature_columns,
    with_images,
)
from beam_reuse.io.parts import part_path, part_writer, read_part
from beam_reuse.pages.pages import Pages
from beam_reuse.pages.texts import page_texts

_ALWAYS_READ = ("host", "lines", "line_tokens")


def reads_of(reads: Reads) -> Reads:
    """What is kept of pages for an analysis that sees them without template lines: signatures are
    made when these are known."""
    signed = {TOKENS} if reads.signer is not None else set()
    return Reads(reads.features | {LINES, LINE_TOKENS} | signed, reads.text)


def own_pages(
    pages: Pages, settings: BoilerplateSettings, features: FeatureSettings,
) -> Pages:
    """The same pages without their template lines, with what `features` keep of them, in parts of
    their own. Cost: what is kept is read and written once more; memory: some row groups."""
    parts = pages.with_parts(template_lines(pages, settings, every_host=True), strip_parts,
                             join(pages.spill, "stripped"), features)
    return replace(pages, parts=parts, made=no_template_lines(pages.plan, settings))


@gives(lambda templates, parts, *_: parts)
def strip_parts(
    templates: Block | None, parts: Block | None, folder: str, features: FeatureSettings,
) -> Iterable[Block]:
    """The same parts, written again below `folder` without template lines."""
    make_shared(os.path.dirname(folder))
    for mine, part in template_lines_of(templates, parts):
        target = part_path(folder, int(part.array("range")[0]))
        strip_part(part.strings("path")[0].decode(), target, mine, features)
        yield part.with_columns(path=VarBytes.from_list([target.encode()]))


def strip_part(
    source: str, target: str, templates: TemplateLines, features: FeatureSettings,
) -> None:
    """Write a part again without its template lines; rows keep their numbers. The target appears
    whole."""
    schema = stripped_schema(features)
    temporary = f"{target}.{uuid.uuid4().hex}.tmp"
    files = open_files(target)
    with (full_disk_told(os.path.dirname(target)), files.create(temporary) as sink,
          part_writer(sink, schema) as writer):
        for rows in read_part(source, _read_columns(schema, features)):
            in_template = templates.find(rows) >= 0
            writer.write_batch(stripped(rows, ~in_template, schema, features),
                               row_group_size=1 << 40)
    if is_local(target):
        os.replace(temporary, target)
    else:
        files.move(temporary, target)


def stripped_schema(features: FeatureSettings) -> pa.Schema:
    """The columns of a part without template lines. Tokens have their places on the page."""
    kept = replace(features, text=True, kept=features.kept - {CHUNKS, LINE_TOKENS})
    schema = part_schema(kept)
    if TOKENS not in kept.kept:
        return schema
    return schema.append(pa.field(TOKEN_PLACES, pa.binary(), nullable=False))


def _read_columns(schema: pa.Schema, features: FeatureSettings) -> list[str]:
    made = {HAS_TOKENS, TOKEN_PLACES, *(name for each in features.signers for name in each.names)}
    tokens = ("tokens", "images") if features.signers else ()
    return list(dict.fromkeys([
        *(name for name in schema.names if name not in made), *_ALWAYS_READ, *tokens]))


def stripped(
    rows: PageRows, own: NDArray[np.bool_], schema: pa.Schema, features: FeatureSettings,
) -> pa.RecordBatch:
    """The columns of `schema` of pages of which the lines stay that are their `own`."""
    offsets, lines = rows.lists("lines").flat()
    after = _after(offsets, own)
    line_tokens = rows.lists("line_tokens").used().astype(np.int64)
    kept_tokens = np.repeat(own, line_tokens)
    token_offsets = np.concatenate([[0], np.cumsum(line_tokens)])[offsets]
    tokens_after = _after(token_offsets, kept_tokens)
    columns = {name: rows.batch.column(name) for name in schema.names
               if name in rows.batch.schema.names}
    columns |= {"line_count": pa.array(np.diff(after)),
                "token_count": pa.array(np.diff(tokens_after))}
    if "lines" in columns:
        columns["lines"] = number_lists(after, lines[own])
        columns["paragraphs"] = number_lists(*paragraph_starts(
            offsets, *rows.lists("paragraphs").flat(), own))
    if "tokens" in rows.batch.schema.names:
        tokens = rows.lists("tokens").used()[kept_tokens]
        columns["tokens"] = number_lists(tokens_after, tokens)
        if TOKEN_PLACES in schema.names:
            places = np.arange(len(kept_tokens)) - np.repeat(
                token_offsets[:-1], np.diff(token_offsets))
            columns[TOKEN_PLACES] = number_lists(
                tokens_after, places[kept_tokens].astype(np.uint32))
        columns |= signature_columns(
            *with_images((tokens_after, tokens), rows.lists("images").flat()), features.signers)
    if "payload" in columns:
        columns |= _texts(rows, offsets, own)
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _after(offsets: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The offsets of what is kept."""
    return np.concatenate([[0], np.cumsum(kept)])[offsets]


def _texts(
    rows: PageRows, offsets: NDArray[np.int64], own: NDArray[np.bool_],
) -> dict[str, pa.Array]:
    """The text of pages with lines as their payload, so that they are plain text."""
    some = np.diff(offsets) > 0
    texts = [b""] * len(rows)
    for at, text in zip(np.flatnonzero(some).tolist(), page_texts(rows, some), strict=True):
        texts[at] = own_text(text, own[offsets[at]:offsets[at + 1]])
    kinds = np.where(some, np.uint8(Kind.TEXT), rows.numbers("kind"))
    return {"payload": pa.array(texts, pa.binary()), "kind": pa.array(kinds, pa.uint8()),
            "charset": pa.array(["utf-8"] * len(rows), pa.string())}
