"""Families: pages on different domains that are made of the same thing.

Documents are of one family if near-duplicates, the same words or the same file connect them, and
some of them are on other domains than others. What is code is not looked at. Words are the same
whatever the images beside them, from a shingle's number of words on: a kit has its pictures
wherever it is put up.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from beam_reuse.analyses.graphs.clusters import EDGES
from beam_reuse.analyses.near_duplicates.definition import as_words
from beam_reuse.analyses.near_duplicates.pair_rows import FAMILY
from beam_reuse.analyses.near_duplicates.schemas import FAMILIES
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.analyses.near_duplicates.signatures import signed_pages
from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.filters import KeyFilter
from beam_reuse.columnar.group import with_leaders
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FLAG, PAGE, SHA1, TEXT, columns, gives, raw
from beam_reuse.pages.analysis import Pages
from beam_reuse.pages.sides import Sides
from beam_reuse.rows import Rows

MEMBERS = columns(page=PAGE, family=PAGE)
_SIMILAR, _WORDS, _FILE = range(3)
_SAME_WORDS = (("has_tokens", "identity"), ("has_words", "words"))
_ALIKE = np.array([b"similar", b"words", b"file"], object)


def family_edges(sets: Rows, common: Rows, sides: Sides) -> Rows:
    """Pages of sets with the same tokens, and the files and texts of documents, of which those
    count that new pages have -> EDGES of families, beside those of similar pages."""
    if sides.are_two:
        common = common.only(sides.with_new(common, "page").keys("common"))
    same = common.stream("common", _common_edges, sides, order="page")
    return sets.map(_set_edges) + sides.sets_with_new(same, ["page"], "root")


def families(connected: Rows, pages: Pages, settings: NearDuplicateSettings) -> Rows:
    """What edges connect -> rows of `families`. Reads again the pages that are connected, with a
    row of some 150 bytes each; all pages of a family must fit in memory."""
    members = pages.sides.sets_with_new(connected.map(_members), ["page"], "family")
    facts = pages.rows(member_facts, settings, members.keys("page"))
    return members.join(facts, "page", _with_facts).group(
        "family", family_table, settings, order="page")


@gives(EDGES)
def _set_edges(sets: Block) -> Block:
    return _edges(sets.array("page"), sets.array("representative"))


@gives(EDGES)
def _common_edges(slabs: Iterator[Block], sides: Sides) -> Iterator[Block]:
    """Pages in order of what they have in common: each with the first that has the same; where
    there is a baseline, the first with itself, too, so that all of a file can be looked at."""
    for rows, leaders, place in with_leaders(slabs, ("common",)):
        some = (place > 0) | sides.are_two
        yield _edges(rows.array("page")[some], leaders.array("page")[some])


def _edges(page: NDArray[np.uint64], root: NDArray[np.uint64]) -> Block:
    return Block({"kind": np.full(len(page), FAMILY, np.uint8), "page": page, "root": root})


@gives(MEMBERS)
def _members(connected: Block) -> Block:
    some = connected.take(connected.array("kind") == FAMILY)
    return Block({"page": some["page"], "family": some["root"]})


def _facts(parts: pa.Schema, settings: NearDuplicateSettings, *_: object) -> pa.Schema:
    return columns(page=PAGE, domain=TEXT, sha1=SHA1, has_tokens=FLAG, identity=raw(16),
                   words=raw(16), has_words=FLAG, c=raw(8 * -(-settings.projection_bits // 64)))


@gives(_facts)
def member_facts(
    parts: Block, settings: NearDuplicateSettings, wanted: KeyFilter,
) -> Iterator[Block]:
    """What shows how alike pages are, of those that are wanted."""
    for pages, has_tokens, signed in signed_pages(parts, settings, ("domain", "sha1"), wanted):
        rows = Block({
            "page": pages.number.astype(np.uint64), "domain": pages.rows.strings("domain"),
            "sha1": pages.rows.numbers("sha1"), "has_tokens": has_tokens,
            "identity": signed.identity, "words": signed.text,
            "has_words": np.asarray(as_words(signed.text).any(axis=1)), "c": signed.c})
        yield rows.take(wanted.may_hold(rows))


@gives(lambda members, facts: columns(facts, MEMBERS))
def _with_facts(members: Block | None, facts: Block | None) -> Block | None:
    if members is None:
        return None
    if facts is None or (found := lookup(members, facts, ("page",))).min(initial=0) < 0:
        raise AssertionError("a page of which nothing is known")
    return facts.take(found).with_columns(family=members["family"])


@gives(FAMILIES.rows)
def family_table(
    rows: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64],
    settings: NearDuplicateSettings,
) -> Block:
    """Rows of `families`, of whole families in order of pages: those on several domains.

    A member's `alike` says what of it is on another domain: its file, its words, or what is
    similar. Its `similarity` is the share of equal projections with the first page, 1 where file or
    words are the same, 0 where one of them has no words.
    """
    rows = rows.with_columns(place=rows.strings("domain").hash64())
    alike = np.full(len(rows), _SIMILAR)
    for some, same in _SAME_WORDS:
        alike[rows.array(some) & _on_several(rows, ("family", some, same))] = _WORDS
    alike[_on_several(rows, ("family", "sha1"))] = _FILE
    firsts = rows.take(np.repeat(starts, sizes))
    return Block({
        "family": rows["family"], "url": rows["page"], "domain": rows["domain"],
        "alike": VarBytes.from_list(_ALIKE[alike].tolist()),
        "similarity": _similarity(rows, firsts, settings),
    }).take(_on_several(rows, ("family",)))


def _on_several(rows: Block, keys: tuple[str, ...]) -> NDArray[np.bool_]:
    """Whether rows with the same keys are on several domains."""
    every = (*keys, "place")
    order = rows.sort_order(every)
    ordered = rows.select(every).take(order)
    starts, domains = ordered.starts(keys), np.zeros(len(rows), np.int64)
    domains[ordered.starts(every)] = 1
    several = np.add.reduceat(domains, starts) > 1
    out = np.empty(len(rows), np.bool_)
    out[order] = np.repeat(several, np.diff(np.append(starts, len(rows))))
    return out


def _similarity(
    rows: Block, firsts: Block, settings: NearDuplicateSettings,
) -> NDArray[np.float64]:
    """How alike each page and the first of its family are."""
    differing = as_words(rows.array("c")) ^ as_words(firsts.array("c"))
    agreeing = settings.projection_bits - np.bitwise_count(differing).sum(axis=1, dtype=np.int64)
    words = rows.array("has_tokens") & firsts.array("has_tokens")
    same = rows.array("sha1") == firsts.array("sha1")
    for some, each in _SAME_WORDS:
        same |= rows.array(some) & (rows.array(each) == firsts.array(each))
    return np.where(same, 1.0, np.where(words, agreeing / settings.projection_bits, 0.0))
