"""Rows of `origins`: of sets, by the evidence of their pages, and of pairs of hosts, by the sets
that both have pages of. No Beam."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.origins.schemas import ORIGINS
from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FINGERPRINT, NUMBER, TEXT, columns, gives
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.origins import NONE, decide_each
from beam_reuse.rows import Tagged

KINDS = ("copies", "identity")
MOST_MEMBERS = 1 << 18
"""So many members of a set are looked at, those with the smallest URLs."""
VOTES = "votes"
PAIR = ("a", "b")
# For each of two hosts and each evidence, how many sets it is the original of.
VOTE_NAMES = tuple(f"{host}_{evidence}" for evidence in range(NONE) for host in PAIR)
VOTE_ROWS = columns(a=FINGERPRINT, b=FINGERPRINT, **dict.fromkeys(VOTE_NAMES, NUMBER))
HOST_PAIRS = columns(a=FINGERPRINT, b=FINGERPRINT, host_a=TEXT, host_b=TEXT)
_EVIDENCE = VarBytes.from_list([b"canonical", b"link", b"date", b"first-capture", b"none"])
_KINDS = VarBytes.from_list([*(kind.encode() for kind in KINDS), b"hosts"])


@gives(ORIGINS.rows, {VOTES: VOTE_ROWS})
def decide_sets(
    members: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64],
) -> Iterator[Block | Tagged]:
    """Members of whole sets, or the first MOST_MEMBERS of them, in order of their pages -> a row
    for each set. VOTES: for each set of copies, and each other host in it, the host of the
    original."""
    ends = np.append(starts[1:], len(members))
    offsets, targets = members.lists("links").flat()
    url, host, canonical, date, time = (
        frozen(members.array(name)) for name in ("url", "host", "canonical", "date", "time"))
    origin, named, evidence, agree, against = decide_each(
        frozen(starts), frozen(ends), url, host, canonical, date, time, frozen(offsets),
        frozen(targets)).T
    keys = VarBytes.concat([members.strings("key"), members.strings("named")])
    at = np.where(origin >= 0, origin, named + len(members))
    known = (origin >= 0) | (named >= 0)
    yield Block({
        "kind": _KINDS.take(members.array("kind")[starts].astype(np.int64)),
        "set": members.strings("key").take(starts),
        "origin": Maybe.spread(keys.take(at[known]), known), "evidence": _EVIDENCE.take(evidence),
        "members": sizes, "agree": agree, "against": against, "other": Maybe.nulls(len(starts)),
    })
    copies = (origin >= 0) & (members.array("kind")[starts] == 0)
    yield Tagged(VOTES, _votes(host, starts, ends, np.where(copies, origin, -1), evidence))


def _votes(
    host: NDArray[np.uint64], starts: NDArray, ends: NDArray, origin: NDArray, evidence: NDArray,
) -> Block:
    which = np.repeat(np.arange(len(starts)), ends - starts)
    first = host[origin[which]]
    other = (origin[which] >= 0) & (host != first)
    pairs = Block({"set": which[other], "host": host[other]}).sort(("set", "host"))
    pairs = pairs.take(pairs.starts(("set", "host")))
    which, host_b = pairs.array("set"), pairs.array("host")
    host_a = host[origin[which]]
    column = 2 * evidence[which] + (host_a > host_b)
    votes = np.zeros((len(VOTE_NAMES), len(which)), np.int64)
    votes[column, np.arange(len(which))] = 1
    return Block({"a": np.minimum(host_a, host_b), "b": np.maximum(host_a, host_b),
                  **dict(zip(VOTE_NAMES, votes, strict=True))})


@gives(HOST_PAIRS)
def host_pairs(overlapping: Block) -> Block:
    """Pairs of hosts of `server_overlap`, in order of their fingerprints, with their names, in
    order of these."""
    names = overlapping.strings("host_a"), overlapping.strings("host_b")
    both = np.sort(np.stack([each.hash64() for each in names]), 0)
    return Block({"a": both[0], "b": both[1], "host_a": names[0], "host_b": names[1]})


@gives(ORIGINS.rows)
def decide_hosts(pairs: Block | None, votes: Block | None) -> Block | None:
    """Pairs of hosts, each once, and the votes of sets, summed -> a row for each pair."""
    if pairs is None:
        return None
    counts = np.zeros((NONE, 2, len(pairs)), np.int64)
    if votes is not None:
        found = lookup(pairs, votes, PAIR)
        every = np.stack([votes.array(name) for name in VOTE_NAMES]).reshape(NONE, 2, -1)
        counts[:, :, found >= 0] = every[:, :, found[found >= 0]]
    differ = counts[:, 0] != counts[:, 1]
    evidence = np.where(differ.any(0), differ.argmax(0), NONE)
    known = evidence < NONE
    here = np.arange(len(pairs))
    pair = counts[np.minimum(evidence, NONE - 1), :, here] * known[:, np.newaxis]
    wins = pair.argmax(1)
    hashes = pairs.strings("host_a").hash64()
    turned = hashes != pairs.array("a")  # names and fingerprints may be in another order
    names = VarBytes.concat([pairs.strings("host_a"), pairs.strings("host_b")])
    at = here + len(pairs) * (wins ^ turned)
    return Block({
        "kind": _KINDS.take(np.full(len(pairs), len(KINDS))), "set": pairs["host_a"],
        "origin": Maybe.spread(names.take(at[known]), known), "evidence": _EVIDENCE.take(evidence),
        "members": counts.sum((0, 1)), "agree": pair.max(1), "against": pair.min(1),
        "other": Maybe(pairs.strings("host_b"), np.ones(len(pairs), np.bool_)),
    })
