"""Label lists for tests, written with Arrow alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.io.labels.lists import read_list
from beam_reuse.io.results.manifest import Accounting, Manifest, Part

SETTINGS = {"format": 1, "chunk-tags": ["p", "div"], "chunk-normalise": "whitespace",
            "classic": False, "min-chunk-bytes": 0}
COLUMNS = ("sha1", "kind", "source_url", "bytes", "text")
TYPES = {"sha1": pa.string(), "kind": pa.string(), "source_url": pa.string(),
         "bytes": pa.int64(), "text": pa.string()}


def write_labels(
    path: Path, rows: list[tuple], settings: dict[str, Any] | None = SETTINGS,
    domains: Sequence[int | None] | None = None,
) -> str:
    """A Parquet list with the columns of `labels`, or the first of them, as rows have values, and
    perhaps with `domains`."""
    width = len(rows[0]) if rows else len(COLUMNS)
    table = pa.table({
        name: pa.array([row[i] for row in rows], TYPES[name])
        for i, name in enumerate(COLUMNS[:width])
    })
    if domains is not None:
        table = table.append_column("domains", pa.array(domains, pa.int64()))
    if settings is not None:
        table = table.replace_schema_metadata({"beam_reuse.labels": json.dumps(settings)})
    pq.write_table(table, path)
    return str(path)


def write_result(folder: Path, rows: list[tuple], settings: dict[str, Any]) -> str:
    """A result folder whose only table is `labels`, in two parts."""
    parts = []
    (folder / "labels").mkdir(parents=True)
    for number, some in enumerate((rows[:1], rows[1:])):
        name = f"labels/part-{number:05}-of-00002.parquet"
        write_labels(folder / name, some, None)
        parts.append(Part("labels", name, len(some), ""))
    manifest = Manifest("result", settings, Accounting(0, 0), tuple(parts))
    (folder / "manifest.json").write_text(manifest.to_json())
    return str(folder)


def listed(path: str | Path, **keywords: Any) -> list[tuple]:
    """The rows `read_list` finds, hashes as hex."""
    return [
        (row["sha1"].hex(), row["kind"], row["source_url"], row["bytes"], row["text"])
        for batch in read_list(str(path), **keywords) for row in batch.to_pylist()
    ]
