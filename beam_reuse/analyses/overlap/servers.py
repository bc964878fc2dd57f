"""Hosts: what is known of them, which overlap, and which are one server under several names."""

from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints.decorators import no_annotations
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.reading import ADDRESS, packed, size_of
from beam_reuse.columnar import MAIN, Block, GroupRows, JoinRows, MapBlocks, ReduceRows, Shuffle
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.core.overlap import containment, relations
from beam_reuse.core.settings import OverlapSettings

ALIASES = "aliases"
COPIED = 255
"""The number that stands for a chunking where two hosts are only known to share a page."""
HOSTS = ("host_a", "host_b")
RELATIONS = np.array([b"overlap", b"part", b"mirror"], object)
CAUSES = np.array([b"", b"url-alias", b"server-alias", b"replication"], object)
_URL_ALIAS, _SERVER_ALIAS, _REPLICATION = 1, 2, 3
_MIRROR = 2


class RelateServers(beam.PTransform):
    """{'pairs': `chunking`, `host_a`, `host_b` and `shared`; 'copies': rows of exact copies;
    'hosts': host rows} -> `server_overlap`, as blocks, and `copies` with their `cause`.

    Cost: two rows per pair of hosts that overlap or share a page, and one per copy.
    """

    def __init__(self, shuffle: Shuffle, settings: OverlapSettings) -> None:
        super().__init__()
        self.shuffle, self.settings = shuffle, settings

    @no_annotations
    def expand(self, given: dict[str, Any]) -> dict[str, beam.PCollection]:
        shuffle, settings = self.shuffle, self.settings
        hosts = given["hosts"] | "Hosts" >> GroupRows(
            shuffle, ("host",), host_table, len(settings.chunkings), order=("kind", "value"))
        copies = given["copies"] | "Ordered" >> MapBlocks(hosts_in_order)
        sharing = (
            copies | "HostsOfCopies" >> MapBlocks(_two_hosts)
            | "Distinct" >> ReduceRows(shuffle, HOSTS, {})
            | "AsPairs" >> MapBlocks(_sharing)
        )
        pairs: Any = tuple(
            each | f"First {n}" >> MapBlocks(_first) for n, each in enumerate(
                (given["pairs"], sharing)))
        for turn in ("a", "b"):
            pairs = {"left": pairs, "right": hosts} | f"Host {turn}" >> JoinRows(
                shuffle, ("host",), with_host, turn)
        related = pairs | "Relate" >> MapBlocks(related_hosts, settings, outputs=(ALIASES,))
        aliases = related[ALIASES] | "Aliases" >> ReduceRows(shuffle, HOSTS, {})
        return {
            "server_overlap": related[MAIN],
            "copies": {"left": copies, "right": aliases} | "Causes" >> JoinRows(
                shuffle, HOSTS, with_cause),
        }


def host_table(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], chunkings: int
) -> Block:
    """Host rows of whole hosts, sorted by kind and value -> `host`, its `name`, its `addresses`
    (8 bytes each, in order) and how many fingerprints it has by each chunking (`sizes`)."""
    kind, value = rows.array("kind"), rows.array("value")
    which = np.repeat(np.arange(len(starts)), sizes)
    counts = np.zeros((len(starts), chunkings), np.int64)
    told = kind != ADDRESS
    np.add.at(counts, (which[told], kind[told]), value[told].astype(np.int64))
    address = np.flatnonzero(~told & (value > 0))
    new = np.ones(len(address), np.bool_)
    new[1:] = (value[address][1:] != value[address][:-1]) | (np.diff(which[address]) > 0)
    address = address[new]
    lengths = 8 * np.bincount(which[address], minlength=len(starts))
    return Block({
        "host": rows.array("host")[starts],
        "name": rows.strings("name").take(starts + sizes - 1),
        "addresses": VarBytes.from_lengths(lengths, value[address].view(np.uint8)),
        "sizes": packed(counts),
    })


def hosts_in_order(copies: Block) -> Block:
    """Copies with both hosts as a pair in order."""
    a, b = copies.array("host_a"), copies.array("host")
    return copies.with_columns(host_a=np.minimum(a, b), host_b=np.maximum(a, b)).without("host")


def _two_hosts(copies: Block) -> Block:
    return copies.select(HOSTS).take(copies.array("host_a") != copies.array("host_b"))


