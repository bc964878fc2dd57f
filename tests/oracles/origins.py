"""Who is the likely original of a set of pages, or of two hosts, as docs/origins.md has it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

EVIDENCE = ("canonical", "link", "date", "first-capture")


@dataclass(frozen=True)
class Member:
    """A page of a set: what it is called, its URL and host, what it declares, the URLs on other
    hosts that it links to, when it was captured. Dates are numbers, or anything with an order."""

    key: str
    url: str
    host: str
    canonical: str | None = None
    links: frozenset[str] = frozenset()
    date: int | None = None
    time: int | None = None


class Decision(NamedTuple):
    """`origin` is what the original is called, None where nothing decides."""

    origin: str | None
    evidence: str
    agree: int
    against: int


NONE = Decision(None, "none", 0, 0)


def origin_of(members: Sequence[Member]) -> Decision:
    """The likely original of a set; members are in order of their keys."""
    first: dict[str, Member] = {}
    for each in members:
        first.setdefault(each.url, each)
    leads = {each.key: lead(each, first) for each in members}
    copies = [each for each in members if leads[each.key] not in (None, each.url)]
    left = [each for each in members if each not in copies]
    votes = Counter(leads[each.key] for each in copies)
    if votes:
        most = [url for url, count in votes.items() if count == max(votes.values())]
        inside = [first[url] for url in most if url in first]
        if inside:
            left = inside
        if inside or len(most) == 1:
            chosen = inside[0].url if inside else most[0]
            if len(inside) < 2:
                found = list(leads.values())
                return Decision(inside[0].key if inside else chosen, "canonical",
                                found.count(chosen), len(found) - found.count(chosen)
                                - found.count(None))
        if len(left) == 1:
            found = list(leads.values())
            return Decision(left[0].key, "canonical", found.count(left[0].url),
                            len(found) - found.count(left[0].url) - found.count(None))
    linking = {each.url: [m for m in members if each.url in m.links and m.host != each.host]
               for each in members}
    most_linked = max((len(linking[each.url]) for each in left), default=0)
    if most_linked:
        left = [each for each in left if len(linking[each.url]) == most_linked]
        if len(left) == 1:
            to_any = {m.key for found in linking.values() for m in found}
            to_it = {m.key for m in linking[left[0].url]}
            return Decision(left[0].key, "link", len(to_it), len(to_any - to_it))
    for name, evidence in (("date", "date"), ("time", "first-capture")):
        known = [getattr(each, name) for each in left if getattr(each, name) is not None]
        if len(set(known)) > 1:
            left = [each for each in left if getattr(each, name) == min(known)]
            if len(left) == 1:
                every = [getattr(m, name) for m in members if getattr(m, name) is not None]
                return Decision(left[0].key, evidence, sum(t > min(known) for t in every),
                                sum(t < min(known) for t in every))
    return NONE


def lead(member: Member, first: dict[str, Member]) -> str | None:
    """Where the canonical URL of a page leads, from page to page of the set; None if it has none,
    or it leads in a circle."""
    target, seen = member.canonical, set()
    while target is not None and target in first and first[target].canonical not in (None, target):
        if target in seen:
            return None
        seen.add(target)
        target = first[target].canonical
    return target


def origin_of_hosts(
    host_a: str, host_b: str, sets: Iterable[tuple[Sequence[Member], Decision]],
) -> tuple[Decision, int]:
    """Which of two hosts is the likely original: by the sets of copies that have members on both
    and an original on one of them; and how many these are."""
    votes: dict[str, Counter[str]] = {evidence: Counter() for evidence in EVIDENCE}
    for members, decision in sets:
        hosts = {each.key: each.host for each in members}
        if {host_a, host_b} <= set(hosts.values()) and hosts.get(
                decision.origin or "") in (host_a, host_b):
            votes[decision.evidence][hosts[decision.origin or ""]] += 1
    count = sum(found.total() for found in votes.values())
    for evidence, found in votes.items():
        for host, other in ((host_a, host_b), (host_b, host_a)):
            if found[host] > found[other]:
                return Decision(host, evidence, found[host], found[other]), count
    return NONE, count
