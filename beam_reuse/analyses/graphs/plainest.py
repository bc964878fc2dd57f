"""The plainest URL: which of several pages with the same content to keep."""

import numpy as np
from numpy.typing import NDArray

from beam_reuse.columnar.varbytes import VarBytes
from beam_reuse.pages.sides import Sides

NOT_DECLARED = np.uint64(1 << 63)
"""The bit of an order that pages lose which others declare canonical."""
_QUERY = np.uint64(1 << 62)
NOBODY_DECLARES = np.uint64(1 << 62)
"""The same of a turn."""
_NEW, _WITH_QUERY = np.uint64(1 << 63), np.uint64(1 << 61)
_PAGE_BITS = np.uint64(45)
_PAGES = np.uint64((1 << 45) - 1)
_LONGEST = np.uint64((1 << 16) - 1)


def plainest(urls: VarBytes) -> NDArray[np.uint64]:
    """URLs without a query first, then the shorter, in bytes; none of them is declared canonical,
    as far as is known here."""
    marks = np.zeros(len(urls.data) + 1, np.int64)
    np.cumsum(urls.data == ord("?"), out=marks[1:])
    has_query = marks[urls.offsets[1:]] > marks[urls.offsets[:-1]]
    return NOT_DECLARED | np.where(has_query, _QUERY, np.uint64(0)) | urls.lengths().astype(
        np.uint64)


def turns(urls: VarBytes, pages: NDArray[np.uint64], sides: Sides) -> NDArray[np.uint64]:
    """Numbers in the order of `plainest`, then of pages, after those of pages of a baseline; each
    holds its page (`page_of`), so that the least of them is the first page. URLs of 65,535 bytes or
    more are equally long here."""
    order = plainest(urls)
    query = np.where(order & _QUERY > 0, _WITH_QUERY, np.uint64(0))
    new = np.where(sides.new(pages), _NEW, np.uint64(0))
    length = np.minimum(order & ~(NOT_DECLARED | _QUERY), _LONGEST)
    return new | NOBODY_DECLARES | query | length << _PAGE_BITS | pages


def page_of(turn: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return turn & _PAGES


def declared_names(
    url: VarBytes, canonical: VarBytes,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Hashes of the URLs of pages, and of those that they declare canonical; 0 if that is none, or
    their own."""
    names, declared = url.hash64(), canonical.hash64()
    other = (canonical.lengths() > 0) & (names != declared)
    return names, np.where(other, declared, np.uint64(0))