def _sharing(pairs: Block) -> Block:
    return pairs.with_columns(chunking=np.full(len(pairs), COPIED, np.uint8),
                              shared=np.zeros(len(pairs), np.int64))


def _first(pairs: Block) -> Block:
    """Pairs, ready for the join of their first host."""
    return Block({"chunking": pairs["chunking"], "host": pairs["host_a"],
                  "other": pairs["host_b"], "shared": pairs["shared"]})


def with_host(pairs: Block | None, hosts: Block | None, turn: str) -> Block | None:
    """Pairs turned round, with what is known of `host` in columns with the suffix `turn`."""
    if pairs is None:
        return None
    if hosts is None or (found := lookup(pairs, hosts, ("host",))).min(initial=0) < 0:
        raise AssertionError("a host without a name")
    known = hosts.take(found)
    chunking = pairs.array("chunking").astype(np.int64)
    counted = np.where(chunking == COPIED, 0, chunking)
    return pairs.with_columns(**{
        "host": pairs["other"], "other": pairs["host"], f"host_{turn}": known["host"],
        f"name_{turn}": known["name"], f"addresses_{turn}": known["addresses"],
        f"size_{turn}": size_of(known.array("sizes"), counted),
    })


def related_hosts(pairs: Block, settings: OverlapSettings) -> Iterator[Block | TaggedOutput]:
    """Rows of `server_overlap`; ALIASES: pairs of hosts that are one server by another name."""
    known = pairs.array("chunking") != COPIED
    shared = pairs.array("shared")
    contained = [np.where(known, containment(shared, np.maximum(pairs.array(f"size_{turn}"), 1)), 0)
                 for turn in ("a", "b")]
    relation = relations(contained[0], contained[1], settings.mirror)
    alias = (relation == _MIRROR) | _same_address(
        pairs.strings("addresses_a"), pairs.strings("addresses_b"))
    yield TaggedOutput(ALIASES, pairs.select(HOSTS).take(alias))
    turned = _turned(pairs.strings("name_a"), pairs.strings("name_b"))
    n, at = len(pairs), np.arange(len(pairs))
    names = VarBytes.concat([pairs.strings("name_a"), pairs.strings("name_b")])
    chunkings = np.array([name.encode() for name in settings.chunkings] + [b""], object)
    number = np.where(known, pairs.array("chunking"), len(settings.chunkings))
    yield Block({
        "chunking": VarBytes.from_list(chunkings[number].tolist()),
        "host_a": names.take(np.where(turned, at + n, at)),
        "host_b": names.take(np.where(turned, at, at + n)),
        "shared": shared,
        "containment_a": np.where(turned, contained[1], contained[0]),
        "containment_b": np.where(turned, contained[0], contained[1]),
        "relation": VarBytes.from_list(RELATIONS[relation].tolist()),
    }).take(known)


def _turned(first: VarBytes, second: VarBytes) -> NDArray[np.bool_]:
    """Where the second name is the smaller one."""
    n = len(first)
    rank = np.empty(2 * n, np.int64)
    both = Block({"name": VarBytes.concat([first, second])})
    rank[both.sort_order(("name",))] = np.arange(2 * n)
    return np.asarray(rank[:n] > rank[n:])


def _same_address(first: VarBytes, second: VarBytes) -> NDArray[np.bool_]:
    """Whether the two hosts of a pair have an address in common."""
    rows = []
    for side in (first, second):
        pair = np.repeat(np.arange(len(side)), side.lengths() // 8)
        rows.append(Block({"pair": pair, "address": side.used().copy().view(np.uint64)}))
    both = Block.concat(rows).sort(("pair", "address"))
    again = np.ones(len(both), np.bool_)
    again[both.starts(("pair", "address"))] = False
    out = np.zeros(len(first), np.bool_)
    out[both.array("pair")[again]] = True
    return out


def with_cause(copies: Block | None, aliases: Block | None) -> Block | None:
    """Copies (`centre`, `page`) with the number of their likely `cause`."""
    if copies is None:
        return None
    alias = np.zeros(len(copies), np.bool_)
    if aliases is not None:
        alias = lookup(copies, aliases, HOSTS) >= 0
    same = copies.array("host_a") == copies.array("host_b")
    cause = np.where(same, _URL_ALIAS, np.where(alias, _SERVER_ALIAS, _REPLICATION))
    return copies.select(("centre", "page", "second")).with_columns(cause=cause.astype(np.uint64))
