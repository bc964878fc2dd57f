"""What exact hashing and Nilsimsa find on pages like those of the 2019 paper's comparison.

Ardi & Heidemann (2019, section 6.5) looked for copies of one payment service's pages among
about 1,900 suspected phishing pages, once by SHA-1 of chunks and once by Nilsimsa with a
score of at least 115. Both found and both missed the same number of real copies; but Nilsimsa
also reported 10 of 1,803 pages that had nothing to do with the service (0.55 %), SHA-1 none.
The share of such pages fell to 0.33 % towards a score of 120, doubled at 114 and grew fast
below; at 128 only equal digests match and no wrong page was left. Their point: on billions
of pages even half a percent is millions of wrong reports, and no threshold is right for all data.

Here the same on generated pages, where it is known who copied. Sites run the same shop
software, so that their forms and product cards are alike but for names, numbers and
addresses; none of them holds a chunk of another. Some hosts copied the brand's pages, some
as they are, some with one character altered in every chunk, which loses every SHA-1. How
many pages are reported wrongly depends on the data more than on the threshold: 1.3 % at 115
here, but 28 % if the ids in the forms were consecutive numbers.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beam_reuse.core.chunking import chunk_page
from beam_reuse.core.nilsimsa import digests
from beam_reuse.core.nilsimsa_index import NilsimsaIndex
from beam_reuse.core.pages import Kind
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.demo.prose import ADJECTIVES, NOUNS, Prose

SETTINGS = ChunkSettings()
MIN_CHUNK_BYTES = 25  # as in the settings for phishing
THRESHOLD = 115
OTHER_SITES = 150
PRODUCTS = 8

HEAD = """<!DOCTYPE html><html lang="en"><head><title>{title} - {name}</title>
<link rel="stylesheet" href="https://{host}/assets/{build}/shop.css"></head><body>
<div class="page-header clearfix"><a class="navbar-brand" href="https://{host}/">{name}</a>
<span class="tagline">{tagline}</span></div>
"""
LOGIN = """<div class="login-box"><form id="loginForm" method="post" autocomplete="off"
 action="https://{host}/account/login"><input type="hidden" name="token" value="{token}">
<p class="form-group"><label for="email_{number}" class="control-label">Email address</label>
 <input type="email" class="form-control input-lg" id="email_{number}" name="login[username]"
 placeholder="Email address" required="required" aria-required="true" autofocus="autofocus"></p>
<p class="form-group"><label for="pass_{number}" class="control-label">Password</label>
 <input type="password" class="form-control input-lg" id="pass_{number}" name="login[password]"
 placeholder="Password" required="required" aria-required="true" autocomplete="off"></p>
<p class="form-actions">By logging in to {name} you agree to the terms of {company}.
 <button type="submit" class="btn btn-primary btn-lg btn-block">Log in</button></p></form></div>
"""
PRODUCT = """<div class="col-xs-12 col-sm-6 col-md-4 product-card" data-sku="{sku}"><a class="thumb"
 href="/catalogue/{slug}-{sku}.html" title="{title}"><img src="/media/{sku}.jpg" alt="{title}"
 width="240" height="240"></a><span class="price">${price}</span>
 <button class="btn btn-default add-to-cart" data-sku="{sku}">Add to cart</button></div>
"""
FOOT = """<p class="about">{about}</p>
<div class="footer"><small>Copyright {year} {company}, {street}. {name} is a trade mark of
 {company}. All rights reserved.</small></div></body></html>
