"""Partitions of records: their own, that of the key's hash, or in turn."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from odradek.compat.spark.segments.partitioner import murmur2, partitions_of
from odradek.compat.wire_client.produced import murmur2 as murmur2_of_one


def test_hashes_are_those_of_one_key_at_a_time() -> None:
    drawn = random.Random(5)
    keys = [drawn.randbytes(drawn.randrange(40)) for _ in range(2000)] + [b"", b"a" * 1000]
    assert murmur2(pa.array(keys)).tolist() == [murmur2_of_one(key) for key in keys]


@pytest.mark.parametrize("start", [0, 3])
def test_a_slice_is_hashed_as_what_it_holds(start: int) -> None:
    keys = [b"a", b"bb", b"ccccc", b"", b"dd"]
    found = murmur2(pa.array(keys)[start:]).tolist()
    assert found == [murmur2_of_one(key) for key in keys[start:]]


def test_a_record_s_own_partition_comes_first_then_its_key_s_then_turns() -> None:
    keys = pa.array([b"k", b"k", None, None, None])
    given = pa.array([4, None, None, 2, None], pa.int32())
    of_key = (murmur2_of_one(b"k") & 0x7FFFFFFF) % 5
    assert partitions_of(keys, given, 5).tolist() == [4, of_key, 2, 2, 4]
    turns = np.array([0, 0, 7, 8, 9])
    assert partitions_of(keys, None, 5, turns).tolist() == [of_key, of_key, 2, 3, 4]
