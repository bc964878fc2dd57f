"""Importing this loads the whole graph and the compiled kernels.

For the server process that local workers are forked from: what it has, every fork has.
"""

import gc
from contextlib import suppress

import numpy as np

import beam_reuse.pipeline
import beam_reuse.runners.local_worker  # noqa: F401
from beam_reuse.analyses.near_duplicates.definition import signatures
from beam_reuse.analyses.near_duplicates.settings import NearDuplicateSettings
from beam_reuse.core.features import FeatureSettings, page_features
from beam_reuse.core.pages import Kind, RawPage
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.core.urls import name_page
from beam_reuse.declaring.about import loaded
from beam_reuse.declaring.registry import known
from beam_reuse.io.crawl.declared import declared_by
from beam_reuse.runners.quick_graphs import quicken

_HTML = "<p>a <a href=b>c</a><img src=d>"
_URL = "http://example.org/"
_PAGE = RawPage("", 0, 0, "", _URL, None, None, "", Kind.HTML, "", "utf-8", _HTML.encode())

quicken()
for _about in known().values():
    with suppress(Exception):  # of another distribution; whoever asks for it gets to see why
        loaded(_about.transform)
declared_by(_PAGE, _URL)
page_features(_PAGE, name_page(_URL), _HTML, FeatureSettings(ChunkSettings(), text=True))
signatures(np.ones(9, np.uint64), np.array([0, 9]), np.array([9]), NearDuplicateSettings())
gc.collect()
gc.freeze()  # a collection in a fork would touch, and so copy, every shared page
