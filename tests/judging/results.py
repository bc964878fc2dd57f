"""Result folders written by hand: tables of a few rows in several parts, and a manifest."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from beam_reuse.io.files import LocalFiles, join, write_whole
from beam_reuse.io.results.manifest import Accounting, Manifest, Part
from beam_reuse.io.results.run_folder import ResultFolder
from beam_reuse.io.results.tables import SCHEMAS

Rows = Sequence[Mapping[str, Any]]


def write_result(folder: Path, tables: Mapping[str, Sequence[Rows]], **settings: Any) -> str:
    """A result with these tables, each given as the rows of its parts."""
    with ResultFolder(str(folder)) as result:
        parts = []
        for name, pieces in tables.items():
            for number, rows in enumerate(pieces):
                path = f"{name}/part-{number:05d}-of-{len(pieces):05d}.parquet"
                content = parquet(pa.Table.from_pylist(list(rows), SCHEMAS[name].arrow()))
                write_whole(LocalFiles(), join(result.work.tables, path), content)
                parts.append(Part(name, path, len(rows), hashlib.sha256(content).hexdigest()))
        named = {key.replace("_", "-"): value for key, value in settings.items()}
        result.publish(Manifest("result", named, Accounting(0, 0), tuple(parts)), {})
    return str(folder)


def parquet(table: pa.Table) -> bytes:
    target = io.BytesIO()
    pq.write_table(table, target, write_page_checksum=True)
    return target.getvalue()


def page_row(url: str, matching: int, chunks: int, flagged: bool) -> dict[str, Any]:
    """A row of page_reuse."""
    return {
        "url": url, "chunks": chunks, "stop_chunks": 0, "matching": matching, "own_matching": 0,
        "distinct_matching": min(matching, 1), "contains": matching / chunks if chunks else None,
        "file_match": False, "flagged": flagged,
    }


def prefix_row(prefix: str, matching: int, chunks: int, mean: float | None,
               flagged: bool) -> dict[str, Any]:
    """A row of neighbourhoods."""
    return {
        "prefix": prefix, "depth": prefix.count("/"), "pages": 1, "chunks": chunks,
        "matching": matching, "own_matching": 0, "distinct_matching": min(matching, 1),
        "badness": matching / chunks if chunks else None, "mean_contains": mean,
        "flagged": flagged,
    }


def pair_row(a: str, b: str, b_similarity: int, c_similarity: int, same_site: bool,
             returned: Iterable[str]) -> dict[str, Any]:
    """A row of near_duplicates."""
    names = set(returned)
    return {
        "url_a": a, "url_b": b, "b_similarity": b_similarity, "c_similarity": c_similarity,
        "same_site": same_site,
        **{name: name in names for name in ("b", "c", "combined", "hybrid")},
    }


def crawl_row(url: str, sha1: str = "") -> dict[str, Any]:
    """A row of pages."""
    return {
        "url": url, "fetched_url": url, "kind": "document", "host": "", "site": "", "domain": "",
        "bytes": 0, "sha1": sha1, "chunks": 1, "tokens": 1, "crawl": "", "file": "", "offset": 0,
        "record_length": 0,
    }


def chunk_row(sha1: str, occurrences: int, text: str = "", urls: Iterable[str] = ()) -> dict:
    """A row of frequent_chunks."""
    return {
        "sha1": sha1, "occurrences": occurrences, "pages": 1, "hosts": 1, "domains": 1,
        "bytes": len(text), "text": text, "first_url": "http://a.example/",
        "first_timestamp": None, "sample_urls": list(urls),
    }


def fill_sheet(path: Path, verdict: Callable[[dict[str, str]], tuple[str, str]]) -> None:
    """Write label and reason, as `verdict` gives them for a row, into every row of a sheet."""
    with path.open(newline="") as source:
        rows = list(csv.DictReader(source))
    for row in rows:
        row["label"], row["reason"] = verdict(row)
    with path.open("w", newline="") as target:
        writer = csv.DictWriter(target, rows[0])
        writer.writeheader()
        writer.writerows(rows)
