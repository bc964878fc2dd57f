"""From the pages of parts to grams; no Beam.

A *document* is a page at one of the gram sizes of the sweep: its number is that of the page times
the number of sizes, plus the number of the size. Its *owners*, where the variant asks for them, are
`domain` and `address`, fingerprints of the page's (address 0: none known).
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.quilts.definition import Sweep, gram_sets
from beam_reuse.analyses.quilts.settings import QuiltSettings
from beam_reuse.columnar.block import Block, Lists
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.schema import FINGERPRINT, NUMBER, UNSIGNED, columns, gives, less, lists
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.io.ip_tables import read_ip_tables
from beam_reuse.pages.rows import NumberedRows, numbered_rows
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Count, Tagged

COUNTS = "counts"
SHORT = "pages-shorter-than-a-gram"
OWNERS = {"any": (), "foreign": ("domain",), "ip": ("domain", "address")}
_READ = {"any": (), "foreign": ("domain",), "ip": ("domain", "host", "ip")}


def _documents(parts: pa.Schema, settings: QuiltSettings, *_: object) -> pa.Schema:
    owners = dict.fromkeys(OWNERS[settings.variant], FINGERPRINT)
    return columns(doc=UNSIGNED, **owners, grams=lists(FINGERPRINT))


def count_columns(rows: pa.Schema, settings: QuiltSettings, *_: object) -> pa.Schema:
    """The columns of counts of grams, repeated grams and patch grams of documents."""
    return columns(doc=UNSIGNED, grams=NUMBER, repeated=NUMBER,
                   **dict.fromkeys(patch_columns(settings), NUMBER))


@gives(_documents)
def document_grams(
    parts: Block, settings: QuiltSettings, among: HeavyKeys | None,
) -> Iterator[Block | Count]:
    """The documents that have grams, each gram once; only grams that may be `among` these, where
    they are pages of a baseline. Also how many others have tokens, but too few for a gram."""
    sizes = Sweep.of(settings).sizes
    for pages in numbered_rows(parts, ("tokens", *_READ[settings.variant])):
        offsets, tokens = pages.rows.lists("tokens").flat()
        owners = _owners(pages, settings)
        length = np.diff(offsets)
        if among is None:
            yield Count(SHORT, int(((length > 0) & (length < min(sizes))).sum()))
        for number, size in enumerate(sizes):
            doc = pages.number.astype(np.uint64) * np.uint64(len(sizes)) + np.uint64(number)
            grams, ends = gram_sets(tokens, offsets, size)
            if among is not None:
                held = among.may_hold(Block({"gram": grams}))
                grams, ends = grams[held], np.append(0, np.cumsum(held))[ends]
            found = np.diff(ends)
            some = found > 0
            yield Block({
                "doc": doc[some], **{name: values[some] for name, values in owners.items()},
                "grams": Lists.from_lengths(found[some], grams)})


def _owners(pages: NumberedRows, settings: QuiltSettings) -> dict[str, NDArray[np.uint64]]:
    if settings.variant == "any":
        return {}
    found = {"domain": pages.rows.strings("domain").hash64()}
    if settings.variant == "ip":
        known = read_ip_tables(settings.ip_tables)
        names = pages.rows.strings("host").to_list()
        addresses = VarBytes.from_list([
            address or known.get(host, b"")
            for address, host in zip(pages.rows.strings("ip").to_list(), names, strict=True)])
        found["address"] = np.where(addresses.lengths() > 0, addresses.hash64(), np.uint64(0))
    return found


@gives(columns(gram=FINGERPRINT))
def all_grams(documents: Block) -> Block:
    """The grams of all documents."""
    return Block({"gram": documents.lists("grams").used()})


@gives(lambda documents, *_: columns(less(documents, "grams"), gram=FINGERPRINT),
       {COUNTS: count_columns})
def gram_rows(
    documents: Block, settings: QuiltSettings, sides: Sides, repeated: HeavyKeys,
) -> Iterator[Block | Tagged]:
    """A row for each gram of a document that may occur in others. Also COUNTS: how many `grams`
    each new document has, and how many of these are `repeated`; no patch grams yet."""
    offsets, grams = documents.lists("grams").flat()
    kept = repeated.may_hold(Block({"gram": grams}))
    counts = np.add.reduceat(kept, offsets[:-1], dtype=np.int64)
    yield Block({"gram": grams[kept], **{
        name: np.repeat(documents.array(name), counts) for name in documents if name != "grams"}})
    yield Tagged(COUNTS, Block({
        "doc": documents["doc"], "grams": np.diff(offsets), "repeated": counts,
        **{name: np.zeros_like(counts) for name in patch_columns(settings)},
    }).take(is_new(documents.array("doc"), settings, sides)))


def is_new(doc: NDArray[np.uint64], settings: QuiltSettings, sides: Sides) -> NDArray[np.bool_]:
    """Which documents are new pages."""
    return sides.new(doc // np.uint64(len(Sweep.of(settings).sizes)))


def patch_columns(settings: QuiltSettings) -> tuple[str, ...]:
    """Columns with the numbers of patch grams, one for each limit of pages per gram."""
    return tuple(f"patch_{number}" for number in range(len(Sweep.of(settings).limits)))
