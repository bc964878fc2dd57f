"""Where a file is cut into ranges changes nothing, whatever is in it."""

import os
import random
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_reuse.core.pages import RawPage, Rejected
from beam_reuse.core.settings import ReadSettings
from beam_reuse.io.crawl.inputs import list_files
from beam_reuse.io.crawl.ranges import NO_DOUBT, NOTHING, cut, true_starts
from beam_reuse.io.crawl.read import RangeReader
from tests.broken.writing import (
    arc,
    arc_start,
    flipped,
    gz,
    gzip_frame,
    http,
    info,
    page,
    stored,
    warc,
)
from tests.crawl.reading import read_cut, read_whole, shape


def _noise(seed: int, length: int) -> bytes:
    """Bytes that do not compress, with gzip's magic strewn in."""
    rng = random.Random(seed)
    data = bytearray(rng.randbytes(length))
    for _ in range(length // 50):
        at = rng.randrange(length)
        data[at:at + 4] = b"\x1f\x8b\x08\x00"
    return bytes(data[:length])


def _holds(payload: bytes, number: int) -> bytes:
    """A record that holds `payload`."""
    return warc(http(payload, "200 OK", "text/plain"), f"http://a.example/{number}")


def _inner(number: int) -> bytes:
    """A crawl file, to be stored inside a record."""
    return b"".join(gz(page(number * 100 + i)) for i in range(3))


COMPRESSED = {
    "page": lambda n: gz(page(n)),
    "noise": lambda n: gz(_holds(_noise(n, 300), n)),
    "info": lambda n: gz(info()),
    "several": lambda n: gz(page(n) + page(n + 1000) + info()),
    "stored-crawl": lambda n: stored(_holds(_inner(n), n)),
    "stored-crawl-cut-up": lambda n: stored(_holds(_inner(n), n), block=400),
    "stored-crawl-truncated": lambda n: stored(_holds(_inner(n)[:-30], n)),
    "stored-crawl-checksum": lambda n: flipped(stored(_holds(_inner(n), n)), -6),
    "garbage": lambda n: b"garbage" * (1 + n % 60),
    "zeros": lambda n: bytes(1 + n % 300),
    "magic": lambda n: b"\x1f\x8b\x08\x00" * (1 + n % 30),
    "no-record": lambda n: gz(b"hello" * n),
    "corrupt": lambda n: flipped(gz(page(n)), 40 + n % 40, 5),
    "checksum": lambda n: flipped(gz(page(n)), -5),
    "truncated": lambda n: gz(page(n))[:-(1 + n % 100)],
    "bad-length": lambda n: gz(warc(http(), length=n % 500)),
    "zeros-inside": lambda n: gz(_holds(bytes(5000), n)),
}
PLAIN = {
    "page": page,
    "info": lambda n: info(),
    "stored-crawl": lambda n: _holds(page(n + 100) + page(n + 200), n),
    "stored-crawl-truncated": lambda n: _holds((page(n + 100) + page(n + 200))[:-60], n),
    "garbage": lambda n: b"garbage\n" * (1 + n % 60),
    "looks-like": lambda n: b"\nWARC/1.0\r\nWARC-Type: response\r\n\r\n" * (1 + n % 3),
    "bad-length": lambda n: warc(http(), length=n % 500),
    "no-length": lambda n: warc(http(), length="x"),
    "truncated": lambda n: page(n)[:-(1 + n % 100)],
    "one-newline": lambda n: page(n)[:-3],
    "many-newlines": lambda n: page(n) + b"\r\n" * (n % 30),
}
ARC = {
    "page": lambda n: arc(http(b"<p>%d" % n), f"http://a.example/{n}"),
    "version-2": lambda n: arc(http(b"<p>%d" % n), f"http://a.example/{n}", version=2),
    "start": lambda n: arc_start(),
    "stored-crawl": lambda n: arc(http(arc(http()) + arc(http()))),
    "garbage": lambda n: b"garbage: x\n" * (1 + n % 60),
    "bad-length": lambda n: arc(http(), length=n % 200),
    "no-length": lambda n: arc(http(), length="x"),
    "truncated": lambda n: arc(http())[:-(1 + n % 60)],
    "blank-in-url": lambda n: arc(http(), "http://a.example/a b c"),
}


def _pieces(names: list[str]) -> st.SearchStrategy[list[tuple[str, int]]]:
    return st.lists(st.tuples(st.sampled_from(sorted(names)), st.integers(0, 999)),
                    min_size=1, max_size=12)


def _check(folder: Path, name: str, content: bytes, size: int) -> None:
    path = folder / name
    path.write_bytes(content)
    whole = read_whole(path)
    offsets = [outcome.offset for outcome in whole]
    assert offsets == sorted(set(offsets))
    assert read_cut(path, size) == whole


SIZES = st.integers(30, 3000)


@given(pieces=_pieces(list(COMPRESSED)), size=SIZES)
@settings(max_examples=150)
def test_gzip(pieces: list[tuple[str, int]], size: int, tmp_path_factory: pytest.TempPathFactory
              ) -> None:
    content = gz(info()) + b"".join(COMPRESSED[name](n) for name, n in pieces)
    _check(tmp_path_factory.getbasetemp(), "cut.warc.gz", content, size)


@given(pieces=_pieces(list(PLAIN)), size=SIZES)
@settings(max_examples=150)
def test_plain(pieces: list[tuple[str, int]], size: int, tmp_path_factory: pytest.TempPathFactory
               ) -> None:
    content = b"".join(PLAIN[name](n) for name, n in pieces)
    _check(tmp_path_factory.getbasetemp(), "cut.warc", content, size)


@given(pieces=_pieces(list(ARC)), size=SIZES, compressed=st.booleans())
@settings(max_examples=100)
def test_arc(pieces: list[tuple[str, int]], size: int, compressed: bool,
             tmp_path_factory: pytest.TempPathFactory) -> None:
    wrap = gz if compressed else bytes
    content = b"".join(wrap(ARC[name](n)) for name, n in [("start", 0), *pieces])
    _check(tmp_path_factory.getbasetemp(), "cut.arc.gz" if compressed else "cut.arc", content, size)


@given(pieces=_pieces(list(PLAIN)), size=SIZES, seed=st.integers(0, 99))
@settings(max_examples=60)
def test_zstd(pieces: list[tuple[str, int]], size: int, seed: int,
              tmp_path_factory: pytest.TempPathFactory) -> None:
    parts = [zstandard.compress(PLAIN[name](n)) for name, n in pieces]
    rng = random.Random(seed)
    for i in range(len(parts)):
        if rng.random() < 0.3:
            parts[i] = rng.choice([flipped(parts[i], len(parts[i]) // 2, 3), parts[i][:-3],
                                   parts[i] + b"garbage"])
    content = zstandard.compress(info()) + b"".join(parts)
    _check(tmp_path_factory.getbasetemp(), "cut.warc.zst", content, size)


@given(rows=st.lists(st.sampled_from(["row", "bad", "blank", "long"]), min_size=1, max_size=20),
       size=st.integers(10, 400), end=st.booleans())
@settings(max_examples=60)
def test_lines(rows: list[str], size: int, end: bool, tmp_path_factory: pytest.TempPathFactory
               ) -> None:
    kinds = {"row": '{"url": "http://a.example/%d", "text": "x"}', "bad": "{%d", "blank": "",
             "long": '{"url": "http://a.example/%d", "text": "' + "x" * 500 + '"}'}
    lines = [kinds[row] % n if "%" in kinds[row] else kinds[row] for n, row in enumerate(rows)]
    content = "\n".join(["{}", *lines]) + "\n" * end
    _check(tmp_path_factory.getbasetemp(), "cut.jsonl", content.encode(), size)


@pytest.mark.parametrize("size", [200, 1000, 5000, 10**6])
def test_parquet_row_groups(size: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"url": [f"http://a.example/{i}" for i in range(100)],
                      "text": [os.urandom(50).hex() for _ in range(100)]})
    pq.write_table(table, path, row_group_size=7)
    whole = read_whole(path)
    assert [outcome.offset for outcome in whole] == list(range(100))
    assert read_cut(path, size) == whole


def test_reader_is_misled_without_the_fold(tmp_path: Path) -> None:
    """The stored crawl does fool a reader, so that the tests above test something."""
    path = tmp_path / "cut.warc.gz"
    path.write_bytes(stored(_holds(_inner(1) * 3, 1)) + gz(page(2)))
    pieces = cut(list_files([str(path)]), 300)
    found = [outcome for piece in pieces for outcome in RangeReader(piece, ReadSettings())]
    assert len(found) > len(read_whole(path)) == 2
    assert len(read_cut(path, 300)) == 2


def test_garbage_belongs_to_the_reader_that_comes_upon_it(tmp_path: Path) -> None:
    path = tmp_path / "cut.warc.gz"
    first, garbage = gz(page(1)), b"garbage" * 400
    path.write_bytes(first + garbage + gz(page(2)))
    for size in (100, len(first), len(first) + 5, len(first) + len(garbage)):
        outcomes = read_cut(path, size)
        assert shape(outcomes) == ("page", "rejected:garbage", "page")
        assert isinstance(outcomes[1], Rejected) and outcomes[1].offset == len(first)


def _raw_frame(block: bytes, covered: int) -> bytes:
    """A zstd frame without checksum whose one raw block is `block` and `covered` bytes more."""
    header = (len(block) + covered) << 3 | 1
    return b"\x28\xb5\x2f\xfd\x00\x58" + header.to_bytes(3, "little") + block


@pytest.mark.parametrize("name", ["swallow.warc", "swallow.warc.gz", "swallow.warc.zst"])
def test_a_page_cannot_make_records_behind_it_disappear(name: str, tmp_path: Path) -> None:
    """A page that ends in the header of a record as long as what the crawler writes next."""
    wrap = {"warc": bytes, "gz": gz, "zst": zstandard.compress}[name.rpartition(".")[2]]
    behind = [wrap(page(n)) for n in (7, 8, 9)]
    length = len(behind[0] + behind[1])
    trap = b"\n" + warc(b"", length=4 + length)[:-4]
    if wrap is gz:
        trap = stored(trap[1:] + bytes(length))[:-length]
    elif wrap is not bytes:
        trap = _raw_frame(warc(b"", length=length - 4)[:-4], length)
    trapped = _holds(b"x" * 500 + trap, 1)
    first = {gz: stored, bytes: bytes}.get(wrap, lambda data: _raw_frame(data[:-4], 0))(trapped)
    path = tmp_path / name
    path.write_bytes(first + b"".join(behind))
    whole = read_whole(path)
    assert shape(whole) == ("page",) * 4
    assert all(read_cut(path, size) == whole for size in range(300, 900, 10))


def _endless_member(records: bytes) -> bytes:
    """The start of a gzip member: `records`, then a stored block of what the file goes on with."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = deflater.compress(records) + deflater.flush(zlib.Z_FULL_FLUSH)
    return gzip_frame(body, b"")[:-8] + b"\x00\xff\xff\x00\x00"


def test_a_page_cannot_add_records(tmp_path: Path) -> None:
    """A page that ends in the start of a member with more records than it has bytes."""
    trap = _endless_member(b"WARC/1.0\r\nA:\r\nContent-Length:0\r\n\r\n\r\n\r\n" * 600)
    path = tmp_path / "many.warc.gz"
    noise = gz(_holds(random.Random(1).randbytes(4000), 2))
    path.write_bytes(stored(_holds(b"x" * 500 + trap, 1)) + noise + gz(page(3)))
    whole = read_whole(path)
    assert shape(whole) == ("page",) * 3
    assert all(read_cut(path, size) == whole for size in range(300, 900, 20))


def test_fold() -> None:
    assert true_starts([]) == []
    assert true_starts([(0, 10, 12), (10, 20, 25), (20, 30, 30)]) == [0, 12, 25]
    assert true_starts([(0, 10, 35), (10, 20, 15), (20, 30, 22), (30, 40, 40)]) == [
        0, NOTHING, NOTHING, 35]
    assert true_starts([(0, 10, NO_DOUBT), (10, 20, NO_DOUBT)]) == [0, 0]


def test_offsets_of_records_in_one_member(tmp_path: Path) -> None:
    path = tmp_path / "one.warc.gz"
    path.write_bytes(gz(info()) + gz(page(1) + page(2) + page(3)) + gz(page(4)))
    at = len(gz(info()))
    behind = at + len(gz(page(1) + page(2) + page(3)))
    outcomes = read_whole(path)
    assert [outcome.offset for outcome in outcomes] == [0, at, at + 1, at + 2, behind]
    last = outcomes[-1]
    assert isinstance(last, RawPage) and last.record_length == len(gz(page(4)))


def test_more_records_than_bytes_keep_unique_offsets(tmp_path: Path) -> None:
    path = tmp_path / "many.warc.gz"
    path.write_bytes(gz(warc(b"", None, "metadata") * 40_000, 9) + gz(page(1)))
    outcomes = read_whole(path)
    offsets = [outcome.offset for outcome in outcomes]
    assert offsets == sorted(set(offsets))
    assert shape(outcomes[-2:]) == ("rejected:too-many-records", "page")
    assert read_cut(path, 5000) == outcomes
