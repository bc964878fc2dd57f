"""The keys under which buckets travel, so that every task of an engine gets as many as the others.

Flink and Spark send a key to the task that a hash of its bytes names. For Flink, numbers from 0 on
are as good as random: of 16 buckets one of two tasks had 10, in every shuffle, and the other waited
for it. Which task a key goes to can be known beforehand, so keys are chosen.
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from beam_reuse.kernels.compiled import kernel

# Divided by 1 to 6, 8, 10, 12 and many after: so many tasks get equal shares.
_CLASSES = 120


_LEAST = 1 << 12


def even_key(bucket: int) -> int:
    """The key of a bucket: a small number, another for each, the same in every process.

    Guarantee: if `tasks` divides 120, bucket b goes to task b modulo `tasks`, on Flink (batch, the
    DataSet API) and on Spark. Elsewhere keys are as good as any."""
    return _keys(max(_LEAST, 1 << bucket.bit_length()))[bucket]


def bucket_of(key: int, buckets: int) -> int:
    """The bucket, of so many, that has this key."""
    return _buckets(max(_LEAST, 1 << (buckets - 1).bit_length()))[key]


@cache
def _keys(count: int) -> tuple[int, ...]:
    """The keys of the first `count` buckets; they do not depend on how many there are."""
    return tuple(_even_keys(count, _CLASSES).tolist())


@cache
def _buckets(count: int) -> Mapping[int, int]:
    return {key: bucket for bucket, key in enumerate(_keys(count))}


@kernel
def _even_keys(buckets, classes):  # type: ignore[no-untyped-def]
    """For each bucket the smallest number not yet taken whose hashes, Java's own of the number's
    bytes (Spark) and that hashed again (Flink), are both in its class."""
    keys = np.full(buckets, -1, np.int64)
    following = np.arange(classes)
    left, candidate = buckets, 0
    while left:
        code = _hash_of_bytes(candidate)
        place = code % classes
        if _hashed_again(code) % classes == place and following[place] < buckets:
            keys[following[place]] = candidate
            following[place] += classes
            left -= 1
        candidate += 1
    return keys


@kernel
def _hash_of_bytes(number):  # type: ignore[no-untyped-def]
    """java.util.Arrays.hashCode of a number in Beam's coder for integers, seven bits a byte."""
    code = 1
    while True:
        low = number & 0x7F
        number >>= 7
        byte = low - 128 if number else low  # a byte of Java has a sign
        code = (31 * code + byte) & 0xFFFFFFFF
        if not number:
            return code - (1 << 32) if code >> 31 else code


@kernel
def _hashed_again(code):  # type: ignore[no-untyped-def]
    """org.apache.flink.util.MathUtils.murmurHash."""
    code = (code * 0xCC9E2D51) & 0xFFFFFFFF
    code = ((code << 15) | (code >> 17)) & 0xFFFFFFFF
    code = (code * 0x1B873593) & 0xFFFFFFFF
    code = ((code << 13) | (code >> 19)) & 0xFFFFFFFF
    code = ((code * 5 + 0xE6546B64) & 0xFFFFFFFF) ^ 4
    code ^= code >> 16
    code = (code * 0x85EBCA6B) & 0xFFFFFFFF
    code ^= code >> 13
    code = (code * 0xC2B2AE35) & 0xFFFFFFFF
    code ^= code >> 16
    if code >> 31:
        code = (1 << 32) - code
    return code if code < 1 << 31 else 0
