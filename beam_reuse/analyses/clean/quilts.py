"""Claims against quilts: a page goes as a quilt if its sources have what it says, and all of them
stay. No Beam."""

import numpy as np

from beam_reuse.analyses.clean.claims import CLAIMS, QUILT, claims_of
from beam_reuse.columnar.block import Block
from beam_reuse.columnar.matching import lookup, match_ranges, pairs_of
from beam_reuse.columnar.schema import (
    FINGERPRINT,
    NUMBER,
    PAGE,
    SHARE,
    TEXT,
    columns,
    gives,
)

COMBINATION = ("gram_size", "max_pages_per_gram", "min_sources", "min_patch_fraction")
"""What tells the quilts of a sweep apart."""
KEY = ("url", "combination")
QUILTS = columns(url=TEXT, **dict.fromkeys(COMBINATION[:3], NUMBER), min_patch_fraction=SHARE,
                 patch_fraction=SHARE, covered=SHARE)
SOURCES = columns(url=TEXT, **dict.fromkeys(COMBINATION[:3], NUMBER), min_patch_fraction=SHARE,
                  source_url=TEXT)
"""The columns that are looked at of both tables."""


@gives(columns(url=TEXT, combination=FINGERPRINT, share=SHARE))
def covered_quilts(quilts: Block, least: float) -> Block:
    """Quilts whose sources have the share `least` of their grams, or more."""
    share = quilts.array("patch_fraction") * quilts.array("covered")
    return _with_key(quilts).with_columns(share=share).take(share >= least)


@gives(columns(url=TEXT, combination=FINGERPRINT, because=TEXT))
def sources_of_quilts(sources: Block) -> Block:
    """Quilts, each with all of its sources."""
    return _with_key(sources).with_columns(because=sources["source_url"])


def _with_key(rows: Block) -> Block:
    return Block({"url": rows["url"], "combination": rows.hash_rows(COMBINATION)})


@gives(columns(url=TEXT, because=TEXT, share=SHARE))
def with_sources(quilts: Block | None, sources: Block | None) -> Block | None:
    """Each quilt with each of its sources. One of which these are not written (`--sweep-sources`)
    has no row: nobody knows whether they stay."""
    if quilts is None or sources is None:
        return None
    row, at = pairs_of(*match_ranges(quilts, sources, KEY))
    return Block({"url": quilts.strings("url").take(row),
                  "because": sources.strings("because").take(at),
                  "share": quilts.array("share")[row]})


@gives(columns(because=PAGE))
def may_go(quilts: Block) -> Block:
    """The quilts, as pages that others are not to be dropped for."""
    return Block({"because": np.unique(quilts.array("url"))})


@gives(columns(page=PAGE))
def without_a_source(quilts: Block | None, gone: Block | None) -> Block | None:
    """Quilts of which a source goes, or may go."""
    if quilts is None or gone is None:
        return None
    lost = lookup(quilts, gone, ("because",)) >= 0
    return Block({"page": np.unique(quilts.array("url")[lost])})


@gives(columns(page=PAGE, share=SHARE))
def as_pages(quilts: Block) -> Block:
    """The pages of quilts, and how much of them their sources have."""
    return Block({"page": quilts["url"], "share": quilts["share"]})


@gives(CLAIMS)
def claims(quilts: Block | None, without: Block | None) -> Block | None:
    """Claims against quilts, one row each, all of whose sources stay."""
    if quilts is None:
        return None
    if without is not None:
        quilts = quilts.take(lookup(quilts, without, ("page",)) < 0)
    return claims_of(quilts.array("page"), QUILT, share=quilts.array("share"))
