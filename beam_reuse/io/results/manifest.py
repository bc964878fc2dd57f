"""What a result says about itself: accounting, parts, manifest.json and run.json.

The manifest holds what is the same for the same input, settings and installed versions on
any machine; `run.json` holds what may differ. A folder without a manifest is no result.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from beam_reuse.core.errors import UserError

MANIFEST = "manifest.json"
RUN_INFO = "run.json"
FORMAT = "beam-reuse"
UNREAD_ROWS = "unread-rows"
CORPUS = "corpus"
"""What parts belong to that are shards of a corpus, and not of a table."""
ResultKind = Literal["result", "index", "experiment"]
# Raised whenever tables or their columns change: what reads a folder expects those of its version.
SCHEMA_VERSIONS: Mapping[ResultKind, int] = {"result": 8, "index": 8, "experiment": 3}


class NoResultError(UserError):
    """A folder that no finished run has written; the message says what to do."""


class AccountingError(RuntimeError):
    """Records that were read but ended as nothing, or twice: a defect, never hidden."""


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, order=True)
class Part:
    """One finished file of a result: `path` is relative to the result folder. Files that are
    checked whenever they are read have a `crc32` too: it costs a third."""

    table: str
    path: str
    rows: int
    sha256: str
    crc32: str = ""

    @property
    def checksum(self) -> str:
        """What to check the file by, as `io.files.checksum_of` gives it."""
        return f"crc32:{self.crc32}" if self.crc32 else f"sha256:{self.sha256}"


@dataclass(frozen=True)
class Accounting:
    """What became of every record read. Refuses sums that do not match.

    `noted` counts what was kept but is worth reporting (`encoding-absent`); it is no part of
    the sum.
    """

    records: int
    pages: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[str, int] = field(default_factory=dict)
    noted: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        total = self.pages + self.skipped_total + self.rejected_total
        if total != self.records:
            raise AccountingError(
                f"{self.records} records were read, but {self.pages} pages + "
                f"{self.skipped_total} skipped + {self.rejected_total} rejected = {total}. "
                "This is a defect of beam_reuse: please report it with the input's format."
            )

    @property
    def skipped_total(self) -> int:
        return sum(self.skipped.values())

    @property
    def rejected_total(self) -> int:
        return sum(self.rejected.values())

    @property
    def rejected_share(self) -> float:
        """Rejected records as a share of all records; 0 for an empty input. Where a reject stands
        for many rows (`unread-rows`: those beyond the one that is counted), each is one."""
        unread = self.noted.get(UNREAD_ROWS, 0)
        return (self.rejected_total + unread) / (self.records + unread) if self.records else 0.0

    def as_json(self) -> dict[str, Any]:
        """The manifest's `accounting`: the sum and its three sides, reasons by name."""
        return {
            "records": self.records,
            "pages": self.pages,
            "skipped": dict(self.skipped),
            "rejected": dict(self.rejected),
        }


