"""Sets of hashes on disk against Python's own sets."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.core.errors import UserError
from beam_reuse.io.labels.compact import CompactList
from beam_reuse.io.labels.compact_writer import write_hash_set
from beam_reuse.io.labels.hash_order import HeldHashes, byte_rows, sorted_distinct
from beam_reuse.kernels.sorted_hashes import find_in_ranges, first_disorder
from tests.results.test_files import MemoryFileSystem

# Random ones, and ones that no SHA-1 looks like: equal in many bytes, or all but the last.
HASHES = st.one_of(
    st.binary(min_size=20, max_size=20),
    st.tuples(st.sampled_from([b"\0" * 19, b"\xff" * 19, b"\0" * 8 + b"\xff" * 11]),
              st.sampled_from([b"\0", b"\1", b"\xff"])).map(b"".join),
)


def column(hashes: list[bytes]) -> np.ndarray:
    return np.frombuffer(b"".join(hashes), "V20")


def open_hash_set(path: str) -> HeldHashes:
    return CompactList.open(path).hashes


def rows(hashes: list[bytes]) -> np.ndarray:
    """Rows of a hash and eight equal bytes."""
    return np.frombuffer(b"".join(h + b"the tail" for h in hashes), "V28")


@given(st.lists(HASHES, max_size=80), st.lists(HASHES, max_size=40))
def test_sorted_rows_against_a_list(held: list[bytes], asked: list[bytes]) -> None:
    content, every = byte_rows(rows(sorted(held))), [*asked, *held]
    index = HeldHashes.of_rows(content)
    for hashes in (index, HeldHashes.of(column(held))):
        assert hashes.contain(column(every)).tolist() == [h in held for h in every]
    at, low, high = index.ranges(column(every))
    assert set(at.tolist()) >= {i for i, h in enumerate(every) if h in held}
    found = find_in_ranges(content, low, high, byte_rows(column(every)), at)
    for i, first, end in zip(at.tolist(), *(ends.tolist() for ends in found), strict=True):
        assert [sorted(held)[row] for row in range(first, end)] == [every[i]] * held.count(every[i])


@given(st.lists(st.tuples(HASHES, st.binary(min_size=8, max_size=8)), max_size=80))
def test_order_and_distinct_against_python(pairs: list[tuple[bytes, bytes]]) -> None:
    content = [b"".join(pair) for pair in pairs]
    found = sorted_distinct(np.frombuffer(b"".join(content), "V28"))
    assert [row.tobytes() for row in found] == sorted(set(content))
    assert first_disorder(byte_rows(found)) == -1
    wrong = [i for i in range(1, len(content)) if content[i] < content[i - 1]]
    assert first_disorder(byte_rows(np.frombuffer(b"".join(content), "V28"))) == (
        wrong[0] if wrong else -1)


def test_a_large_set_is_exact_and_its_bytes_depend_on_nothing_else(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    held, absent = column([random.bytes(200_000 * 20)]), column([random.bytes(200_000 * 20)])
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert write_hash_set(one, [held]) == 200_000
    assert write_hash_set(two, [held[::-1][:150_000], held, held[:7]]) == 200_000
    assert Path(one).read_bytes() == Path(two).read_bytes()
    hashes = open_hash_set(one)
    assert hashes.contain(held).all()
    assert not hashes.contain(absent).any()


def test_a_hash_that_differs_in_its_last_byte_only_is_not_in_the_set(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    held = np.frombuffer(random.bytes(10_000 * 20), np.uint8).reshape(-1, 20).copy()
    write_hash_set(str(tmp_path / "set"), [held.view("V20")[:, 0]])
    held[:, 19] ^= 1
    assert not open_hash_set(str(tmp_path / "set")).contain(held.view("V20")[:, 0]).any()


def test_the_empty_set(tmp_path: Path) -> None:
    path = str(tmp_path / "set")
    assert write_hash_set(path, []) == 0
    assert open_hash_set(path).contain(column([b"x" * 20, b"\0" * 20])).tolist() == [False, False]
    assert open_hash_set(path).contain(column([])).tolist() == []


def test_it_is_opened_once_and_pickles_as_its_path(tmp_path: Path) -> None:
    path = str(tmp_path / "set")
    write_hash_set(path, [column([b"x" * 20])])
    labels = CompactList.open(path)
    assert open_hash_set(path) is labels.hashes
    assert len(pickle.dumps(labels)) < 300
    assert pickle.loads(pickle.dumps(labels)) is labels
    write_hash_set(path, [column([b"y" * 20])])
    assert open_hash_set(path).contain(column([b"x" * 20, b"y" * 20])).tolist() == [False, True]


def test_a_set_elsewhere_is_copied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryFileSystem, "objects", {})
    write_hash_set("mem://b/set", [column([b"x" * 20])])
    hashes = open_hash_set("mem://b/set")
    MemoryFileSystem.objects.clear()
    assert open_hash_set("mem://b/set") is hashes
    assert hashes.contain(column([b"x" * 20, b"y" * 20])).tolist() == [True, False]


def test_a_file_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "set"
    write_hash_set(str(path), [column([b"x" * 20, b"y" * 20])])
    whole = path.read_bytes()
    for content in (b"", whole[:50], whole[:-1], whole + b"z", b"other!!!" + whole[8:]):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"cut short|damaged"):
            open_hash_set(str(path))


def test_lists_and_sets_need_no_beam() -> None:
    code = ("import sys, beam_reuse.io.labels.lists, beam_reuse.io.labels.compact_writer;"
            "sys.exit('apache_beam' in sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)
