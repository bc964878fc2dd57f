"""What overlap reads of the pages of parts; no Beam.

A *tag* says of which chunking a fingerprint is, and whether it stands for the page or for its
host: see `page_tag` and `host_tag`. Hosts are known by 64-bit hashes of their names.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from apache_beam.pvalue import TaggedOutput
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.copies import Roles
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.coarse import HeavyKeys
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.core import overlap
from beam_reuse.core.overlap import Chunking, Ragged, chunkings_of
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import OverlapSettings
from beam_reuse.core.text import read_html, read_plain
from beam_reuse.io.crawl.payload import decode_text
from beam_reuse.kernels.prefixes import directory_prefixes
from beam_reuse.pages.rows import NumberedRows, numbered_rows

KEYS, LINELESS, HOSTS, TOTALS = "keys", "lineless", "hosts", "totals"
FINGERPRINTS, PREFIXES = "fingerprints", "prefixes"
ADDRESS = 255
"""The kind of a host row that tells an address (0: none known) and the name; of others the kind
is the number of a chunking, and `value` tells of so many fingerprints of the host."""


def page_tag(chunking: int) -> int:
    return 2 * chunking


def host_tag(chunking: int) -> int:
    return 2 * chunking + 1


def _columns(chunkings: Sequence[Chunking], *more: str) -> list[str]:
    needed = (name for chunking in chunkings for name in chunking.columns)
    return list(dict.fromkeys(["lines", *needed, *more]))


def fingerprints(pages: NumberedRows, chunking: Chunking) -> Ragged:
    """The distinct fingerprints of each page; none of pages without lines."""
    lines = pages.rows.lists("lines")
    if chunking.unit == overlap.WHOLE:
        some = np.diff(lines[0]) > 0
        return np.append(0, np.cumsum(some)), overlap.whole_fingerprints(lines)[some]
    if chunking.unit == "lines":
        return overlap.line_groups(lines, chunking)
    if chunking.unit == "words":
        return overlap.line_groups(pages.rows.lists("tokens"), chunking)
    if chunking.unit == overlap.PARAGRAPH:
        return overlap.paragraph_groups(lines, pages.rows.lists("paragraphs"))
    return overlap.sentence_groups(list(_texts(pages, np.diff(lines[0]) > 0)))


def _texts(pages: NumberedRows, some: NDArray[np.bool_]) -> Iterator[bytes]:
    """The texts of some pages, parsed anew from their payloads; nothing of others."""
    payload, charset = pages.rows.strings("payload"), pages.rows.strings("charset")
    for i, kind in enumerate(pages.rows.numbers("kind").tolist()):
        if not some[i]:
            yield b""
            continue
        text = decode_text(payload[i], charset[i].decode())
        yield (read_html(text) if kind == Kind.HTML else read_plain(text)).text


def page_rows(parts: Block, settings: OverlapSettings) -> Iterator[Block | TaggedOutput]:
    """Pages with lines: `page`, the fingerprint of all lines (`whole`), `host` and `bytes`. Also
    KEYS: fingerprints of all chunkings; HOSTS: names and addresses, of pages without lines, too;
    TOTALS: pages and bytes of hosts; LINELESS: pages without lines."""
    chunkings = chunkings_of(settings)
    for pages in numbered_rows(parts, _columns(chunkings, "host", "ip", "bytes")):
        lines, names = pages.rows.lists("lines"), pages.rows.strings("host")
        some = np.diff(lines[0]) > 0
        rows = Block({
            "page": pages.number.astype(np.uint64), "whole": overlap.whole_fingerprints(lines),
            "host": names.hash64(), "bytes": pages.rows.numbers("bytes"),
        })
        yield TaggedOutput(LINELESS, rows.select(("page",)).take(~some))
        yield TaggedOutput(HOSTS, distinct(
            _addresses(pages, rows.array("host"), names), ("host", "value")))
        yield TaggedOutput(TOTALS, _host_totals(rows.take(some), names.take(some)))
        yield rows.take(some)
        for chunking in chunkings:
            yield TaggedOutput(KEYS, Block({"key": fingerprints(pages, chunking)[1]}))


def _addresses(pages: NumberedRows, host: NDArray[np.uint64], names: VarBytes) -> Block:
    """The name and the address of the host of each page."""
    address = pages.rows.strings("ip")
    return Block({
        "host": host, "kind": np.full(len(host), ADDRESS, np.uint8),
        "value": np.where(address.lengths() > 0, address.hash64(), np.uint64(0)), "name": names,
    })


def _host_totals(rows: Block, names: VarBytes) -> Block:
    host, first, which = np.unique(rows.array("host"), return_index=True, return_inverse=True)
    ones = np.ones(len(rows), np.int64)
    return Block({
        "host": host, "name": names.take(first), "pages": _sums(which, ones, len(host)),
        "bytes": _sums(which, rows.array("bytes"), len(host)),
    })


def _sums(which: NDArray, values: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    out = np.zeros(groups, np.int64)
    np.add.at(out, which, values)
    return out


def fingerprint_rows(
    parts: Block, settings: OverlapSettings, heavy: HeavyKeys, roles: Roles,
) -> Iterator[Block | TaggedOutput]:
    """Fingerprints that may stand on two pages or more: `tag`, `key`, and in `unit` the page or
    the host. Exact copies have none for their pages, and those on the host of their centre none
    at all where their fingerprints are the same. Also HOSTS: how many fingerprints of hosts stand
    on one page; FINGERPRINTS: how many those are in all; PREFIXES: directories with the number
    and bytes of their pages that are no copies."""
    chunkings = chunkings_of(settings)
    for pages in numbered_rows(parts, _columns(chunkings, "host", "url", "bytes")):
        page = pages.number.astype(np.uint64)
        host = pages.rows.strings("host").hash64()
        copies, silent = roles.copies(page), roles.silent(page)
        alone = 0
        for number, chunking in enumerate(chunkings):
            offsets, keys = fingerprints(pages, chunking)
            of = np.repeat(np.arange(len(page)), np.diff(offsets))
            shared = heavy.may_hold(Block({"key": keys}))
            yield TaggedOutput(HOSTS, _fingerprints_of(host[of[~shared]], number))
            if chunking.unit != overlap.WHOLE:
                alone += int((~shared & ~copies[of]).sum())
                at = np.flatnonzero(shared & ~copies[of])
                yield _units(page_tag(number), keys[at], page[of[at]])
            at = np.flatnonzero(shared & ~silent[of] if chunking.follows_lines else shared)
            yield distinct(_units(host_tag(number), keys[at], host[of[at]]), ("key", "unit"))
        yield TaggedOutput(FINGERPRINTS, Block({"alone": np.array([alone])}))
        centres = ~copies & (np.diff(pages.rows.lists("lines")[0]) > 0)
        yield TaggedOutput(PREFIXES, _prefix_totals(
            pages.urls().take(centres), pages.rows.numbers("bytes")[centres]))


def _units(tag: int, keys: NDArray[np.uint64], units: NDArray[np.uint64]) -> Block:
    return Block({"tag": np.full(len(keys), tag, np.uint8), "key": keys, "unit": units})


def distinct(rows: Block, keys: Sequence[str]) -> Block:
    """One row for each value of the keys."""
    ordered = rows.sort(keys)
    return ordered.take(ordered.starts(keys))


def _fingerprints_of(hosts: NDArray[np.uint64], chunking: int) -> Block:
    """Host rows: each host as often as it stands in `hosts`."""
    host, counts = np.unique(hosts, return_counts=True)
    return Block({
        "host": host, "kind": np.full(len(host), chunking, np.uint8),
        "value": counts.astype(np.uint64), "name": VarBytes.from_list([b""] * len(host)),
    })


def counted_units(rows: Block) -> Iterator[Block]:
    """Host rows of distinct fingerprint rows: each adds one to its host."""
    tag = rows.array("tag")
    for number in np.unique(tag[tag % 2 == 1]).tolist():
        yield _fingerprints_of(rows.array("unit")[tag == number], number // 2)


def prefix_rows(urls: VarBytes) -> tuple[NDArray[np.int64], Block]:
    """For each directory above each page the number of the page; and `id` and `prefix`."""
    page, _, offsets, data = directory_prefixes(urls.offsets, urls.data)
    prefix = VarBytes(offsets, data)
    return page, Block({"id": prefix.hash64(), "prefix": prefix})


def _prefix_totals(urls: VarBytes, size: NDArray[np.int64]) -> Block:
    page, rows = prefix_rows(urls)
    ids, which = np.unique(rows.array("id"), return_inverse=True)
    return Block({
        "id": ids, "pages": _sums(which, np.ones(len(page), np.int64), len(ids)),
        "bytes": _sums(which, size[page], len(ids)),
    })


def facts(parts: Block, settings: OverlapSettings, asked: KeyFilter) -> Iterator[Block]:
    """Of the pages that are asked for, and perhaps of others: `url`, `host`, `bytes`, and how many
    fingerprints they have by each chunking (`sizes`, 8 bytes each)."""
    chunkings = chunkings_of(settings)
    for pages in numbered_rows(parts, _columns(chunkings, "host", "url", "bytes")):
        page = Block({"page": pages.number.astype(np.uint64)})
        some = asked.may_hold(page)
        if not some.any():
            continue
        sizes = np.stack([np.diff(fingerprints(pages, each)[0]) for each in chunkings], 1)
        yield page.with_columns(
            url=pages.urls(), host=pages.rows.strings("host"),
            bytes=pages.rows.numbers("bytes"), sizes=packed(sizes)).take(some)


def packed(sizes: NDArray[np.int64]) -> NDArray:
    """Rows of sizes as one value each."""
    dense = np.ascontiguousarray(sizes.astype(np.uint64))
    return dense.view(f"V{8 * dense.shape[1]}").reshape(len(dense))


def size_of(packed_sizes: NDArray, chunking: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each row of sizes that of a chunking."""
    dense = np.ascontiguousarray(packed_sizes)
    sizes = dense.view(np.uint64).reshape(len(dense), dense.dtype.itemsize // 8)
    return sizes[np.arange(len(dense)), chunking].astype(np.int64)
