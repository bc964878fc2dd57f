"""Why pages are dropped from a corpus: of all reasons that speak against a page the first counts,
and no page is dropped for one that is not there.

A *claim* is a row that says that `page` is to be dropped: for which `reason`, a number of REASONS,
and for which other page, `because`, which is `page` itself where there is none. `share` is how much
of the page is there, negative where that was not measured.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.block import Block, Maybe, VarBytes
from beam_reuse.columnar.matching import lookup
from beam_reuse.columnar.schema import FLAG, KIND, PAGE, SHARE, TEXT, columns, gives
from beam_reuse.core.urls import BadUrl, name_page
from beam_reuse.io.corpus.url_lists import urls_in
from beam_reuse.rows import Count

REASONS = ("flagged", "quilt", "contaminated", "drop-table", "near-duplicate", "exact-copy",
           "too-little-left", "binary")
(FLAGGED, QUILT, CONTAMINATED, LISTED, NEAR_DUPLICATE, EXACT_COPY, TOO_LITTLE,
 BINARY) = range(len(REASONS))
ABSENT = "listed-but-absent"
CLAIMS = columns(page=PAGE, reason=KIND, because=PAGE, share=SHARE)
BY_URL = columns(url=TEXT, reason=KIND)
MEMBERS = columns(centre=PAGE, page=PAGE, gone=FLAG)


def claims_of(
    pages: NDArray[np.uint64], reason: int, because: NDArray[np.uint64] | None = None,
    share: NDArray[np.float64] | None = None,
) -> Block:
    """Claims for one reason."""
    return Block({
        "page": pages, "reason": np.full(len(pages), reason, np.uint8),
        "because": pages if because is None else because,
        "share": np.full(len(pages), -1.0) if share is None else share})


def _by_url(urls: VarBytes, reason: int) -> Block:
    return Block({"url": urls, "reason": np.full(len(urls), reason, np.uint8)})


@gives(BY_URL)
def flagged_urls(page_reuse: Block) -> Block:
    """Pages that are flagged."""
    return _by_url(page_reuse.strings("url").take(
        np.flatnonzero(page_reuse.array("flagged"))), FLAGGED)


@gives(CLAIMS)
def contaminated(contaminated_pages: Block) -> Block:
    """Pages that hold items of evaluation sets."""
    return claims_of(contaminated_pages.array("url"), CONTAMINATED)


@gives(BY_URL)
def listed_urls(files: Block) -> Iterator[Block]:
    """The URLs of lists, in the form in which pages have them."""
    for path in files.strings("path").to_list():
        for urls in urls_in(path.decode()):
            yield _by_url(VarBytes.from_list([_canonical(url) for url in urls]), LISTED)


def _canonical(url: bytes) -> bytes:
    """The canonical form of a URL, or of the key of a capture, whose mark stays."""
    try:
        name = name_page(url.decode("utf-8", "replace")).url.encode()
    except BadUrl:
        return url
    _, mark, moment = url.rpartition(b"#")
    return name + b"#" + moment if mark and moment[:14].isdigit() and len(moment) >= 14 else name


@gives(CLAIMS)
def with_pages(claims: Block | None, names: Block | None) -> Iterator[Block | Count]:
    """Claims against URLs -> claims against pages. Counts URLs that no page has."""
    if claims is None:
        return
    found = (np.full(len(claims), -1) if names is None
             else lookup(claims, names, ("url",)))
    absent = found < 0
    yield Count(ABSENT, int((absent & (claims.array("reason") == LISTED)).sum()))
    if names is not None:
        pages = names.array("page")[found[~absent]]
        yield claims_of(pages, 0).with_columns(reason=claims.array("reason")[~absent])


@gives(CLAIMS)
def near_duplicates(keep: Block) -> Block:
    """Pages that the table `keep` does not keep."""
    because, containment = keep.maybe("because_of"), keep.maybe("containment")
    dropped = because.valid
    share = np.where(containment.valid, np.asarray(containment.values), -1.0)
    return claims_of(keep.array("url")[dropped], NEAR_DUPLICATE,
                     np.asarray(because.values)[dropped], share[dropped])


@gives(columns(page=PAGE))
def against(claims: Block) -> Block:
    """Pages that something speaks against."""
    return claims.select(("page",))


@gives(columns(because=PAGE))
def gone(claims: Block) -> Block:
    """Pages that are dropped whatever others are there."""
    return Block({"because": claims["page"]})


@gives(CLAIMS)
def for_pages_that_stay(claims: Block | None, gone: Block | None) -> Block | None:
    """Claims without those for pages that are dropped themselves: what was to be kept there is
    kept here."""
    if claims is None or gone is None:
        return claims
    return claims.take(lookup(claims, gone, ("because",)) < 0)


@gives(CLAIMS)
def first_claims(claims: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Of the claims against each page, by reason, the first."""
    return claims.take(starts)


@gives(columns(centre=PAGE, page=PAGE))
def copies(exact_copies: Block) -> Block:
    """The members of sets of exact copies, the centre with them."""
    return Block({"centre": exact_copies["centre"], "page": exact_copies["url"]})


@gives(MEMBERS)
def with_fate(copies: Block | None, claims: Block | None) -> Block | None:
    """Members, and whether something speaks against them already."""
    if copies is None:
        return None
    there = (np.zeros(len(copies), np.bool_) if claims is None
             else lookup(copies, claims, ("page",)) >= 0)
    return copies.with_columns(gone=there)


@gives(CLAIMS)
def exact_copies(members: Block, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Block:
    """Members of sets in order of their pages -> claims against all that stay so far but the first
    of each set, for which they go."""
    stay = members.take(~members.array("gone"))
    first = stay.starts(("centre",))
    leaders = np.repeat(stay.array("page")[first], np.diff(np.append(first, len(stay))))
    others = stay.array("page") != leaders
    return claims_of(stay.array("page")[others], EXACT_COPY, leaders[others])


@gives(columns(because=PAGE, because_url=TEXT))
def names_of_others(names: Block) -> Block:
    """Names of pages for which others go."""
    return Block({"because": names["page"], "because_url": names["url"]})


@gives(columns(CLAIMS, because_url=TEXT))
def with_name(claims: Block | None, names: Block | None) -> Block | None:
    """Claims with the name of the page they are for."""
    if claims is None:
        return None
    assert names is not None, "a page number without a page"
    return claims.with_columns(because_url=names.strings("because_url").take(
        lookup(claims, names, ("because",))))


def removed_rows(claims: Block, sizes: NDArray[np.int64], what: str) -> Block:
    """Rows of the table `removed` of pages that have so many bytes, which went whole ("page") or
    are only marked ("flag")."""
    names = np.array([name.encode() for name in REASONS], object)
    share, because = claims.array("share"), claims.array("because")
    return Block({
        "url": claims["page"], "what": VarBytes.from_list([what.encode()] * len(claims)),
        "reason": VarBytes.from_list(names[claims.array("reason")].tolist()),
        "because_of": Maybe(because, because != claims.array("page")),
        "containment": Maybe(np.maximum(share, 0.0), share >= 0), "bytes": sizes})
