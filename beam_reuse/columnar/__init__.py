"""Blocks of rows with named columns: sorted, grouped, joined, counted, stored."""

from beam_reuse.columnar.block import Block, Lists, Maybe
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.columnar.varbytes import VarBytes

__all__ = ["Block", "Lists", "Maybe", "Piece", "Shuffle", "Store", "VarBytes"]
