"""Values that everybody reads: put away in parts, merged once, remembered by each worker.

A value may be as large as a filter of millions of keys, so what travels is a reference. Parts are
pickled: they are read by the same program that wrote them.
"""

import pickle
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import zstandard

from beam_reuse.columnar.store import Piece, Store
from beam_reuse.rows.nodes import Folding
from beam_reuse.rows.steps import ValueRef

Numbered = tuple[int, Piece]
_REMEMBERED_BYTES = 512 << 20
_SMALL = 4096


def put_value(value: Any, store: Store) -> Piece:
    """A value or a part of one, put away. Its arrays, which may be large, are compressed where they
    are."""
    arrays: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, 5, buffer_callback=arrays.append)
    parts = [memoryview(head), *(array.raw() for array in arrays)]
    size = sum(map(len, parts))
    if size <= _SMALL:
        return store.put(b"0" + pickle.dumps(value, 5), 1, size)
    frames = [zstandard.ZstdCompressor(level=1).compress(part) for part in parts]
    return store.put(b"1" + pickle.dumps(frames, 5), 1, size)


def get_value(piece: Piece, store: Store) -> Any:
    """What `put_value` put away."""
    data = store.get(piece)
    if data[:1] == b"0":
        return pickle.loads(data[1:])
    head, *arrays = map(_unpacked, pickle.loads(memoryview(data)[1:]))
    return pickle.loads(head, buffers=arrays)


def _unpacked(frame: bytes) -> bytearray:
    """What was compressed, in memory that arrays may keep and write to."""
    out = bytearray(zstandard.frame_content_size(frame))
    with zstandard.ZstdDecompressor().stream_reader(frame) as source:
        if source.readinto(out) != len(out):
            raise ValueError("a value that was put away is cut short")
    return out


def merged(number: int, pieces: Iterable[Piece], folding: Folding, store: Store) -> Numbered:
    """The value of all parts, which are merged one by one: two are in memory at a time."""
    held = None
    for piece in pieces:
        other = get_value(piece, store)
        held = other if held is None else folding.merge(held, other)
    return number, put_value(folding.finish(held), store)


class _Remembered:
    """Values that this process has read, as many as fit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: OrderedDict[tuple[str, int], tuple[Any, int]] = OrderedDict()

    def get(self, piece: Piece, store: Store) -> Any:
        if not piece.file:
            return get_value(piece, store)
        key = _place(piece, store)
        with self._lock:
            if key not in self._values:
                self._values[key] = get_value(piece, store), piece.nbytes
                while (len(self._values) > 1
                       and sum(size for _, size in self._values.values()) > _REMEMBERED_BYTES):
                    self._values.popitem(last=False)
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep_only(self, pieces: Iterable[Piece], store: Store) -> None:
        """Let go of all values but these."""
        kept = {_place(piece, store) for piece in pieces}
        with self._lock:
            for key in self._values.keys() - kept:
                del self._values[key]


def _place(piece: Piece, store: Store) -> tuple[str, int]:
    return f"{store.folder}/{piece.file}", piece.offset


_remembered = _Remembered()


class Values:
    """The values that a round reads, by number."""

    def __init__(self, store: Store, known: Iterable[Numbered]) -> None:
        self._store = store
        self._pieces = dict(known)
        self._read: dict[int, Any] = {}

    def let_go_of_others(self, refs: Iterable[ValueRef]) -> None:
        """Forget what this process remembers of all values but these: a run has dozens of them, and
        each may take as much as a filter of millions of keys."""
        numbers = {ref.number for ref in refs}
        _remembered.keep_only((piece for number, piece in self._pieces.items()
                               if number in numbers), self._store)

    def get(self, ref: ValueRef) -> Any:
        if ref.number not in self._read:
            piece = self._pieces.get(ref.number)
            self._read[ref.number] = (ref.folding.finish(None) if piece is None
                                      else _remembered.get(piece, self._store))
        return self._read[ref.number]
