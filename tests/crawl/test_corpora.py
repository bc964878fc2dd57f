"""Real crawl files, with warcio (and a parser of our own for ARC) as independent judges."""

import csv
import gzip
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from beam_reuse.core.pages import Outcome, RawPage, Rejected, Skipped
from beam_reuse.core.settings import ReadSettings
from tests.crawl.reading import read_cut, read_whole

EVERYTHING = ReadSettings(statuses=None, content_types=("document", "code", "other"))
ENCODING_ABSENT = 68  # bodies that are not in the encoding their header names


@pytest.fixture(scope="module")
def inventory(corpora: Path) -> dict[str, dict[str, str]]:
    """Rows of the list of files, by path; records were counted by a strict reader."""
    with open(corpora / "warcs" / "inventory.tsv", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {row["local"]: row for row in rows}


@pytest.fixture(scope="module")
def outcomes(corpora: Path, inventory: dict[str, Any]) -> dict[str, list[Outcome]]:
    return {name: read_whole(corpora / "warcs" / name, EVERYTHING) for name in inventory}


def test_as_many_records_as_the_judge_counts(
        inventory: dict[str, dict[str, str]], outcomes: dict[str, list[Outcome]]) -> None:
    readable = [name for name, row in inventory.items() if not row["error"]]
    assert len(readable) > 50
    assert {name: len(outcomes[name]) for name in readable} == {
        name: int(inventory[name]["records"]) for name in readable}


def test_files_a_strict_reader_refuses_are_told(
        inventory: dict[str, dict[str, str]], outcomes: dict[str, list[Outcome]]) -> None:
    for name, row in inventory.items():
        if row["error"]:
            assert len(outcomes[name]) >= max(1, int(row["records"])), name


def test_any_cut_gives_the_same(corpora: Path, inventory: dict[str, Any],
                                outcomes: dict[str, list[Outcome]]) -> None:
    for name in inventory:
        size = (corpora / "warcs" / name).stat().st_size
        pieces = (3, 50) if size > 50_000 else (2, 3, 17)
        for count in pieces:
            found = read_cut(corpora / "warcs" / name, max(1, size // count), EVERYTHING)
            assert found == outcomes[name], (name, count)


def test_payloads_equal_the_judges(corpora: Path, inventory: dict[str, dict[str, str]],
                                   outcomes: dict[str, list[Outcome]]) -> None:
    compared = absent = 0
    for name, row in inventory.items():
        if row["error"]:
            continue
        judged = _judged(corpora / "warcs" / name)
        assert len(judged) == len(outcomes[name])
        for (kind, status, payload), outcome in zip(judged, outcomes[name], strict=True):
            if not isinstance(outcome, RawPage):
                assert kind not in ("response", "resource", "conversion") or _told(outcome)
                continue
            assert outcome.status == status
            assert outcome.payload == payload, (name, outcome.fetched_url)
            compared += 1
            absent += outcome.encoding_absent
    assert compared > 700
    assert absent == ENCODING_ABSENT


def _judged(path: Path) -> list[tuple[str, int | None, bytes]]:
    """Type, status and payload of each record, by warcio."""
    found = []
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            status = record.http_headers and record.http_headers.get_statuscode()
            found.append((record.rec_type, int(status) if status and status.isdigit() else None,
                          record.content_stream().read()))
    return found


def _told(outcome: Outcome) -> bool:
    """True for a record that is no page for a reason that does not depend on its kind."""
    return isinstance(outcome, Rejected) or (
        isinstance(outcome, Skipped) and outcome.reason in ("dns", "no-http", "filedesc"))


def test_arc_records_equal_a_small_parser(
        corpora: Path, outcomes: dict[str, list[Outcome]]) -> None:
    for name in ("archivesunleashed+aut/example.arc.gz", "webrecorder+pywb/example.arc"):
        parsed = _parse_arc((corpora / "warcs" / name).read_bytes())
        mine = outcomes[name]
        assert [url for url, _ in parsed] == [
            o.fetched_url if isinstance(o, RawPage) else o.url for o in mine]
        for (_, block), outcome in zip(parsed, mine, strict=True):
            if isinstance(outcome, RawPage):
                assert block.endswith(outcome.payload)
                assert outcome.ip and outcome.timestamp


def _parse_arc(data: bytes) -> list[tuple[str, bytes]]:
    """URL and block of each record, by the letter of the format."""
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    found = []
    while data := data.lstrip(b"\n"):
        line, _, rest = data.partition(b"\n")
        length = int(line.split(b" ")[-1])
        found.append((line.split(b" ")[0].decode(), rest[:length]))
        data = rest[length:]
    return found


def test_charsets_of_real_pages_are_known(outcomes: dict[str, list[Outcome]]) -> None:
    pages = [o for found in outcomes.values() for o in found if isinstance(o, RawPage)]
    documents = [p for p in pages if p.kind.has_text]
    assert len(documents) > 400
    assert all(re.fullmatch(r"[a-z0-9-]+", p.charset) for p in documents)
    assert Counter(p.charset for p in documents)["utf-8"] > 200
    assert {p.charset for p in pages if not p.kind.has_text} == {""}