@dataclass(frozen=True)
class RunOutcome:
    """What a finished graph hands back: every record's fate, every file written, and the
    thresholds above which something was flagged, as integer shares. What is `measured` may differ
    between runs with the same result."""

    accounting: Accounting
    parts: tuple[Part, ...]
    bytes_read: int
    thresholds: Mapping[str, int] = field(default_factory=dict)
    measured: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json. `settings` are those that change values, by option name;
    `files` are those that are no parts of tables (figures), path and SHA-256; `thresholds`
    the shares above which pages and neighbourhoods were flagged, given or computed."""

    kind: ResultKind
    settings: Mapping[str, Any]
    accounting: Accounting
    parts: tuple[Part, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        """All files of the result, but for the manifest itself and run.json."""
        return [*(part.path for part in self.parts), *self.files]

    def tables(self) -> dict[str, list[Part]]:
        """Parts of each table in the order of their paths."""
        found: dict[str, list[Part]] = {}
        for part in sorted(self.parts):
            if part.table != CORPUS:
                found.setdefault(part.table, []).append(part)
        return found

    @property
    def shards(self) -> list[Part]:
        """The files of a corpus that was written with the result, in the order of their paths."""
        return [part for part in sorted(self.parts) if part.table == CORPUS]

    def require_whole_corpus(self) -> None:
        """Refuse a corpus in which a page is missing, or twice, or whose bytes do not add up."""
        noted, written = self.accounting.noted, sum(part.rows for part in self.shards)
        kept, dropped = noted.get("kept-pages", 0), _total(noted, "dropped-pages-")
        if kept + dropped != self.accounting.pages or written != kept:
            raise AccountingError(
                f"{self.accounting.pages} pages, but {kept} kept + {dropped} dropped, and "
                f"{written} records written. This is a defect of beam_reuse: please report it.")
        every, kept, written = (noted.get(name, 0) for name in (
            "all-bytes", "kept-bytes", "written-bytes"))
        dropped, stripped = (_total(noted, f"{what}-bytes-") for what in ("dropped", "stripped"))
        if kept + dropped + stripped != every or written != kept:
            raise AccountingError(
                f"{every} bytes, but {kept} kept + {dropped} dropped + {stripped} stripped, and "
                f"{written} written. This is a defect of beam_reuse: please report it.")

    def to_json(self) -> str:
        """Deterministic text: the same content gives the same bytes."""
        content = {
            "format": FORMAT,
            "schema_version": SCHEMA_VERSIONS[self.kind],
            "kind": self.kind,
            "settings": self.settings,
            "accounting": self.accounting.as_json(),
            "noted": dict(self.accounting.noted),
            "tables": {name: _table_json(parts) for name, parts in self.tables().items()},
            **({CORPUS: _table_json(self.shards)} if self.shards else {}),
            **({"files": dict(self.files)} if self.files else {}),
            **({"thresholds": dict(self.thresholds)} if self.thresholds else {}),
        }
        return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str, where: str) -> "Manifest":
        """The manifest in `text`; refuses what this version cannot have written."""
        content = _ours(text)
        if content is None:
            raise NoResultError(
                f"{where}: its {MANIFEST} is none of beam-reuse. "
                "Give the folder that a run has written (-o)."
            )
        version, kind = content["schema_version"], content["kind"]
        if version != (ours := SCHEMA_VERSIONS.get(kind)):
            raise NoResultError(
                f"{where} was written with schema version {version}; this is version {ours}. "
                "Make it again from the crawl, or use the matching release."
            )
        _refuse_strange(content, where)
        return Manifest(
            kind=content["kind"],
            settings=content["settings"],
            accounting=Accounting(**content["accounting"], noted=content["noted"]),
            parts=tuple(_parts_of({
                **content["tables"], **{name: content[name] for name in (CORPUS,)
                                        if name in content}})),
            files=content.get("files", {}),
            thresholds=content.get("thresholds", {}),
        )


def _total(noted: Mapping[str, int], start: str) -> int:
    return sum(count for name, count in noted.items() if name.startswith(start))


def paths_of_result(text: str | bytes) -> list[str]:
    """Paths that the manifest in `text` lists, itself included, whatever its version.

    [] if it is not ours, or names a path outside its folder: then nothing may be removed.
    """
    content = _ours(text)
    if content is None:
        return []
    paths = _paths(content)
    return [*paths, MANIFEST] if all(map(_is_inside, paths)) else []


def _paths(content: Mapping[str, Any]) -> list[str]:
    parts = [part for table in (*content["tables"].values(), content.get(CORPUS, {}))
             for part in table.get("parts", ())]
    return [*(part["path"] for part in parts), *content.get("files", {})]


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/") and "://" not in path


def _refuse_strange(content: Mapping[str, Any], where: str) -> None:
    """Refuse names of tables and paths of parts that no run has written: somebody else may have
    made the folder, and they become part of what is asked of DuckDB."""
    for name in content["tables"]:
        if not _NAME.fullmatch(name):
            raise NoResultError(f"{where}: its {MANIFEST} names a table {name[:80]!r}, as no run "
                                "does. Do not trust this folder.")
    for path in _paths(content):
        if not _is_inside(path):
            raise NoResultError(f"{where}: its {MANIFEST} names {path[:80]!r}, which is outside of "
                                "it, as no run does. Do not trust this folder.")


def _ours(text: str | bytes) -> dict[str, Any] | None:
    """The content of a manifest of ours; None for any other JSON or none at all."""
    try:
        content = json.loads(text)
    except ValueError:
        return None
    ours = isinstance(content, dict) and content.get("format") == FORMAT
    return content if ours else None


def _table_json(parts: list[Part]) -> dict[str, Any]:
    return {
        "rows": sum(part.rows for part in parts),
        "parts": [
            {"path": p.path, "rows": p.rows, "sha256": p.sha256}
            | ({"crc32": p.crc32} if p.crc32 else {})
            for p in parts
        ],
    }


def _parts_of(tables: Mapping[str, Any]) -> Iterable[Part]:
    for name, table in tables.items():
        for part in table["parts"]:
            yield Part(name, part["path"], part["rows"], part["sha256"], part.get("crc32", ""))
