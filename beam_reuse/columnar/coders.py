"""Beam coders of the columnar types; importing this module registers them.

With them nothing in a shuffle is pickled. All are deterministic.
"""

from collections.abc import Iterable
from typing import Any

from apache_beam import coders

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.store import Piece


class BlockCoder(coders.Coder):
    """A Block in its own layout, uncompressed."""

    def encode(self, value: Block) -> bytes:
        return value.to_bytes(False)

    def decode(self, encoded: bytes) -> Block:
        return Block.from_bytes(encoded)

    def is_deterministic(self) -> bool:
        return True

    def to_type_hint(self) -> type:
        return Block

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class PieceCoder(coders.Coder):
    """A Piece as fixed numbers, path and bytes."""

    def encode(self, value: Piece) -> bytes:
        return value.encode()

    def decode(self, encoded: bytes) -> Piece:
        return Piece.decode(encoded)

    def is_deterministic(self) -> bool:
        return True

    def to_type_hint(self) -> type:
        return Piece

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class PiecesCoder(coders.Coder):
    """A tuple of Pieces, one after another with their lengths: a combiner's accumulator."""

    def encode(self, value: Iterable[Piece]) -> bytes:
        out = bytearray()
        for piece in value:
            encoded = piece.encode()
            out += len(encoded).to_bytes(4, "little") + encoded
        return bytes(out)

    def decode(self, encoded: bytes) -> tuple[Piece, ...]:
        pieces, at = [], 0
        while at < len(encoded):
            end = at + 4 + int.from_bytes(encoded[at : at + 4], "little")
            pieces.append(Piece.decode(encoded[at + 4 : end]))
            at = end
        return tuple(pieces)

    def is_deterministic(self) -> bool:
        return True

    def to_type_hint(self) -> Any:
        return tuple[Piece, ...]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


coders.registry.register_coder(Block, BlockCoder)
coders.registry.register_coder(Piece, PieceCoder)
