import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coders import PieceCoder
from beam_reuse.columnar.store import INLINE_BYTES, INLINE_PIECES, Blob, Piece, Store, StoreError


@pytest.fixture(params=["files", "inline", "shared"])
def store(request, tmp_path, monkeypatch):
    """Both kinds, and `files` through Beam's filesystems as if the folder were remote."""
    if request.param == "shared":
        monkeypatch.setattr("beam_reuse.columnar.store.is_local", lambda path: False)
    return Store("inline" if request.param == "inline" else "files", str(tmp_path / "spill"))


def test_what_is_put_away_comes_back(store):
    blobs = [bytes([i % 251]) * size for i, size in enumerate([0, 1, 5000, 20_000, 4096, 4097])]
    pieces = store.put_many(Blob(data, i, 7 * i) for i, data in enumerate(blobs))
    assert [bytes(store.get(piece)) for piece in pieces] == blobs
    assert [(p.rows, p.nbytes) for p in pieces] == [(i, 7 * i) for i in range(6)]
    assert pickle.loads(pickle.dumps(store)) == store


def test_one_file_holds_many_pieces_and_small_ones_stay_inline(tmp_path):
    store = Store("files", str(tmp_path))
    pieces = store.put_many(Blob(bytes(size), 1, 1) for size in (INLINE_BYTES, 5000, 6000))
    assert [bool(piece.file) for piece in pieces] == [False, True, True]
    assert os.listdir(tmp_path) == [pieces[1].file]
    assert (pieces[2].offset, pieces[2].length) == (5000, 6000)
    store.put(b"small", 1)
    assert len(os.listdir(tmp_path)) == 1


def test_of_many_small_pieces_only_the_first_stay_inline_in_a_local_folder(tmp_path):
    store = Store("files", str(tmp_path))
    blobs = [Blob(bytes([n]) * 100, 1, 1) for n in range(INLINE_PIECES + 2)]
    pieces = store.put_many(blobs)
    assert [bool(piece.file) for piece in pieces] == [False] * INLINE_PIECES + [True] * 2
    assert [store.get(piece) for piece in pieces] == [blob.data for blob in blobs]


def test_blocks_come_back(store):
    block = Block({"a": np.arange(10_000)})
    for compress in (False, True):
        (piece,) = store.put_many([Blob.of(block, compress)])
        assert store.get_block(piece) == block
        assert (piece.rows, piece.nbytes) == (10_000, 80_000)


def test_a_failed_write_leaves_no_file_under_a_final_name(tmp_path):
    store = Store("files", str(tmp_path))

    def blobs():
        yield Blob(bytes(10_000), 1, 1)
        raise RuntimeError("worker dies")

    with pytest.raises(RuntimeError):
        store.put_many(blobs())
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".tmp")] == []


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_damage_is_reported_with_file_and_offset(tmp_path, damage):
    store = Store("files", str(tmp_path))
    piece = store.put_many(Blob(bytes(10_000), 1, 1) for _ in range(2))[1]
    path = str(tmp_path / piece.file)
    if damage == "flip":
        with open(path, "r+b") as file:
            file.seek(piece.offset + 77)
            file.write(b"x")
    elif damage == "cut":
        os.truncate(path, piece.offset + 100)
    else:
        os.unlink(path)
    with pytest.raises(StoreError) as error:
        store.get(piece)
    assert path in str(error.value) and "offset 10000" in str(error.value)


def test_a_store_without_a_folder_is_refused():
    with pytest.raises(ValueError, match="folder"):
        Store("files")
    with pytest.raises(ValueError, match="'files' or 'inline'"):
        Store("memory")


numbers = st.integers(0, 2**64 - 1)
pieces = st.one_of(
    st.builds(Piece, numbers, numbers, st.binary(max_size=30)),
    st.builds(
        lambda path, *n: Piece(n[0], n[1], b"", path, n[2], n[3], n[4]),
        st.text(min_size=1, max_size=20), numbers, numbers, numbers, numbers,
        st.integers(0, 2**32 - 1),
    ),
)


@given(pieces)
def test_references_survive_their_coder(piece):
    assert PieceCoder().decode(PieceCoder().encode(piece)) == piece


def test_a_run_folder_that_is_not_there_is_reported_and_not_made(tmp_path):
    store = Store("files", str(tmp_path / "elsewhere" / "spill"))
    with pytest.raises(StoreError, match=r"does not see .*/elsewhere\. Give -o a folder that all"):
        store.put(b"x" * 5000, 1)
    assert not (tmp_path / "elsewhere").exists()
