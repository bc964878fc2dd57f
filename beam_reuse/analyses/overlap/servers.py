"""Hosts: what is known of them, which overlap, and which are one server under several names.
No Beam."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.copies import SHARED_PAGE
from beam_reuse.analyses.overlap.definition import relations
from beam_reuse.analyses.overlap.pairs import chunking_names, chunking_of, contained
from beam_reuse.analyses.overlap.reading import ADDRESS, size_columns, size_names
from beam_reuse.analyses.overlap.schemas import EXACT_COPIES, SERVER_OVERLAP
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block, Lists, Maybe, VarBytes
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FINGERPRINT, NUMBER, TEXT, columns, gives, lists
from beam_reuse.rows import Tagged

ALIASES = "aliases"
HOST_PAIR = ("host_a", "host_b")
_RELATIONS = VarBytes.from_list([b"overlap", b"part", b"mirror"])
_MIRROR = 2
_CAUSES = Maybe.unless_empty(
    VarBytes.from_list([b"", b"url-alias", b"server-alias", b"replication"]))
_NO_CAUSE, _URL_ALIAS, _SERVER_ALIAS, _REPLICATION = range(4)


def _hosts(rows: pa.Schema, chunkings: int) -> pa.Schema:
    return columns(unit=FINGERPRINT, name=TEXT, addresses=lists(FINGERPRINT),
                   **dict.fromkeys(size_names(chunkings), NUMBER))


@gives(_hosts)
def host_table(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], chunkings: int
) -> Block:
    """Host rows of whole hosts, sorted by kind and value -> `unit`, its `name`, its `addresses`
    (in order) and how many fingerprints it has (`size_columns`)."""
    kind, value = rows.array("kind"), rows.array("value")
    which = np.repeat(np.arange(len(starts)), sizes)
    counts = np.zeros((chunkings, len(starts)), np.int64)
    counted = kind != ADDRESS
    np.add.at(counts, (kind[counted], which[counted]), value[counted].astype(np.int64))
    address = np.flatnonzero(~counted & (value > 0))
    new = np.ones(len(address), np.bool_)
    new[1:] = (value[address][1:] != value[address][:-1]) | (np.diff(which[address]) > 0)
    address = address[new]
    known = np.bincount(which[address], minlength=len(starts))
    return Block({
        "unit": rows.array("unit")[starts],
        "name": rows.strings("name").take(starts + sizes - 1),
        "addresses": Lists.from_lengths(known, value[address]),
        **size_columns(counts),
    })


@gives(SERVER_OVERLAP.rows, {ALIASES: columns(**dict.fromkeys(HOST_PAIR, FINGERPRINT))})
def related_hosts(pairs: Block, settings: OverlapSettings) -> Iterator[Block | Tagged]:
    """Rows of `server_overlap`; ALIASES: pairs of hosts that are one server by another name, or
    share a page and have an address in common."""
    hosts = Block({"host_a": pairs["unit"], "host_b": pairs["other"]})
    yield Tagged(ALIASES, hosts.take(_same_address(
        pairs.lists("addresses_a"), pairs.lists("addresses_b"))))
    known = pairs.array("tag") != SHARED_PAGE
    pairs, hosts = pairs.take(known), hosts.take(known)
    shares = np.stack([contained(pairs, turn, settings) for turn in "ab"])
    relation = relations(shares[0], shares[1], settings.mirror)
    yield Tagged(ALIASES, hosts.take(relation == _MIRROR))
    turned = _turned(pairs.strings("name_a"), pairs.strings("name_b")).astype(np.int64)
    n, at = len(pairs), np.arange(len(pairs))
    names = VarBytes.concat([pairs.strings("name_a"), pairs.strings("name_b")])
    yield Block({
        "chunking": chunking_names(chunking_of(pairs), settings),
        "host_a": names.take(at + n * turned), "host_b": names.take(at + n * (1 - turned)),
        "shared": pairs["shared"],
        "containment_a": shares[turned, at], "containment_b": shares[1 - turned, at],
        "relation": _RELATIONS.take(relation),
    })


def _turned(first: VarBytes, second: VarBytes) -> NDArray[np.bool_]:
    """Where the second name is the smaller one."""
    n = len(first)
    rank = np.empty(2 * n, np.int64)
    both = Block({"name": VarBytes.concat([first, second])})
    rank[both.sort_order(("name",))] = np.arange(2 * n)
    return np.asarray(rank[:n] > rank[n:])


def _same_address(first: Lists, second: Lists) -> NDArray[np.bool_]:
    """Whether the two hosts of a pair have an address in common."""
    rows = []
    for side in (first, second):
        pair = np.repeat(np.arange(len(side)), side.lengths())
        rows.append(Block({"pair": pair, "address": side.used()}))
    both = Block.concat(rows).sort(("pair", "address"))
    again = np.ones(len(both), np.bool_)
    again[both.starts(("pair", "address"))] = False
    out = np.zeros(len(first), np.bool_)
    out[both.array("pair")[again]] = True
    return out


@gives(EXACT_COPIES.rows)
def exact_copies(copies: Block | None, aliases: Block | None) -> Iterator[Block]:
    """Rows of that table: each copy with its likely cause, and each centre once."""
    if copies is None:
        return
    alias = np.zeros(len(copies), np.bool_)
    if aliases is not None:
        alias = lookup(copies, aliases, HOST_PAIR) >= 0
    same = copies.array("host_a") == copies.array("host_b")
    cause = np.where(same, _URL_ALIAS, np.where(alias, _SERVER_ALIAS, _REPLICATION))
    yield Block({"centre": copies["centre"], "url": copies["page"], "cause": _CAUSES.take(cause)})
    centre = copies.array("centre")[copies.array("second")]
    yield Block({"centre": centre, "url": centre,
                 "cause": _CAUSES.take(np.full(len(centre), _NO_CAUSE))})
