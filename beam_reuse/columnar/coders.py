"""Beam coders of blocks, of references to them and of record batches; importing this module
registers them.

With them nothing in a shuffle is pickled. All are deterministic.
"""

from typing import Any

import pyarrow as pa
from apache_beam import coders

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.store import Piece


class OwnCoder(coders.Coder):
    """A deterministic coder of one type, without settings."""

    kind: Any = None

    def is_deterministic(self) -> bool:
        return True

    def to_type_hint(self) -> Any:
        return self.kind

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class BlockCoder(OwnCoder):
    """A Block as an Arrow stream, uncompressed."""

    kind = Block

    def encode(self, value: Block) -> bytes:
        return value.to_bytes(False)

    def decode(self, encoded: bytes) -> Block:
        return Block.from_bytes(encoded)

    def estimate_size(self, value: Block) -> int:
        """For Beam's metrics: to encode it only to weigh it would cost as much as to ship it."""
        return value.nbytes


class BatchCoder(OwnCoder):
    """An Arrow record batch of any schema, as an Arrow stream."""

    kind = pa.RecordBatch

    def encode(self, value: pa.RecordBatch) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, value.schema) as writer:
            writer.write_batch(value)
        return sink.getvalue().to_pybytes()

    def decode(self, encoded: bytes) -> pa.RecordBatch:
        with pa.ipc.open_stream(encoded) as stream:
            return stream.read_next_batch()

    def estimate_size(self, value: pa.RecordBatch) -> int:
        return value.nbytes


class PieceCoder(OwnCoder):
    """A Piece as fixed numbers, file and bytes."""

    kind = Piece

    def encode(self, value: Piece) -> bytes:
        return value.encode()

    def decode(self, encoded: bytes) -> Piece:
        return Piece.decode(encoded)


coders.registry.register_coder(Block, BlockCoder)
coders.registry.register_coder(Piece, PieceCoder)
coders.registry.register_coder(pa.RecordBatch, BatchCoder)
