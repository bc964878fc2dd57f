"""Pages of which `labels` left out every chunk; no Beam."""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.reuse.distinctive import REASONS
from beam_reuse.analyses.reuse.settings import ON_SEVERAL_DOMAINS
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.schema import NUMBER, TEXT, columns, gives
from beam_reuse.core.labels import LabelKind
from beam_reuse.io.results.tables import PAGES_WITHOUT_LABELS
from beam_reuse.rows import Rows

_CHUNKS = columns(url=TEXT, chunks=NUMBER, kept=NUMBER, several=NUMBER, host=TEXT)
_OF_PAGE = {"chunks": "sum", "kept": "sum", "several": "sum", "host": "max"}
_SEVERAL = 1 + REASONS.index(ON_SEVERAL_DOMAINS)


def pages_without_labels(kept: Rows, left_out: Rows) -> Rows:
    """Label rows that are kept, and those that are left out -> rows of `pages_without_labels`:
    sources of chunks, none of which is kept. One row for each chunk and source travels."""
    counted = kept.map(_kept) + left_out.map(_left_out)
    return counted.reduce("url", _OF_PAGE).map(_without_labels)


@gives(_CHUNKS)
def _kept(labels: Block) -> Block:
    some = _with_source(labels)
    return _chunks(labels.take(some), np.ones(len(some), np.int64), np.zeros(len(some), np.int64),
                   VarBytes.from_list([b""]).take(np.zeros(len(some), np.int64)))


@gives(_CHUNKS)
def _left_out(labels: Block) -> Block:
    """A host of the background is named where that is the reason."""
    some = labels.take(_with_source(labels))
    several = some.array("reason") == _SEVERAL
    hosts = VarBytes.concat([some.strings("example"), VarBytes.from_list([b""])]).take(
        np.where(several, len(some), np.arange(len(some))))
    return _chunks(some, np.zeros(len(some), np.int64), several.astype(np.int64), hosts)


def _with_source(labels: Block) -> NDArray[np.int64]:
    """Which labels are of chunks with a source."""
    is_chunk = labels.array("kind") == LabelKind.CHUNK
    return np.flatnonzero(is_chunk & labels.maybe("source_url").valid)


def _chunks(labels: Block, kept: NDArray[np.int64], several: NDArray[np.int64],
            host: VarBytes) -> Block:
    return Block({"url": labels.maybe("source_url").values, "kept": kept, "several": several,
                  "chunks": np.ones(len(labels), np.int64), "host": host})


@gives(PAGES_WITHOUT_LABELS.rows)
def _without_labels(pages: Block) -> Block:
    lost = pages.take(pages.array("kept") == 0)
    return Block({"url": lost["url"], "chunks": lost["chunks"],
                  "on_several_domains": lost["several"],
                  "background_host": Maybe.unless_empty(lost.strings("host"))})
