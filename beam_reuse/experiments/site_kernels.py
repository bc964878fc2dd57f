"""What experiments read of the pages of a part; no Beam."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from beam_reuse.analyses.reuse.candidates import KEY
from beam_reuse.analyses.reuse.discover_kernels import COUNTS, counts, of_kind
from beam_reuse.analyses.reuse.label_kernels import LABEL_ROWS
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.filters import keep_matching
from beam_reuse.columnar.schema import gives, less, same
from beam_reuse.core.labels import LabelKind
from beam_reuse.experiments.loading import SCHEMAS
from beam_reuse.experiments.names import ALL_CHUNKS, ALL_FILES
from beam_reuse.io.labels.batches import DIGEST
from beam_reuse.pages.objects import Objects
from beam_reuse.rows.results import Tagged

TOTALS = "totals"
NUMBERS = SCHEMAS["numbers"].rows


@gives(SCHEMAS["site_pages"].rows)
def site_pages(parts: Block, objects: Objects) -> Iterator[Block]:
    """One row per page: its file's hash, whether the file `counts`, and how many `chunks` the
    page is cut into, whether they count or not."""
    for counted in objects.chunks_of(parts, ("sha1",), places=False):
        pages = counted.rows.pages
        yield Block({
            "page": pages.number, "sha1": pages.rows.numbers("sha1"),
            "counts": objects.file_counts(pages),
            "chunks": np.diff(counted.rows.offsets) + counted.stopped,
        })


@gives(SCHEMAS["site_chunks"].rows)
def site_chunks(parts: Block, objects: Objects) -> Iterator[Block]:
    """One row per chunk that counts: its page and its place in it."""
    for counted in objects.chunks_of(parts, places=False):
        rows = counted.rows
        yield Block({"page": rows.per_chunk(rows.pages.number), "position": counted.position,
                     "sha1": rows.sha1})


@gives(COUNTS, {TOTALS: NUMBERS})
def counted(parts: Block, objects: Objects) -> Iterator[Block | Tagged]:
    """Every file and chunk that counts, with occurrences; tagged TOTALS, rows of `numbers`: how
    many there are of each kind."""
    total = dict.fromkeys(LabelKind, 0)
    for block in counts(parts, objects):
        yield block
        for kind in block.array("kind")[:1]:
            total[kind] += int(block.array("count").sum())
    yield Tagged(TOTALS, Block.concat([
        number_row(total[LabelKind.FILE], ALL_FILES),
        number_row(total[LabelKind.CHUNK], ALL_CHUNKS)]))


@gives(COUNTS)
def counted_of(parts: Block, objects: Objects, wanted: Any) -> Iterator[Block]:
    """Those files and chunks that `wanted` may hold, with occurrences."""
    return (keep_matching(block, wanted) for block in counts(parts, objects))


@gives(same)
def chunks_times(counts: Block, times: int) -> Block:
    """Of counted files and chunks the chunks, `times` over."""
    chunks = of_kind(counts, LabelKind.CHUNK)
    return chunks.with_columns(count=chunks.array("count") * np.uint64(times))


@gives(less(LABEL_ROWS, "bytes", "text"))
def chunk_labels(rows: Block) -> Block:
    """Of files and chunks the chunks as label rows; nobody knows where they come from."""
    chunks = of_kind(rows, LabelKind.CHUNK)
    return chunks.select(KEY).with_columns(
        source_url=Maybe.nulls(len(chunks)), domains=Maybe.nulls(len(chunks), np.int64),
        nilsimsa=Maybe.nulls(len(chunks), DIGEST))


@gives(SCHEMAS["occurrences"].rows)
def count_table(counts: Block) -> Block:
    """Rows of the table `occurrences`."""
    return counts.with_columns(kind=counts.array("kind").astype(np.int64),
                               count=counts.array("count").astype(np.int64))


@gives(NUMBERS)
def judged(neighbourhoods: Block, name: str) -> Block:
    """How many neighbourhoods there are, and how many are flagged."""
    flagged = int(neighbourhoods.array("flagged").sum())
    return Block.concat([number_row(len(neighbourhoods), f"neighbourhoods {name}"),
                         number_row(flagged, f"flagged {name}")])


@gives(NUMBERS)
def number_of_labels(rows: Block, name: str) -> Block:
    """How many labels there are."""
    return number_row(len(rows), f"labels {name}")


@gives(NUMBERS)
def with_value(rows: Block, value: int) -> Block:
    """Rows that have a name, with the value that was found for it."""
    return rows.with_columns(value=np.full(len(rows), value, np.int64))


def number_row(value: int, name: str) -> Block:
    """A row of the table `numbers`."""
    return Block({"what": VarBytes.from_list([name.encode()]),
                  "value": np.array([value], np.int64)})
