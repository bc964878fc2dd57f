"""From the pages of parts to rows of grams; no Beam.

A *document* is a page at one of the gram sizes of the sweep: its number is that of the page times
the number of sizes, plus the number of the size. A row of grams has `gram`, `doc`, and where the
variant asks for it `domain` and `address`, fingerprints of the page's (address 0: none known).
"""

from collections.abc import Iterator

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Column
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.runs import slices
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.quilts import Sweep, gram_sets
from beam_reuse.core.settings import QuiltSettings
from beam_reuse.io.ip_tables import read_ip_tables
from beam_reuse.pages.rows import NumberedRows, numbered_rows

TOTALS, NOTED = "totals", "noted"
SHORT = "pages-shorter-than-a-gram"
OWNERS = {"any": (), "foreign": ("domain",), "ip": ("domain", "address")}
_READ = {"any": (), "foreign": ("domain",), "ip": ("domain", "host", "ip")}
_BLOCK_BYTES = 8 << 20


def patch_columns(settings: QuiltSettings) -> tuple[str, ...]:
    """Columns with the numbers of patch grams, one for each limit of pages per gram."""
    return tuple(f"patch_{number}" for number in range(len(Sweep.of(settings).limits)))


def all_grams(parts: Block, settings: QuiltSettings) -> Iterator[Block]:
    """The grams of every page, each once per page."""
    for pages in numbered_rows(parts, ("tokens",)):
        offsets, tokens = pages.rows.lists("tokens")
        for size in Sweep.of(settings).sizes:
            yield Block({"gram": gram_sets(tokens, offsets, size)[0]})


def gram_rows(
    parts: Block, settings: QuiltSettings, heavy: HeavyKeys
) -> Iterator[Block | TaggedOutput]:
    """Rows of all grams that may stand on several pages. Also TOTALS: the number of grams of each
    document that has any, and NOTED: how many pages have tokens, but too few for a gram."""
    sizes, nothing = Sweep.of(settings).sizes, patch_columns(settings)
    for pages in numbered_rows(parts, ("tokens", *_READ[settings.variant])):
        offsets, tokens = pages.rows.lists("tokens")
        owners = _owners(pages, settings)
        length = np.diff(offsets)
        yield TaggedOutput(NOTED, (SHORT, int(((length > 0) & (length < min(sizes))).sum())))
        for number, size in enumerate(sizes):
            doc = pages.number.astype(np.uint64) * np.uint64(len(sizes)) + np.uint64(number)
            grams, ends = gram_sets(tokens, offsets, size)
            counts = np.diff(ends)
            zeros = {name: np.zeros(len(doc), np.int64) for name in nothing}
            yield TaggedOutput(
                TOTALS, Block({"doc": doc, "grams": counts, **zeros}).take(counts > 0))
            kept = np.flatnonzero(heavy.may_hold(Block({"gram": grams})))
            page = np.repeat(np.arange(len(doc)), counts)[kept]
            rows: dict[str, Column] = {"gram": grams[kept], "doc": doc[page]}
            rows |= {name: values[page] for name, values in owners.items()}
            yield from slices([Block(rows)], _BLOCK_BYTES)


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
