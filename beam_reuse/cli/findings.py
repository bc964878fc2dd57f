"""What a run found, in a few lines for its summary."""

from collections.abc import Iterator

import pyarrow.compute as pc

from beam_reuse.core.discovery import auto_threshold
from beam_reuse.io.results import tables
from beam_reuse.io.results.manifest import Manifest

SHOWN = 5
_TEXT_WIDTH = 60


def findings(manifest: Manifest, folder: str) -> Iterator[str]:
    """The most copied chunks, the threshold they passed, and a hint where there was nothing."""
    if manifest.accounting.records and not manifest.accounting.pages:
        yield "No record became a page: the reasons above say why."
        yield ""
    if tables.FREQUENT_CHUNKS.name in manifest.tables():
        yield from _most_copied(manifest, folder)


def _most_copied(manifest: Manifest, folder: str) -> Iterator[str]:
    rows = tables.read(folder, tables.FREQUENT_CHUNKS.name)
    yield f"most copied chunks ({_selection(manifest, folder)}):"
    order = [("occurrences", "descending"), ("sha1", "ascending")]
    for row in rows.take(pc.select_k_unstable(rows, SHOWN, order)).to_pylist():
        text = " ".join(row["text"].split())
        shown = text if len(text) <= _TEXT_WIDTH else text[: _TEXT_WIDTH - 1] + "…"
        hosts = f"{row['hosts']:,} host" + ("s" if row["hosts"] != 1 else "")
        yield f"  {row['occurrences']:>9,} times on {hosts}: {shown}"
    yield ""


def _selection(manifest: Manifest, folder: str) -> str:
    """By which rule chunks were listed."""
    if manifest.settings["top"]:
        return f"the {manifest.settings['top']:,} most frequent"
    threshold = manifest.settings["chunk-threshold"]
    if threshold != "auto":
        return f"more than {threshold:,} times"
    counts = tables.read(folder, tables.FREQUENCY_HISTOGRAM.name)
    total = pc.sum(pc.multiply(counts["occurrences"], counts["distinct"])).as_py() or 0
    return f"more than {auto_threshold(total):,} times: automatic for {total:,} chunks"
