"""Signatures of near-duplicates as MinHash objects of datasketch, and back. No Beam.

So pages can be compared with what others have built on datasketch, and looked up (`MinHashLSH`).
"""

import inspect
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from beam_reuse.analyses.near_duplicates.definition import hash_functions
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.core.errors import UserError
from beam_reuse.core.settings import given_or_default
from beam_reuse.core.text import read_html, read_plain
from beam_reuse.core.tokens import image_tokens, scan_text
from beam_reuse.core.urls import name_page
from beam_reuse.kernels.compiled import frozen
from beam_reuse.kernels.minhash import SUPERSHINGLE, min_values, shingles_of
from beam_reuse.kernels.mixing import chain, mix

if TYPE_CHECKING:
    from datasketch import LeanMinHash

SEED = 0x6275_7365
"""What datasketch takes for the seed of our hash functions, so that it refuses to compare with
signatures of others."""
# Our smallest values are signed numbers, and theirs are not: this keeps the order.
_SIGN = np.uint64(1 << 63)


def min_hash_of(
    page: str, url: str = "", html: bool = True, settings: NearDuplicateSettings | None = None,
) -> "LeanMinHash":
    """The smallest hashes of a page's shingles, HTML or plain text, as a MinHash of datasketch.

    Its `jaccard` with another is an estimate of the share of shingles that the two have in common.
    Those of a union of shingles are their `union`. Images count as in a run where `url` is given.

    Values have 64 bits, of which `serialize` and `pickle` of datasketch take 32 alone: to store or
    send one, take its `hashvalues`.

    >>> one, other = (f"the quick brown fox jumps over the lazy dog and {verb} home today"
    ...               for verb in ("runs", "walks"))
    >>> float(min_hash_of(one).jaccard(min_hash_of(one)))
    1.0
    >>> 0 < min_hash_of(one).jaccard(min_hash_of(other)) < 0.5
    True
    """
    settings = given_or_default(settings, NearDuplicateSettings, min_hash_of)
    tokens = frozen(_tokens(page, url, html))
    shingles = np.empty(len(tokens), np.int64)
    count = shingles_of(tokens, 0, len(tokens), settings.shingle_size, shingles)
    smallest = min_values(shingles[:count], *hash_functions(settings.min_values))
    return _lean(smallest.view(np.uint64) ^ _SIGN)


def b_signature(
    min_hash: "LeanMinHash", settings: NearDuplicateSettings | None = None,
) -> NDArray[np.uint64]:
    """The signature B of the page of a MinHash, as runs compare it: supershingles, of which
    B-similar pages have two or more in common; zeros for a page that is shorter than a shingle.

    >>> b_signature(min_hash_of("<p>of four words only")).tolist()
    [0, 0, 0, 0, 0, 0]
    """
    settings = given_or_default(settings, NearDuplicateSettings, b_signature)
    values = min_hash.hashvalues
    if min_hash.seed != SEED or len(values) != settings.min_values:
        raise UserError("b_signature takes what min_hash_of gives, with the same settings, not a "
                        f"MinHash of seed {min_hash.seed} with {len(values)} values.")
    out = np.zeros(settings.supershingles, np.uint64)
    if (values == np.uint64(2**64 - 1)).all():
        return out
    for number, some in enumerate(np.split(values ^ _SIGN, settings.supershingles)):
        state = SUPERSHINGLE + np.uint64(number)
        for value in some:
            state = np.uint64(chain(state, value))
        out[number] = mix(state)
    return out


def _tokens(page: str, url: str, html: bool) -> NDArray[np.uint64]:
    """The tokens of a page, those of its images after those of its text."""
    document = read_html(page) if html else read_plain(page)
    tokens = scan_text(document.text).tokens
    if not url:
        return tokens
    images = image_tokens(document.images, document.base, name_page(url))
    return np.concatenate([tokens, images])


def _lean(values: NDArray[np.uint64]) -> "LeanMinHash":
    try:
        from datasketch import LeanMinHash
    except ImportError:
        raise UserError("min_hash_of needs datasketch: pip install 'beam-reuse[reference]'"
                        ) from None
    # From 2.0 on a MinHash says by which family of functions it was made; ours is none of theirs.
    legacy = {"scheme": "legacy"} if "scheme" in inspect.signature(LeanMinHash).parameters else {}
    return LeanMinHash(seed=SEED, hashvalues=values, **legacy)
