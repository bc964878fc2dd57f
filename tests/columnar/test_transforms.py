"""Each transform equals its twin, for any block sizes, bucket counts, budgets and both stores."""

import random
import tempfile

import apache_beam as beam
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from beam_reuse.columnar.block import Block
from beam_reuse.columnar.coarse import CoarseCount, HeavyKeys
from beam_reuse.columnar.filters import BuildKeyFilter, KeyFilter, keep_matching
from beam_reuse.columnar.group import GroupRows, ProcessBuckets
from beam_reuse.columnar.join import JoinRows
from beam_reuse.columnar.matching import match_ranges, pairs_of
from beam_reuse.columnar.rank import DROPPED, RankRows
from beam_reuse.columnar.reduce import CountKeys, DistinctCount, ReduceRows
from beam_reuse.columnar.shuffle import MAIN, Fetch, MapBlocks, PutAway, Shuffle, buckets_for
from beam_reuse.columnar.store import Store
from beam_reuse.columnar.sums import CountRows, SumColumns
from beam_reuse.columnar.top import TopRows
from tests.columnar import twins
from tests.columnar.running import run, source
from tests.columnar.strategies import block_lists

ROWS = {"key": "bytes", "sha1": "V20", "number": "uint8", "value": "int32"}
# A pipeline takes a good part of a second: few examples, and none spent on shrinking.
beam_examples = settings(
    max_examples=10,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory() as path:
        yield path


@st.composite
def shuffles(draw) -> dict:
    """Settings of a shuffle, without its folder; tiny budgets force flushes and sorted runs."""
    return {
        "kind": draw(st.sampled_from(["files", "inline"])),
        "buckets": draw(st.integers(1, 20)),
        "flush_bytes": draw(st.sampled_from([1, 3000, 1 << 20])),
        "bucket_budget": draw(st.sampled_from([1, 2000, 1 << 20])),
        "compress": draw(st.none() | st.booleans()),
    }


def made(options: dict, folder: str) -> Shuffle:
    options = dict(options)
    return Shuffle(Store(options.pop("kind"), folder), **options)


def shuffled(blocks: list[Block], seed: int) -> list[Block]:
    return random.Random(seed).sample(blocks, len(blocks))


@given(block_lists(ROWS), shuffles())
@beam_examples
def test_count_keys(folder, parts, options):
    out = run(lambda p: source(p, parts) | CountKeys(made(options, folder), ["sha1", "key"]))
    counts = {row[:2]: row[2] for row in twins.rows(out)}
    assert counts == twins.counted(parts, ["sha1", "key"])
    assert len(counts) == sum(map(len, out))


@given(block_lists(ROWS), shuffles())
@beam_examples
def test_reduce_rows(folder, parts, options):
    columns = {"number": "sum", "value": "min", "sha1": "max"}
    transform = ReduceRows(made(options, folder), ["key"], columns)
    out = run(lambda p: source(p, parts) | transform)
    assert sorted(twins.rows(out)) == twins.reduced(parts, ["key"], columns)
    for block in out:
        assert twins.rows(block, ["key"]) == sorted(twins.rows(block, ["key"]))


@given(block_lists(ROWS), shuffles())
@beam_examples
def test_distinct_count(folder, parts, options):
    transform = DistinctCount(made(options, folder), ["number"], "key")
    out = run(lambda p: source(p, parts) | transform)
    assert {row[:1]: row[1] for row in twins.rows(out)} == twins.distinct(
        parts, ["number"], "key"
    )
    assert len(set(twins.rows(out, ["number"]))) == sum(map(len, out))


def _first_of_groups(block, starts, sizes, wanted):
    yield block.take(starts).with_columns(size=sizes)
    yield beam.pvalue.TaggedOutput("rest", block.take(np.array([wanted] * len(block), bool)))


@given(block_lists(ROWS), shuffles(), st.none() | st.integers(1, 4))
@beam_examples
def test_group_rows(folder, parts, options, limit):
    def build(pipeline):
        wanted = beam.pvalue.AsSingleton(pipeline | "wanted" >> beam.Create([True]))
        return source(pipeline, parts) | GroupRows(
            made(options, folder), ["key"], _first_of_groups, wanted,
            order=["number", "sha1", "value"], limit=limit, outputs=["rest"],
        )

    out = run(build)
    groups = twins.groups(parts, ["key"], ["number", "sha1", "value"])
    names = ["key", "number", "sha1", "value"]
    assert sorted(twins.rows(out[MAIN], [*names, "size"])) == sorted(
        (*key, *min(members), len(members)) for key, members in groups.items()
    )
    assert sorted(twins.rows(out["rest"], names)) == sorted(
        (*key, *row)
        for key, members in groups.items()
        for row in sorted(members)[: limit or len(members)]
    )


def _bucket_of_number(block, buckets, modulus):
    return (block.array("number") % min(modulus, buckets)).astype(np.int64)


def _told(bucket, slabs):
    yield bucket, twins.rows(slabs, ["number", "key"])


@given(block_lists(ROWS), shuffles(), st.integers(1, 9))
@beam_examples
def test_process_buckets_by_a_given_rule(folder, parts, options, modulus):
    shuffle = made(options, folder)
    transform = ProcessBuckets(
        shuffle, ["number"], _told, order=["key"], bucketer=_bucket_of_number,
        bucketer_side=[modulus], output_type=tuple[int, list],
    )
    out = run(lambda p: source(p, parts) | transform)
    expected: dict = {}
    for row in sorted(twins.rows(parts, ["number", "key"])):
        expected.setdefault(row[0] % min(modulus, shuffle.buckets), []).append(row)
    assert sorted(out) == sorted(expected.items())


def _pairs(left, right):
    if left is None or right is None:
        return None
    rows = pairs_of(*match_ranges(left, right, ["key"]))
    matched = left.take(rows[0]).select(["key", "number"])
    return matched.with_columns(value=right.array("value")[rows[1]])


@given(block_lists(ROWS), block_lists(ROWS), shuffles())
@beam_examples
def test_join_rows(folder, left, right, options):
    def build(pipeline):
        sides = {"left": source(pipeline, left, "l"), "right": source(pipeline, right, "r")}
        return sides | JoinRows(made(options, folder), ["key"], _pairs)

    assert sorted(twins.rows(run(build))) == twins.joined(left, right, "key", "number", "value")


@given(block_lists(ROWS), block_lists(ROWS))
@beam_examples
def test_a_key_filter_loses_no_match(parts, wanted):
    def build(pipeline):
        keys = source(pipeline, wanted, "wanted") | BuildKeyFilter(
            Shuffle(Store("inline"), buckets=1), ["sha1", "key"])
        return source(pipeline, parts) | MapBlocks(keep_matching, beam.pvalue.AsSingleton(keys))

    kept = sorted(twins.rows(run(build)))
    keys = set(twins.rows(wanted, ["sha1", "key"]))
    assert set(kept) <= set(twins.rows(parts))
    assert [row for row in kept if (row[1], row[0]) in keys] == sorted(
        row for row in twins.rows(parts) if (row[1], row[0]) in keys
    )


def test_a_key_filter_passes_few_others():
    filled = KeyFilter.sized(["k"], 100_000)
    filled.add(Block({"k": np.arange(100_000)}))
    assert filled.may_hold(Block({"k": np.arange(100_000)})).all()
    assert filled.may_hold(Block({"k": np.arange(100_000, 300_000)})).mean() < 0.008


@given(block_lists(ROWS), st.integers(1, 9), st.integers(3, 12), st.booleans())
@beam_examples
def test_a_coarse_count_loses_no_heavy_key(parts, threshold, bits, weighted):
    count = CoarseCount(Shuffle(Store("inline")), ["key"], bits, 200,
                        "number" if weighted else None)

    def build(pipeline):
        blocks = source(pipeline, parts)
        heavy = blocks | count | beam.Map(_heavy, threshold).with_output_types(HeavyKeys)
        return blocks | MapBlocks(keep_matching, beam.pvalue.AsSingleton(heavy))

    kept = twins.rows(run(build))
    weights: dict = {}
    for row in twins.rows(parts):
        weights[row[0]] = weights.get(row[0], 0) + (row[2] if weighted else 1)
    heavy = {key for key, weight in weights.items() if weight >= threshold}
    assert sorted(row for row in kept if row[0] in heavy) == sorted(
        row for row in twins.rows(parts) if row[0] in heavy
    )
    if bits == 12 and len(weights) < 2:
        assert {row[0] for row in kept} == heavy


def _heavy(counters, threshold):
    return counters.heavy(threshold)


@given(block_lists({"a": "uint64", "b": "int64", "c": "bool"}))
@beam_examples
def test_sums_are_exact(parts):
    out = run(
        lambda p: {
            "sums": source(p, parts, "x") | SumColumns(["a", "b", "c"]),
            "rows": source(p, parts, "y") | CountRows(),
        }
    )
    rows = twins.rows(parts)
    assert out["sums"] == [{n: sum(row[i] for row in rows) for i, n in enumerate("abc")}]
    assert out["rows"] == [len(rows)]


def test_sums_of_nothing_are_zero():
    out = run(
        lambda p: {
            "sums": source(p, [], "x") | SumColumns(["a"]),
            "rows": source(p, [], "y") | CountRows(),
        }
    )
    assert out == {"sums": [{"a": 0}], "rows": [0]}


def _first_and_rest(block, starts):
    yield block.take(starts)
    rest = np.ones(len(block), bool)
    rest[starts] = False
    yield beam.pvalue.TaggedOutput(DROPPED, block.take(rest))


@given(block_lists(ROWS), shuffles(), st.sampled_from(["key", "number", "sha1"]), st.booleans(),
       st.integers())
@beam_examples
def test_rank_rows(folder, parts, options, key, drop, seed):
    order = [name for name in ROWS if name != key]
    transform = RankRows(
        made(options, folder), key, _first_and_rest if drop else None, order=order
    )
    out = run(lambda p: source(p, shuffled(parts, seed)) | transform)
    rows = sorted(twins.rows(parts, [key, *order]))
    firsts = {row[0]: row for row in reversed(rows)}
    survivors = sorted(firsts.values()) if drop else rows
    ranked = sorted(twins.rows(out["ranked"], ["rank", key, *order]))
    assert ranked == [(i, *row) for i, row in enumerate(survivors)]
    assert out["total"] == [len(survivors)]
    assert len(twins.rows(out["dropped"])) == len(rows) - len(survivors)


@given(block_lists({"key": "bytes", "value": "int64"}), st.integers(1, 20))
@beam_examples
def test_top_rows(parts, n):
    out = run(lambda p: source(p, parts) | TopRows(n, "value", ["key"]))
    best = sorted((-value, key) for key, value in twins.rows(parts))[:n]
    assert twins.rows(out) == [(key, -value) for value, key in best]
    assert len(out) <= 1


@given(block_lists(ROWS), shuffles())
@beam_examples
def test_blocks_put_away_come_back(folder, parts, options):
    shuffle = made(options, folder)
    out = run(lambda p: source(p, parts) | PutAway(shuffle) | Fetch(shuffle))
    assert sorted(twins.rows(out)) == sorted(twins.rows(parts))


def test_a_damaged_spill_file_stops_the_run_and_is_named(tmp_path):
    shuffle = Shuffle(Store("files", str(tmp_path)), 2)
    parts = [Block({"a": np.arange(10_000)})]

    def damaged(piece):
        with open(piece.path, "r+b") as file:
            file.seek(piece.offset + piece.length // 2)
            file.write(b"damage")
        return piece

    with pytest.raises(Exception, match=rf"{tmp_path}/\w+.spill is damaged at offset \d+"):
        run(lambda p: source(p, parts) | PutAway(shuffle) | beam.Map(damaged) | Fetch(shuffle))


def test_buckets_follow_from_the_size():
    assert buckets_for(0) == 16
    assert buckets_for(4 << 30, 128 << 20) == 64
    assert buckets_for(1 << 60) == 1 << 16


@pytest.mark.parametrize("wrong", [{"buckets": 0}, {"flush_bytes": 0}, {"bucket_budget": 0}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError):
        Shuffle(Store("inline"), **wrong)
    with pytest.raises(ValueError, match="limit"):
        GroupRows(Shuffle(Store("inline")), ["k"], _first_of_groups, limit=0)