"""


class Site:
    """A shop with a login page and a page of products, the same for the same number."""

    def __init__(self, number: int) -> None:
        self.prose = Prose(f"site {number}")
        self.random = random.Random(number)
        words = (self.one_of(ADJECTIVES), self.one_of(NOUNS))
        self.fields = {
            "name": " ".join(words).title(), "host": f"www.{'-'.join(words)}-{number}.example",
            "company": f"{self.one_of(NOUNS).title()} & {self.one_of(NOUNS).title()} Ltd",
            "build": self.digits(6), "token": self.digits(32),
            "number": str(1000 + 7919 * number % 9000),  # no two sites have the same
            "tagline": self.prose.sentence(), "about": self.prose.paragraph(3),
            "street": f"{self.digits(2)} {self.one_of(NOUNS).title()} Street", "year": "2014",
        }

    def one_of(self, items: Sequence[str]) -> str:
        return items[int(self.random.random() * len(items))]

    def digits(self, count: int) -> str:
        return "".join(self.one_of("0123456789") for _ in range(count))

    def pages(self) -> list[bytes]:
        return [self.page("Log in", LOGIN.format(**self.fields)),
                self.page("Products", "".join(self.product() for _ in range(PRODUCTS)))]

    def page(self, title: str, body: str) -> bytes:
        head, foot = HEAD.format(title=title, **self.fields), FOOT.format(**self.fields)
        return (head + body + foot).encode()

    def product(self) -> str:
        title = self.prose.title()
        return PRODUCT.format(sku=self.digits(6), title=title, price=f"{self.digits(2)}.99",
                              slug=title.lower().replace(" ", "-"))


@dataclass(frozen=True)
class Chunked:
    """Chunks of pages that are long enough: SHA-1, digest, and the page of each."""

    sha1: np.ndarray
    digest: np.ndarray
    page: np.ndarray
    pages: int


def chunked(pages: list[bytes]) -> Chunked:
    sha1, digest, number = [], [], []
    for i, payload in enumerate(pages):
        chunks = chunk_page(payload, Kind.HTML, SETTINGS)
        long = chunks.length >= MIN_CHUNK_BYTES
        sha1.append(chunks.sha1[long])
        digest.append(digests(payload, chunks.start[long], chunks.end[long], SETTINGS))
        number.append(np.full(long.sum(), i))
    return Chunked(np.concatenate(sha1), np.concatenate(digest), np.concatenate(number), len(pages))


def altered(payload: bytes) -> bytes:
    """The page with one letter of every chunk replaced, in its middle."""
    copy = bytearray(payload)
    chunks = chunk_page(payload, Kind.HTML, SETTINGS)
    for start, end in zip(chunks.start.tolist(), chunks.end.tolist(), strict=True):
        at = next(i for i in range((start + end) // 2, end) if copy[i:i + 1].isalpha())
        copy[at] = ord("x") if copy[at] != ord("x") else ord("y")
    return bytes(copy)


BRAND = Site(0).pages()
LABELS = chunked(BRAND)
OTHERS = chunked([page for number in range(1, OTHER_SITES + 1) for page in Site(number).pages()])
ALTERED = chunked([altered(page) for page in BRAND])


def exact(found: Chunked) -> np.ndarray:
    return np.isin(found.sha1, LABELS.sha1)


def similar(found: Chunked, threshold: int) -> np.ndarray:
    return NilsimsaIndex(LABELS.digest, threshold).best(found.digest)[0] >= 0


def share_of_pages(found: Chunked, matches: np.ndarray) -> float:
    """Pages flagged at one matching chunk, as phishing pages are."""
    return len(np.unique(found.page[matches])) / found.pages


def test_both_find_verbatim_copies() -> None:
    assert exact(LABELS).all()
    assert similar(LABELS, THRESHOLD).all()


def test_exact_hashing_reports_no_page_that_copied_nothing() -> None:
    assert not exact(OTHERS).any()


def test_nilsimsa_reports_pages_that_copied_nothing() -> None:
    assert 0.005 < share_of_pages(OTHERS, similar(OTHERS, THRESHOLD)) < 0.1


def test_nilsimsa_finds_altered_copies_that_exact_hashing_loses() -> None:
    assert not exact(ALTERED).any()
    assert similar(ALTERED, THRESHOLD).mean() > 0.9


def test_false_positives_grow_fast_below_the_threshold() -> None:
    wrong = [share_of_pages(OTHERS, similar(OTHERS, t)) for t in (128, 120, 115, 112, 105)]
    assert wrong[0] == 0
    assert wrong == sorted(wrong)
    assert wrong[3] > 2 * wrong[2] > 2 * wrong[1]
    assert wrong[4] > 0.3
