"""Keys of buckets, against what Flink and Spark do with a key, written down from their sources."""

from collections import Counter

import pytest
from apache_beam.coders import VarIntCoder

from beam_reuse.columnar.bucket_keys import bucket_of, even_key


def java_hash(encoded: bytes) -> int:
    """java.util.Arrays.hashCode(byte[])."""
    code = 1
    for byte in encoded:
        code = as_int(31 * code + (byte - 256 if byte > 127 else byte))
    return code


def as_int(number: int) -> int:
    number &= 0xFFFFFFFF
    return number - 2**32 if number >= 2**31 else number


def rotated(number: int, bits: int) -> int:
    number &= 0xFFFFFFFF
    return as_int(number << bits | number >> 32 - bits)


def flink_hash(code: int) -> int:
    """org.apache.flink.util.MathUtils.murmurHash(int)."""
    code = rotated(as_int(code * as_int(0xCC9E2D51)), 15)
    code = rotated(as_int(code * 0x1B873593), 13)
    code = as_int(as_int(code * 5 + as_int(0xE6546B64)) ^ 4)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        code = as_int((code ^ (code & 0xFFFFFFFF) >> shift) * as_int(factor))
    return abs(code) if code != -(2**31) else 0


def flink_task(key: int, tasks: int) -> int:
    """OutputEmitter.hashPartitionDefault of the key's bytes."""
    return flink_hash(java_hash(VarIntCoder().encode(key))) % tasks


def spark_task(key: int, tasks: int) -> int:
    """HashPartitioner.getPartition of the key's bytes."""
    return java_hash(VarIntCoder().encode(key)) % tasks


def test_flinks_hash_is_the_one_seen_on_a_cluster() -> None:
    """Of keys 0 to 15, two tasks of a cluster of Flink 1.19.3 had 6 and 10."""
    assert Counter(flink_task(key, 2) for key in range(16)) == {0: 6, 1: 10}


@pytest.mark.parametrize("tasks", [1, 2, 3, 4, 5, 6, 8, 10, 12, 24])
@pytest.mark.parametrize("buckets", [1, 16, 37, 600])
def test_every_task_has_its_share(buckets: int, tasks: int) -> None:
    keys = [even_key(bucket) for bucket in range(buckets)]
    for task_of in (flink_task, spark_task):
        assert [task_of(key, tasks) for key in keys] == [b % tasks for b in range(buckets)]


@pytest.mark.parametrize("buckets", [1, 1000, 5000])
def test_a_key_names_its_bucket(buckets: int) -> None:
    assert [bucket_of(even_key(b), buckets) for b in range(buckets)] == list(range(buckets))
