"""Corpora to be cleaned, and what is there afterwards."""

import json
import random
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from beam_reuse.cli.main import main
from beam_reuse.io.results import tables
from beam_reuse.io.results.tables import read_manifest
from tests.oracles import clean as oracle

ALL = ("near-duplicates", "exact-copies", "flagged", "quilts")
TABLES = {"near-duplicates": "keep", "exact-copies": "exact_copies", "flagged": "page_reuse",
          "quilts": "quilts", "sources": "quilt_sources", "contaminated": "contaminated_pages"}
WORDS = [f"word{i}" for i in range(60)]


def random_rows(seed: int, n: int = 80) -> list[dict[str, Any]]:
    """Rows with copies and near-copies, of few hosts, with columns of their own."""
    rng = random.Random(seed)
    texts = [[" ".join(rng.choices(WORDS, k=12)) for _ in range(rng.randint(1, 12))]
             for _ in range(12)]
    rows = []
    for i in range(n):
        lines = list(rng.choice(texts))
        if rng.random() < 0.4:
            lines[rng.randrange(len(lines))] += f" own{i}"
        rows.append({"id": i, "url": f"http://h{rng.randrange(4)}.example/{i}?q={i % 3}",
                     "text": "\n".join(lines), "meta": {"score": i / 7, "é": [None, i]}})
    return rows


def in_line(value: Any) -> bytes:
    return json.dumps(value, separators=(" , ", ": ")).encode()


def changed_line(row: Mapping[str, Any], new: Collection[str]) -> bytes:
    """A row of a file that `write_lines` wrote, of which these columns are new: the others have
    the bytes that they had."""
    return b"{" + b",".join(
        orjson.dumps(name) + b":" + orjson.dumps(value) if name in new
        else in_line(name) + b":" + in_line(value) for name, value in row.items()) + b"}"


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> list[bytes]:
    lines = [in_line(row) for row in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return lines


def cleaned(source: Path, to: Path, *options: str) -> dict[str, Any]:
    """The counts of a corpus that was written; files are those of the manifest."""
    assert main(["clean", str(source), "-o", str(to), *options]) == 0
    manifest = read_manifest(str(to))
    assert sorted(str(path.relative_to(to)) for path in (to / "corpus").iterdir()) == [
        part.path for part in manifest.shards]
    return dict(manifest.accounting.noted)


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tables.read(str(folder), name).to_pylist()
    return found


def removals(folder: Path, drop: Sequence[str], listed: Sequence[str] = (),
             min_covered: float = 0.8) -> dict[str, Any]:
    """What the definition removes; the table and the sums of the account are held against it."""
    sizes = {row["url"]: row["bytes"] for row in rows_of(folder, "pages")}
    wanted = oracle.removals(drop, [url for url in listed if url in sizes], {
        TABLES[each]: rows_of(folder, TABLES[each])
        for each in (*drop, *(("sources",) if "quilts" in drop else ())) if each in TABLES},
        min_covered)
    assert rows_of(folder, "removed") == [
        {"url": url, "what": "page", **why._asdict(), "bytes": sizes[url]}
        for url, why in sorted(wanted.items())]
    noted = read_manifest(str(folder)).accounting.noted
    gone = {name: sum(number for noted_name, number in noted.items()
                      if noted_name.startswith(f"dropped-{name}-")) for name in ("pages", "bytes")}
    assert noted["kept-pages"] + gone["pages"] == len(sizes)
    assert noted["kept-bytes"] + gone["bytes"] == sum(sizes.values())
    assert gone["bytes"] == sum(sizes[url] for url in wanted)
    return wanted


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "corpus").iterdir())}
