"""Crawl files become an index, a result folder that is an input of every command.

It holds every record that may be a page, all captures, robots.txt and recursion errors too, so
that what counts as a page is decided by whoever reads it. The same bytes for the same input.
"""

from collections.abc import Iterator

import numpy as np

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.schema import gives
from beam_reuse.core.features import FeatureSettings
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.files import crc32_of, join, sha256_of
from beam_reuse.io.index import INDEX, require_undamaged
from beam_reuse.io.parts import part_path, read_part
from beam_reuse.io.results.manifest import Part
from beam_reuse.io.results.outcome import PAGES
from beam_reuse.pages.accounting import ABSENT, count_events
from beam_reuse.pages.cuts import FalseStarts
from beam_reuse.pages.ingest import IngestSettings
from beam_reuse.pages.inputs import Inputs
from beam_reuse.pages.reading import read_records
from beam_reuse.pages.rewrite import rewrite_part
from beam_reuse.pages.writing import RECEIPTS, receipts_of
from beam_reuse.rows import Count, Plan, Rows


def write_index(
    plan: Plan, inputs: Inputs, folder: str, read: ReadSettings, features: FeatureSettings,
    progress: str,
) -> tuple[Rows, Rows]:
    """Receipts of the parts of one index below `folder`, and its `events`. What `features` have
    signed need not be signed again by who reads it."""
    settings = IngestSettings(read, features, cut_urls=False)
    records = read_records(plan, inputs, join(folder, INDEX), settings, progress)
    sealed = records.parts.map(seal, folder, features, records.false)
    return sealed + records.seen + records.events.map(count_events), records.events


@gives(RECEIPTS)
def seal(
    parts: Block, folder: str, features: FeatureSettings, false: FalseStarts,
) -> Iterator[Block | Count]:
    """Receipts of parts in their final form: copied, cleaned or cut anew where they must be."""
    for i in range(len(parts)):
        number = int(parts.array("range")[i])
        source = parts.strings("path")[i].decode()
        target = part_path(join(folder, INDEX), number)
        if checksum := parts.strings("checksum")[i].decode():
            require_undamaged(source, checksum)
        if source != target or number in false:
            rewrite_part(source, target, false.get(number, 0),
                         None if parts.array("chunked")[i] else features)
        rows, absent = _rows_of(target)
        if rows:
            path = target.removeprefix(folder).lstrip("/")
            yield receipts_of(iter([
                Part(INDEX, path, rows, sha256_of(target), crc32_of(target))]))
            yield Count(PAGES, rows)
            yield Count(ABSENT, absent)


def _rows_of(path: str) -> tuple[int, int]:
    """Pages of a part, and how many of them are not in the encoding their header names."""
    flags = [rows.numbers("encoding_absent") for rows in read_part(path, ("encoding_absent",))]
    joined = np.concatenate(flags) if flags else np.zeros(0, np.bool_)
    return len(joined), int(joined.sum())
