"""Hosts: what is known of them, which overlap, and which are one server under several names.
No Beam."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.overlap.copies import UNKNOWN
from beam_reuse.analyses.overlap.definition import enough_for_aliases, relations
from beam_reuse.analyses.overlap.pairs import chunking_names, chunking_of, share_of
from beam_reuse.analyses.overlap.reading import NAME, size_columns, size_names
from beam_reuse.analyses.overlap.schemas import EXACT_COPIES, SERVER_OVERLAP
from beam_reuse.analyses.overlap.settings import OverlapSettings
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FINGERPRINT, FLAG, NUMBER, TEXT, columns, gives
from beam_reuse.rows import Tagged

ALIASES = "aliases"
HOST_PAIR = ("host_a", "host_b")
_RELATIONS = VarBytes.from_list([b"overlap", b"part", b"mirror"])
_MIRROR = 2
_CAUSES = Maybe.unless_empty(
    VarBytes.from_list([b"", b"url-alias", b"server-alias", b"replication"]))
_NO_CAUSE, _URL_ALIAS, _SERVER_ALIAS, _REPLICATION = range(4)


def _hosts(rows: pa.Schema, chunkings: int) -> pa.Schema:
    return columns(unit=FINGERPRINT, name=TEXT, new=FLAG, **dict.fromkeys(
        size_names(chunkings), NUMBER))


@gives(_hosts)
def host_table(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64], chunkings: int
) -> Block:
    """Host rows of whole hosts, sorted by kind -> `unit`, its `name`, whether it has `new` pages,
    and how many fingerprints it has (`size_columns`)."""
    kind = rows.array("kind")
    which = np.repeat(np.arange(len(starts)), sizes)
    counts = np.zeros((chunkings, len(starts)), np.int64)
    counted = kind != NAME
    np.add.at(counts, (kind[counted], which[counted]),
              rows.array("value")[counted].astype(np.int64))
    return Block({
        "unit": rows.array("unit")[starts],
        "name": rows.strings("name").take(starts + sizes - 1), **size_columns(counts),
        "new": np.logical_or.reduceat(~counted & (rows.array("value") > 0), starts),
    })


@gives(SERVER_OVERLAP.rows, {ALIASES: columns(**dict.fromkeys(HOST_PAIR, FINGERPRINT))})
def related_hosts(pairs: Block, settings: OverlapSettings) -> Iterator[Block | Tagged]:
    """Rows of `server_overlap` with a host that has new pages; ALIASES: pairs of hosts that are
    mirrors of each other, and not by few whole pages alone."""
    hosts = Block({"host_a": pairs["unit"], "host_b": pairs["other"]})
    shares = np.stack([share_of(pairs, turn, settings) for turn in "ab"])
    relation = relations(shares[0], shares[1], settings.mirror)
    enough = pairs.array("shared") >= enough_for_aliases(settings)[chunking_of(pairs)]
    yield Tagged(ALIASES, hosts.take((relation == _MIRROR) & enough))
    turned = _turned(pairs.strings("name_a"), pairs.strings("name_b")).astype(np.int64)
    n, at = len(pairs), np.arange(len(pairs))
    names = VarBytes.concat([pairs.strings("name_a"), pairs.strings("name_b")])
    yield Block({
        "chunking": chunking_names(chunking_of(pairs), settings),
        "host_a": names.take(at + n * turned), "host_b": names.take(at + n * (1 - turned)),
        "shared": pairs["shared"],
        "containment_a": shares[turned, at], "containment_b": shares[1 - turned, at],
        "relation": _RELATIONS.take(relation),
    }).take(pairs.array("new_a") | pairs.array("new_b"))


def _turned(first: VarBytes, second: VarBytes) -> NDArray[np.bool_]:
    """Where the second name is the smaller one."""
    n = len(first)
    rank = np.empty(2 * n, np.int64)
    both = Block({"name": VarBytes.concat([first, second])})
    rank[both.sort_order(("name",))] = np.arange(2 * n)
    return np.asarray(rank[:n] > rank[n:])


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
    same_ip = copies.array("same_ip")
    yield Block({"centre": copies["centre"], "url": copies["page"], "cause": _CAUSES.take(cause),
                 "same_ip": Maybe(same_ip == 1, same_ip != UNKNOWN)})
    centre = copies.array("centre")[copies.array("second")]
    yield Block({"centre": centre, "url": centre,
                 "cause": _CAUSES.take(np.full(len(centre), _NO_CAUSE)),
                 "same_ip": Maybe.nulls(len(centre), np.bool_)})
