"""Compact lists: what is written is found, by us and by the reader in the docs; what is
damaged is refused."""

import pickle
import random
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal.isal_zlib import crc32

from beam_reuse.core.errors import UserError
from beam_reuse.core.labels import LabelKind, LabelSettings, source_name
from beam_reuse.core.settings import ChunkSettings
from beam_reuse.io.labels import lists, row_sort
from beam_reuse.io.labels import lookup as lookup_module
from beam_reuse.io.labels.batches import label_batch
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.compact_writer import write_compact
from beam_reuse.io.labels.layout import HEADER_BYTES, SECTIONS, Layout
from beam_reuse.io.labels.lists import read_list, settings_of
from beam_reuse.io.labels.lookup import LabelLookup
from tests.labels.writing import listed

Row = tuple[bytes, int, str | None, int | None]
SETTINGS = LabelSettings(ChunkSettings(("p",), "none"), 25)
URLS = st.sampled_from([None, "http://a.org/", "http://b.org/x", "http://b.org/é", "http://z/",
                        "http://\U0001f600/", "http://\uffee/", "no url"])
ROWS = st.lists(st.tuples(
    st.one_of(st.binary(min_size=20, max_size=20),
              st.sampled_from([b"\0" * 20, b"\0" * 19 + b"\1", b"\xff" * 20])),
    st.sampled_from(list(LabelKind)).map(int), URLS, st.sampled_from([None, 1, 2, 2**33])),
    max_size=60)


def batches(rows: list[Row], size: int = 7) -> list[pa.RecordBatch]:
    return [
        label_batch(
            np.frombuffer(b"".join(row[0] for row in some), "V20"),
            np.array([row[1] for row in some], np.uint8),
            source_url=pa.array([row[2] for row in some], pa.string()),
            domains=pa.array([row[3] for row in some], pa.int64()))
        for some in (rows[i:i + size] for i in range(0, len(rows), size))
    ]


def write(path: Path, rows: list[Row], settings: LabelSettings | None = SETTINGS) -> str:
    assert write_compact(str(path), batches(rows), settings) == len(in_order(rows))
    return str(path)


def in_order(rows: list[Row]) -> list[Row]:
    """Distinct rows by hash, domains (unknown last, as are those of no source), source (none last)
    and kind; each label with its fewest domains, of which 32 bits are kept."""
    most = 2**32 - 1
    fewest: dict[tuple[bytes, int, str | None], int] = {}
    for *label, domains in rows:
        told = min(domains, most - 1) if domains and label[2] is not None else most
        key = (label[0], label[1], label[2])
        fewest[key] = min(told, fewest.get(key, most))
    ordered = sorted(fewest.items(), key=lambda row: (
        row[0][0], row[1], row[0][2] is None, (row[0][2] or "").encode(), row[0][1]))
    return [(*label, None if domains == most else domains) for label, domains in ordered]


