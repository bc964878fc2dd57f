"""Trust on first use: a detector that learns by itself whose login pages there are. No Beam."""

import os
import time
from collections.abc import Sequence

from beam_reuse.core.errors import UserError
from beam_reuse.core.finding import Finding, Match, SourceDomain
from beam_reuse.core.first_use import (
    Evidence,
    FirstUseSettings,
    Known,
    LearntSite,
    Passage,
    VisitVerdict,
    weigh,
)
from beam_reuse.core.labels import LabelSettings
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import LEXBOR, ChunkSettings, StopSettings
from beam_reuse.core.urls import BadUrl, canonical_url, name_page
from beam_reuse.detector.cutting import Counted, Cutter, one_by_one
from beam_reuse.detector.generic import generic_passages
from beam_reuse.io.trust_store import TrustStore

CUT = LabelSettings(ChunkSettings(normalise="text"), min_chunk_bytes=25, min_chunk_tokens=5)
_DAY = 86400


class FirstUse:
    """Pages in, whose content they are made of out, by the rules of docs/edge.md; login pages of
    sites that are not known yet are learnt on the way.

    `store` is a file, made if there is none; several processes may use it, each visit is one
    transaction. Passages that any site may have are no chunks; of `stops` only the lists count.
    Cost: that of cutting a page, and some 0.1 ms; where something new is learnt, a commit to disk.
    """

    def __init__(
        self, store: str | os.PathLike[str], settings: FirstUseSettings | None = None,
        stops: StopSettings | None = None, parser: str = LEXBOR,
    ) -> None:
        self.settings = settings or FirstUseSettings()
        self._cutter = Cutter(CUT, stops or StopSettings(), generic_passages(), parser)
        self.store = TrustStore(store, self.settings)

    def check(
        self, page: bytes | str, url: str = "", kind: str | Kind = "html", charset: str = "",
        day: int | None = None,
    ) -> Finding:
        """The answer to a visit of a page on a `day` (since 1970; today). A login page that is not
        flagged is learnt. `TooDeep` for HTML that no parser should see; it is not learnt."""
        return self._visit(page, url, kind, charset, day, trusted=False)

    def trust(
        self, page: bytes | str, url: str, kind: str | Kind = "html", charset: str = "",
        day: int | None = None,
    ) -> Finding:
        """The answer, and learn the page, whatever it is. UserError if `url` is no web page's."""
        if not _domain(url):
            raise UserError(f"{url!r} is no http or https URL: a trusted page needs one: its "
                            "domain is what is trusted.")
        return self._visit(page, url, kind, charset, day, trusted=True)

    def join(self, domains: Sequence[str]) -> None:
        """These domains, or those of these hosts or URLs, have one owner from now on."""
        named = [_registered(name) for name in domains]
        with self.store.visit(may_learn=True):
            self.store.join(named)

    def forget(self, domain: str) -> bool:
        """Remove what was learnt of a domain; whether there was anything."""
        with self.store.visit(may_learn=True):
            return self.store.forget(_registered(domain))

    def sites(self) -> list[LearntSite]:
        """What was learnt, by domain."""
        with self.store.visit(may_learn=False):
            return self.store.sites()

    def close(self) -> None:
        """Give the store up."""
        self.store.close()

    def _visit(self, page: bytes | str, url: str, kind: str | Kind, charset: str,
               day: int | None, trusted: bool) -> Finding:
        day = int(time.time() // _DAY) if day is None else day
        counted = self._cutter.count(page, kind, charset)
        hashes = one_by_one(counted.sha1)
        order = list(dict.fromkeys(hashes))
        domain, canonical = _domain(url), _canonical(url)
        login = counted.has_password or self.settings.learns(canonical)
        may_learn = bool(domain and order) and (login or trusted)
        new = 0
        with self.store.visit(may_learn):
            own, known = self.store.owner(domain), self.store.known(order, day)
            evidence = weigh(order, known, own)
            most = len(evidence[0].chunks) if evidence else 0
            flagged = self.settings.flags(most, len(order))
            learns = may_learn and (trusted or not flagged)
            if learns:
                least = self.settings.settle_days if trusted else 1
                new = self.store.learn(domain, canonical.partition("?")[0], order, day, least)
        passages = _passages(counted, hashes, evidence[0]) if flagged else ()
        verdict = VisitVerdict(
            login, flagged, evidence[0].name if flagged else None,
            most, passages, learns, new)
        mine = {sha1 for sha1, rows in known.items() if any(row.owner == own for row in rows)}
        return _finding(canonical, counted, hashes, evidence, mine, known, verdict)


def _passages(counted: Counted, hashes: list[bytes], found: Evidence) -> tuple[Passage, ...]:
    first = dict(zip(reversed(hashes), range(len(hashes) - 1, -1, -1), strict=True))
    return tuple(
        Passage(row.sha1.hex(), counted.chunk(first[row.sha1], CUT.chunks).decode(),
                row.domain, row.page) for row in found.chunks)


def _finding(
    url: str, counted: Counted, hashes: list[bytes], evidence: list[Evidence],
    mine: set[bytes], known: dict[bytes, list[Known]], verdict: VisitVerdict,
) -> Finding:
    """The answer as of any detector: matches are the chunks that belong to others, and its own."""
    theirs = {row.sha1: row for found in evidence for row in found.chunks}
    matches = []
    for at, sha1 in enumerate(hashes):
        if sha1 not in theirs and sha1 not in mine:
            continue
        place, own = int(counted.position[at]), sha1 not in theirs
        rows = known[sha1]
        matches.append(Match(
            place, int(counted.chunks.start[place]), int(counted.chunks.end[place]), sha1.hex(),
            rows[0].page if own else theirs[sha1].page, len(rows), own))
    matching, chunks = sum(not match.own for match in matches), len(hashes)
    return Finding(
        url=url, chunks=chunks, stop_chunks=len(counted.chunks) - chunks, matching=matching,
        own_matching=len(matches) - matching, distinct_matching=len(theirs),
        contains=matching / chunks if chunks else None, file_match=False, own_file=False,
        file_source=None, flagged=verdict.flagged, matches=tuple(matches),
        sources=tuple(SourceDomain(found.name, len(found.chunks)) for found in evidence),
        first_use=verdict)


def _domain(url: str) -> str:
    """The registered domain of a web page; '' for anything else."""
    try:
        name = name_page(url)
    except BadUrl:
        return ""
    return name.domain if name.url.startswith(("http:", "https:")) else ""


def _registered(name: str) -> str:
    """The registered domain of a domain, host or URL."""
    found = _domain(name if "://" in name else f"http://{name}/")
    if not found:
        raise UserError(f"{name!r} is no domain.")
    return found


def _canonical(url: str) -> str:
    try:
        return canonical_url(url)
    except BadUrl:
        return url
