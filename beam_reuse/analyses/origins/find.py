"""Origins: who is the likely original of sets of copies, identity sets and hosts that overlap.

Sets come from overlap and near-duplicates, of the same run. What their pages declare, and links to
pages that are in sets, come to them; a kernel decides where the pages of a set meet. What was
decided of copies then votes on hosts.
"""

from beam_reuse.analyses.near_duplicates.find import FindNearDuplicates
from beam_reuse.analyses.origins.decisions import (
    KINDS,
    MOST_MEMBERS,
    PAIR,
    VOTE_NAMES,
    VOTES,
    decide_hosts,
    decide_sets,
    host_pairs,
)
from beam_reuse.analyses.origins.facts import link_rows, of_kind, page_facts, with_facts, with_links
from beam_reuse.analyses.overlap.find import FindOverlap
from beam_reuse.core.features import LINKS, Reads
from beam_reuse.declaring.settings import Settings
from beam_reuse.pages.analysis import Analysis, Found, Pages


class FindOrigins(Analysis):
    """Pages, and what overlap and near-duplicates found -> `origins`.

    Cost: linear; a row of some 200 bytes travels three times for each page of a set. Memory: the
    first MOST_MEMBERS pages of the largest set.
    """

    grows = True

    @classmethod
    def of(cls, settings: Settings) -> "FindOrigins":
        return cls()

    def reads(self) -> Reads:
        return Reads(frozenset((LINKS,)), text=True)

    def find(self, pages: Pages) -> Found:
        """Origins by what overlap and near-duplicates find with their usual settings."""
        found = (FindOverlap().find(pages), FindNearDuplicates().find(pages))
        return self.follow(pages, Found.joined(found))

    def follow(self, pages: Pages, found: Found) -> Found:
        sets = pages.plan.nothing()
        for number, kind in enumerate(KINDS):
            if kind in found.sets:
                sets += found.sets[kind].map(of_kind, number)
        wanted = sets.keys("page")
        members = sets.join(pages.rows(page_facts, wanted), "page", with_facts)
        links = pages.rows(link_rows, wanted, members.keys("url"))
        decided = members.join(links, "page", with_links).group(
            ("kind", "set"), decide_sets, order="page", limit=MOST_MEMBERS)
        hosts = pages.plan.nothing()
        if "server_overlap" in found.tables:
            hosts = found.tables["server_overlap"].map(host_pairs).join(
                decided.tagged(VOTES), PAIR, decide_hosts,
                reducing={"host_a": "any", "host_b": "any"},
                other_reducing=dict.fromkeys(VOTE_NAMES, "sum"))
        return Found({"origins": decided + hosts})