def sources(rows: list[Row], sha1: bytes, kind: int) -> list[str | None]:
    """The sources of a hash as a kind, the strongest first; [] if it is no label."""
    return [row[2] for row in in_order(rows) if row[0] == sha1 and row[1] in (kind, LabelKind.ANY)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compact")


@given(rows=ROWS, asked=st.lists(st.binary(min_size=20, max_size=20), max_size=5))
def test_what_is_written_is_found(folder: Path, rows: list[Row], asked: list[bytes]) -> None:
    path = write(folder / "list.brl", rows)
    labels = CompactList.open(path)
    assert labels.settings == SETTINGS == settings_of(path)
    assert [(row["sha1"], row["kind"], row["source_url"], row["domains"])
            for batch in read_list(path) for row in batch.to_pylist()] == in_order(rows)
    check_lookup(LabelLookup(labels), rows, [row[0] for row in rows] + asked)


def check_lookup(lookup: LabelLookup, rows: list[Row], hashes: list[bytes]) -> None:
    """Compare answers with the definition."""
    for kind, owner in product((LabelKind.FILE, LabelKind.CHUNK), ("", "b.org", "w3.org", "q")):
        hits = lookup.find(np.frombuffer(b"".join(hashes), "V20"), kind, owner)
        expected = {i: found for i, h in enumerate(hashes) if (found := sources(rows, h, kind))}
        assert hits.at.tolist() == list(expected)
        assert hits.sources == [found[0] for found in expected.values()]
        assert hits.numbers == [len({*found} - {None}) for found in expected.values()]
        names = [{source_name(url) for url in found if url is not None}
                 for found in expected.values()]
        assert hits.own == [owner in some for some in names]
        domains = Counter(domain for some in names if owner not in some for domain in some)
        assert hits.by_domain == domains


def test_a_hash_with_many_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are too many to look at each time: the same answers."""
    monkeypatch.setattr(lookup_module, "RUN_ROWS", 50)
    footer = b"\x42" * 20
    rows: list[Row] = [(footer, i % 3, f"http://w{i % 7}.org/{i // 2}", i % 4 or None)
                       for i in range(900)]
    rows += [(footer, 1, None, 1), (b"\x42" * 19 + b"\x41", 1, None, None),
             (b"\x42" * 19 + b"\x43", 0, "z", None)]
    rows += [(b"\x42" * 18 + bytes([i, j]), 1, "http://a.org/", 1)
             for i in range(9) for j in range(9)]
    lookup = LabelLookup(CompactList.open(write(tmp_path / "list.brl", rows)))
    hashes = [footer, b"\x42" * 19 + b"\x41", footer, b"\x42" * 19 + b"\x43",
              b"\x42" * 18 + b"\3\3", b"\x42" * 19 + b"\x44"]
    check_lookup(lookup, rows, hashes)
    check_lookup(lookup, rows, hashes)


def many_rows(count: int = 4000) -> list[Row]:
    dice = random.Random(1)
    hashes = [dice.randbytes(20) for _ in range(count // 2)]
    urls = [None, *(f"http://h{i % 9}.co.uk/{i}" for i in range(99))]
    return [(dice.choice(hashes), dice.randrange(3), dice.choice(urls), dice.choice([None, 1, 5]))
            for _ in range(count)]


def test_bytes_depend_on_the_labels_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = many_rows()
    one = Path(write(tmp_path / "one.brl", rows)).read_bytes()
    random.Random(2).shuffle(rows)
    monkeypatch.setattr(row_sort, "HELD_ROWS", 500)
    monkeypatch.setattr(lists, "BATCH_ROWS", 100)
    two = write(tmp_path / "two.brl", rows + rows[:50])
    assert Path(two).read_bytes() == one
    again = str(tmp_path / "three.brl")
    write_compact(again, lists.read_list(two), SETTINGS)
    assert Path(again).read_bytes() == one
    assert Path(write(tmp_path / "four.brl", rows, None)).read_bytes() != one
    assert settings_of(str(tmp_path / "four.brl")) is None


def docs_reader() -> Any:
    text = (Path(__file__).parents[2] / "docs" / "label-format.md").read_text()
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[-1]
    assert len(code.splitlines()) < 40
    names: dict[str, Any] = {}
    exec(code, names)
    return names["open_labels"]


@pytest.mark.parametrize("rows", [many_rows(), [], [(b"x" * 20, 1, None, None)]])
def test_the_reader_in_the_docs(rows: list[Row], tmp_path: Path) -> None:
    settings, labels_of = docs_reader()(write(tmp_path / "list.brl", rows))
    assert settings == {"format": 1, "chunk-tags": ["p"], "chunk-normalise": "none",
                        "classic": False, "min-chunk-bytes": 25, "min-chunk-tokens": 0}
    words = ("file", "chunk", "any")
    for sha1 in {row[0] for row in rows} | {b"\0" * 20, b"\xff" * 20}:
        assert list(labels_of(sha1)) == [
            (words[row[1]], *row[2:]) for row in in_order(rows) if row[0] == sha1]


def test_the_filter_of_the_docs(tmp_path: Path) -> None:
    """The rule for the filter, word by word, never rules out a label and most others."""
    rows = many_rows()
    data = Path(write(tmp_path / "list.brl", rows)).read_bytes()
    section = Layout.read(data[:HEADER_BYTES], len(data), "").sections["filter"]
    lines = data[section.start:section.end]

    def passes(sha1: bytes) -> bool:
        h1, h2 = (int.from_bytes(sha1[i:i + 8], "big") for i in (0, 8))
        line = lines[64 * (h1 * (len(lines) // 64) >> 64):][:64]
        bits = [h2 // 2 ** (9 * i) % 512 for i in range(7)]
        return all(line[b // 8] >> b % 8 & 1 for b in bits)

    assert all(passes(row[0]) for row in rows)
    dice = random.Random(3)
    assert sum(passes(dice.randbytes(20)) for _ in range(2000)) < 60


def test_it_is_opened_once_and_pickles_as_its_path(tmp_path: Path) -> None:
    path = write(tmp_path / "list.brl", many_rows())
    assert pickle.loads(pickle.dumps(CompactList.open(path))) is CompactList.open(path)
    before = CompactList.open(path)
    write(tmp_path / "list.brl", [])
    assert len(CompactList.open(path)) == 0
    assert len(before.rows[:10].copy()) == 10


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.brl"
    whole = Path(write(path, many_rows(50))).read_bytes()
    for length in {0, 1, 7, 8, 255, 256, *range(300, len(whole), 97), len(whole) - 1}:
        path.write_bytes(whole[:length])
        with pytest.raises(UserError, match=r"cut short|no compact list"):
            settings_of(str(path))
    path.write_bytes(whole + b"\0")
    with pytest.raises(UserError, match="damaged"):
        CompactList.open(str(path))


def test_a_changed_byte_is_refused_wherever_it_is(tmp_path: Path) -> None:
    """In the header, in a section, or in the zeros that follow one."""
    path = tmp_path / "list.brl"
    whole = bytearray(Path(write(path, many_rows(50))).read_bytes())
    sections = Layout.read(whole[:HEADER_BYTES], len(whole), "").sections.values()
    padding = [at for s in sections for at in range(s.end, s.end + s.padding)]
    assert len(padding) > 50
    for at in sorted({*range(0, len(whole), 5), *padding}):
        whole[at] ^= 0x10
        path.write_bytes(whole)
        whole[at] ^= 0x10
        with pytest.raises(UserError, match=r"damaged|version|no compact list|cut short"):
            CompactList.open(str(path))


def forged(whole: bytes, name: str, content: bytes) -> bytes:
    """The file with a section's content replaced, all checksums right."""
    layout = Layout.read(whole[:HEADER_BYTES], len(whole), "")
    parts = [content if part == name else whole[layout.sections[part].start:
                                                layout.sections[part].end] for part in SECTIONS]
    made = Layout.of(layout.rows, layout.names, [(len(part), crc32(part)) for part in parts])
    return made.header() + b"".join(part + bytes(-len(part) % 64) for part in parts)


@pytest.mark.parametrize("name", SECTIONS)
def test_sound_checksums_do_not_make_a_sound_list(name: str, tmp_path: Path) -> None:
    """What a faulty writer may write must not crash a kernel or be taken for an answer."""
    path = tmp_path / "list.brl"
    whole = Path(write(path, many_rows(50))).read_bytes()
    section = Layout.read(whole[:HEADER_BYTES], len(whole), "").sections[name]
    content = whole[section.start:section.end]
    assert forged(whole, name, content) == whole
    wrong = [content[:-1], content + b"\0" * 8]
    if name != "filter":
        wrong.append(b"\x7f" * len(content))
    if name == "rows":
        wrong.append(b"".join(content[i:i + 28] for i in range(len(content) - 28, -1, -28)))
        wrong.append(content[:24] + b"\0\0\0\3" + content[28:])
        wrong.append(content[:24] + b"\x0f\0\0\1" + content[28:])
    if name in ("filter", "names"):
        wrong = wrong[:1]
    for some in wrong:
        path.write_bytes(forged(whole, name, some))
        with pytest.raises(UserError, match=r"damaged|settings"):
            CompactList.open(str(path))


def test_sources_that_are_no_text_are_refused_when_listed(tmp_path: Path) -> None:
    path = tmp_path / "list.brl"
    whole = Path(write(path, [(b"x" * 20, 1, "http://a/", 1)])).read_bytes()
    path.write_bytes(forged(whole, "names", b"ahttp://\xff/"))
    hits = LabelLookup(CompactList.open(str(path))).find(np.frombuffer(b"x" * 20, "V20"),
                                                         LabelKind.CHUNK)
    assert "\ufffd" in str(hits.sources)
    with pytest.raises(UserError, match="not UTF-8"):
        listed(path)
