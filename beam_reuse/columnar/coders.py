"""Beam coders of the columnar types; importing this module registers them.

With them nothing in a shuffle is pickled. All are deterministic.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from apache_beam import coders

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.store import Piece
from beam_reuse.columnar.varbytes import VarBytes


class OwnCoder(coders.Coder):
    """A deterministic coder of one type, without settings."""

    kind: Any = None

    def is_deterministic(self) -> bool:
        return True

    def to_type_hint(self) -> Any:
        return self.kind

    def estimate_size(self, value: Any) -> int:
        """Bytes of a value, for Beam's metrics: those of its arrays, where it has any. To encode
        it only to weigh it would cost as much as to ship it."""
        held = (value, *getattr(value, "__dict__", {}).values())
        return sum(getattr(each, "nbytes", 0) for each in held) or len(self.encode(value))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class BlockCoder(OwnCoder):
    """A Block in its own layout, uncompressed."""

    kind = Block

    def encode(self, value: Block) -> bytes:
        return value.to_bytes(False)

    def decode(self, encoded: bytes) -> Block:
        return Block.from_bytes(encoded)


class PieceCoder(OwnCoder):
    """A Piece as fixed numbers, path and bytes."""

    kind = Piece

    def encode(self, value: Piece) -> bytes:
        return value.encode()

    def decode(self, encoded: bytes) -> Piece:
        return Piece.decode(encoded)


class PiecesCoder(OwnCoder):
    """A list of Pieces, each after its length: a combiner's accumulator."""

    kind = list[Piece]

    def encode(self, value: Iterable[Piece]) -> bytes:
        return join_parts(piece.encode() for piece in value)

    def decode(self, encoded: bytes) -> list[Piece]:
        return [Piece.decode(part) for part in split_parts(encoded)]


class IntsCoder(OwnCoder):
    """A list of integers of any size."""

    kind = list[int]

    def encode(self, value: Iterable[int]) -> bytes:
        return join_parts(
            n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True) for n in value
        )

    def decode(self, encoded: bytes) -> list[int]:
        return [int.from_bytes(part, "little", signed=True) for part in split_parts(encoded)]


def pack_array(names: Sequence[str], array: np.ndarray) -> bytes:
    """An array with a few names, compressed."""
    names_block = Block({"names": VarBytes.from_list([name.encode() for name in names])})
    return join_parts([names_block.to_bytes(), Block({"array": array}).to_bytes(True)])


def unpack_array(encoded: bytes) -> tuple[tuple[str, ...], np.ndarray]:
    """What `pack_array` packed; the array may be written to."""
    names, array = (Block.from_bytes(part) for part in split_parts(encoded))
    return tuple(n.decode() for n in names.strings("names").to_list()), array.array("array").copy()


def join_parts(parts: Iterable[bytes]) -> bytes:
    """Byte strings one after another, each after its length."""
    return b"".join(x for part in parts for x in (len(part).to_bytes(5, "little"), part))


def split_parts(encoded: bytes) -> list[bytes]:
    """What `join_parts` joined."""
    parts, at = [], 0
    while at < len(encoded):
        end = at + 5 + int.from_bytes(encoded[at : at + 5], "little")
        parts.append(encoded[at + 5 : end])
        at = end
    return parts


coders.registry.register_coder(Block, BlockCoder)
coders.registry.register_coder(Piece, PieceCoder)
