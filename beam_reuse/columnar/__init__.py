"""The columnar shuffle: blocks of rows, brought together by key, on any Beam runner."""

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import CoarseCount
from beam_reuse.columnar.filters import BuildKeyFilter
from beam_reuse.columnar.gather import GatherRows
from beam_reuse.columnar.group import GroupRows, ProcessBuckets
from beam_reuse.columnar.join import JoinRows
from beam_reuse.columnar.rank import RankRows
from beam_reuse.columnar.reduce import CountKeys, DistinctCount, ReduceRows
from beam_reuse.columnar.shuffle import (
    MAIN,
    Fetch,
    MapBlocks,
    PutAway,
    Shuffle,
    buckets_for,
    budget_for,
)
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.columnar.sums import CountRows, SumColumns
from beam_reuse.columnar.top import TopRows
from beam_reuse.columnar.varbytes import VarBytes

__all__ = [
    "MAIN",
    "Block",
    "BuildKeyFilter",
    "CoarseCount",
    "CountKeys",
    "CountRows",
    "DistinctCount",
    "Fetch",
    "GatherRows",
    "GroupRows",
    "JoinRows",
    "MapBlocks",
    "Piece",
    "ProcessBuckets",
    "PutAway",
    "RankRows",
    "ReduceRows",
    "Shuffle",
    "Store",
    "SumColumns",
    "TopRows",
    "VarBytes",
    "buckets_for",
    "budget_for",
]
