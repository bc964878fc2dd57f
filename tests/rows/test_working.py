"""One bundle of a round, without Beam: what it holds, what it emits, how it fails."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from beam_reuse.columnar.block import Block, VarBytes
from beam_reuse.columnar.bucket_keys import even_key
from beam_reuse.columnar.shuffle import Shuffle
from beam_reuse.columnar.store import Piece, Store
from beam_reuse.rows import Plan, Rows
from beam_reuse.rows.building import build
from beam_reuse.rows.values import Values
from beam_reuse.rows.working import Work, named
from tests.rows.running import run

STEP = 10_000  # bytes of a block, about


def same(block: Block, *_: Any) -> Block:
    return block


def block_of(number: int, rows: int = STEP // 16) -> Block:
    return Block({"key": np.arange(number, number + rows), "value": np.arange(rows)})


def first_round(shuffle: Shuffle, ends: Mapping[str, Rows], put: tuple[str, ...] = ()) -> Work:
    """The work of a bundle of the round that reads what is given."""
    plan = next(iter(ends.values())).plan
    built = build(beam.Pipeline(runner=FnApiRunner()), plan, ends, put=put)
    return Work(built.rounds[0], shuffle)


def held_by(work: Work) -> int:
    return sum(buffer.nbytes for _, buffer in work._waiting.values())


def emitted_by(work: Work, shuffle: Shuffle, blocks: Iterator[Block]) -> Iterator[Any]:
    key = even_key(0)
    for block in blocks:
        yield from work.read(key, [Piece.holding(block)], Values(shuffle.store, ()))
    yield from work.finish()


@pytest.mark.parametrize("reducing", [None, {"value": "sum"}])
@pytest.mark.parametrize("groups", [1, 3, 30])
def test_what_waits_is_bounded_however_many_groups_it_is_for(tmp_path, groups, reducing):
    shuffle = Shuffle(Store("files", str(tmp_path)), buckets=4, flush_bytes=20 * STEP)
    rows = Plan(shuffle).rows([block_of(0)])
    ends = {f"out {n}": rows.group("key", same, n, reducing=reducing) for n in range(groups)}
    parked = rows.map(same).map(same, rows.total("value"))
    work = first_round(shuffle, {**ends, "parked": parked, "put": rows}, put=("put",))
    most, pieces = 0, []
    for tag, element in emitted_by(work, shuffle, map(block_of, range(0, 200 * STEP, STEP))):
        most = max(most, held_by(work))
        if tag in ("rows", "out-put"):
            pieces.append(element if tag == "out-put" else element[1])
    assert most <= 2 * shuffle.flush_bytes + 2 * STEP
    assert sum(piece.rows for piece in pieces) == (groups + 2) * 200 * len(block_of(0))
    assert held_by(work) == 0


def hundred(block: Block) -> Iterator[Block]:
    return (block for _ in range(100))


def test_rows_that_leave_are_handed_on_at_once():
    """A kernel that makes much of a block holds no more of it than is under way."""
    shuffle = Shuffle(Store("inline"), flush_bytes=1)
    rows = Plan(shuffle).rows([block_of(0)])
    work = first_round(shuffle, {"out": rows.map(hundred).map(same), "group": rows.map(
        hundred).group("key", same)})
    stream = emitted_by(work, shuffle, iter([block_of(0)]))
    tag, block = next(stream)
    assert (tag, len(block)) == ("out-out", len(block_of(0)))
    assert held_by(work) == 0
    assert sum(tag == "out-out" for tag, _ in stream) == 99


def test_a_narrow_view_does_not_keep_the_rows_it_came_from(tmp_path):
    shuffle = Shuffle(Store("files", str(tmp_path)))
    rows = Plan(shuffle).rows([block_of(0)])
    work = first_round(shuffle, {"group": rows.map(_narrow).group("key", same)})
    wide = Block({"key": np.arange(100), "text": VarBytes.from_list([bytes(1000)] * 100)})
    key = even_key(0)
    list(work.read(key, [Piece.holding(wide)], Values(shuffle.store, ())))
    ((_, buffer),) = work._waiting.values()
    assert buffer.blocks[0].array("key").base is None


def _narrow(block: Block) -> Block:
    return block.select(["key"])


class OddError(Exception):
    pass


def refuse(block: Block, *_: Any) -> Iterator[Block]:
    yield block
    raise OddError(f"no {len(block)} rows, please")


class RefuseValues:
    def start(self) -> int:
        return 0

    def add(self, held: int, block: Block) -> int:
        raise OddError(f"no {len(block)} rows, please")


PLANS = {
    "refuse": lambda rows: rows.map(refuse),
    "odd step": lambda rows: rows.map(refuse, name="odd step").map(same),
    "RefuseValues": lambda rows: rows.map(same, rows.fold(RefuseValues())),
}


@pytest.mark.parametrize("name", PLANS)
def test_an_error_keeps_its_type_and_message_and_says_where_it_was_raised(name):
    shuffle = Shuffle(Store("inline"))
    rows = Plan(shuffle).rows([block_of(0, 7)])
    work = first_round(shuffle, {"out": PLANS[name](rows.map(same))})
    with pytest.raises(OddError) as caught:
        list(emitted_by(work, shuffle, iter([block_of(0, 7)])))
    assert str(caught.value) == "no 7 rows, please"
    assert caught.value.__notes__ == [f"in {name!r}"]


@pytest.mark.parametrize("name, write", [
    *PLANS.items(), ("refuse", lambda rows: rows.group("key", refuse)),
    ("refuse", lambda rows: rows.join(rows, "key", refuse)),
])
def test_an_error_comes_out_of_beam_with_its_message_and_place(name, write):
    with pytest.raises(Exception, match=r"no \d rows, please") as caught:
        run(Shuffle(Store("inline"), 1), lambda plan: {
            "out": write(plan.given([block_of(0, 7)]))})
    assert f"in {name!r}" in str(caught.value)


def damage(block: Block, folder: str, _: Any) -> Block:
    for entry in os.scandir(folder):
        if entry.name.endswith(".spill"):
            with open(entry.path, "r+b") as file:
                file.seek(os.path.getsize(entry.path) // 2)
                file.write(b"damage")
    return block


@pytest.mark.parametrize(("error", "kind", "told"), [
    (MemoryError(), MemoryError, "MemoryError in 'f'"),
    (FileNotFoundError(2, "No such file", "x"), RuntimeError,
     "FileNotFoundError: [Errno 2] No such file: 'x' in 'f'"),
    (KeyError(5), RuntimeError, "KeyError: 5 in 'f'")])
def test_an_error_without_a_text_gets_one(error, kind, told):
    """Beam makes errors anew from their texts."""
    with pytest.raises(kind) as caught, named("f"):
        raise error
    assert caught.value.args == (told,) and caught.value.__cause__ is error


def test_a_damaged_spill_file_stops_the_run_and_is_named(tmp_path):
    def write(plan):
        rows = plan.given([Block({"a": np.arange(10_000)})]).map(same)
        total = rows.total("a")
        damaged = plan.given([Block({"a": np.arange(1)})], "known", "one").map(
            damage, str(tmp_path), total).total("a")
        return {"out": rows.map(same, damaged)}

    with pytest.raises(Exception, match=rf"{tmp_path}/\w+.spill is damaged at offset \d+"):
        run(Shuffle(Store("files", str(tmp_path)), 2), write)
