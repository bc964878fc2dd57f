"""beam_reuse finds content reuse in web crawls, as one Apache Beam graph."""

from typing import Any

__version__ = "0.1.0"

# What `from beam_reuse import ...` offers, loaded when it is first asked for: Beam takes
# seconds to import and `beam-reuse --help` does not need it.
_OFFERED = {
    "AsRows": "beam_reuse.pages.as_rows",
    "DetectReuse": "beam_reuse.analyses.reuse.detect",
    "DiscoverReuse": "beam_reuse.analyses.reuse.discover",
    "FindBoilerplate": "beam_reuse.analyses.boilerplate.find",
    "FindContamination": "beam_reuse.analyses.decontaminate.find",
    "FindNearDuplicates": "beam_reuse.analyses.near_duplicates.find",
    "FindOverlap": "beam_reuse.analyses.overlap.find",
    "FindQuilts": "beam_reuse.analyses.quilts.find",
    "ListPages": "beam_reuse.pages.list_pages",
    "PagesOf": "beam_reuse.pages.pages_of",
    "ReadLabels": "beam_reuse.analyses.reuse.labels",
    "ReadPages": "beam_reuse.pages.read_pages",
    "Detector": "beam_reuse.detector",
    "Finding": "beam_reuse.core.finding",
    "FeatureSettings": "beam_reuse.core.features",
    "FirstUseSettings": "beam_reuse.core.first_use",
    "BoilerplateSettings": "beam_reuse.analyses.boilerplate.settings",
    "ChunkSettings": "beam_reuse.core.settings",
    "DecontaminateSettings": "beam_reuse.analyses.decontaminate.settings",
    "DetectionSettings": "beam_reuse.analyses.reuse.settings",
    "DiscoverySettings": "beam_reuse.analyses.reuse.settings",
    "NearDuplicateSettings": "beam_reuse.analyses.near_duplicates.settings",
    "OverlapSettings": "beam_reuse.analyses.overlap.settings",
    "QuiltSettings": "beam_reuse.analyses.quilts.settings",
    "ReadSettings": "beam_reuse.core.settings",
    "StopSettings": "beam_reuse.core.settings",
    "b_signature": "beam_reuse.analyses.near_duplicates.min_hashes",
    "min_hash_of": "beam_reuse.analyses.near_duplicates.min_hashes",
    "tokens_of": "beam_reuse.core.features",
}


__all__ = ["__version__", "tables", *_OFFERED]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "tables":
        return import_module("beam_reuse.io.results.tables")
    if name in _OFFERED:
        return getattr(import_module(_OFFERED[name]), name)
    raise AttributeError(f"module 'beam_reuse' has no attribute {name!r}")
