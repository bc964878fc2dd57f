"""What a run found, in a few lines for its summary: each analysis has its own. Tables are read in
batches."""

from collections.abc import Iterator, Mapping

from beam_reuse.declaring.about import loaded
from beam_reuse.declaring.registry import known
from beam_reuse.io.results.manifest import Manifest
from beam_reuse.io.results.result import Result


def findings(
    manifest: Manifest, folder: str, measured: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """What the analyses found whose tables are there, and a hint where there was nothing."""
    if manifest.accounting.records and not manifest.accounting.pages:
        yield "No record became a page: the reasons above say why."
        yield ""
    there = Result(manifest, folder, measured)
    for about in known().values():
        if about.findings and any(there.has(schema) for schema in about.schemas()):
            yield from loaded(about.findings)(there)
