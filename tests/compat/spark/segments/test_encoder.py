"""Batches that are encoded by columns: byte for byte those that are built record by record."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.compat.spark.segments import encode
from odradek.compat.spark.segments.schema import HEADERS
from odradek.wire.batch import batches
from odradek.wire.compression import Codec
from odradek.wire.records import NewRecord, build_batch, read_records

T = 1_700_000_000_000

contents = st.none() | st.binary(max_size=80) | st.integers(60, 9000).map(bytes)
headers = st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3)
times = st.integers(-1, T) | st.just(T)
records = st.lists(st.builds(NewRecord, times, contents, contents, headers), min_size=1)


def table(some: list[NewRecord], **more: Any) -> pa.RecordBatch:
    columns = {
        "key": pa.array([record.key for record in some], pa.binary()),
        "value": pa.array([record.value for record in some], pa.binary()),
        "timestamp": pa.array([record.timestamp for record in some], pa.timestamp("ms", "UTC")),
        "headers": pa.array(
            [[{"key": k, "value": v} for k, v in record.headers] for record in some], HEADERS
        ),
    }
    return pa.record_batch({**columns, **more})


@given(records, st.integers(1, 7), st.integers(0, 1 << 40))
def test_the_bytes_are_those_of_build_batch(
    some: list[NewRecord], records_in_batch: int, base: int
) -> None:
    found = encode(table(some), base_offset=base, records_in_batch=records_in_batch)
    expected = [
        bytes(build_batch(some[at : at + records_in_batch], base_offset=base + at, leader_epoch=0))
        for at in range(0, len(some), records_in_batch)
    ]
    assert found == expected


@pytest.mark.parametrize("codec", Codec)
def test_every_codec(codec: Codec) -> None:
    some = [NewRecord(T + n, b"%d" % n, bytes(n)) for n in range(300)]
    (batch,) = encode(table(some), codec=codec.name.lower())
    assert batch == bytes(build_batch(some, codec=codec, leader_epoch=0))


def test_offsets_are_kept_if_asked() -> None:
    some = [NewRecord(T, b"k", b"v")] * 4
    given_offsets = [5, 9, 10, 10 + (1 << 31)]
    found = encode(table(some, offset=pa.array(given_offsets)), base_offset=5, keep_offsets=True)
    assert [record.offset for batch in found for record in read_records(batch)] == given_offsets
    assert len(found) == 2, "a batch counts offsets in 31 bits"
    with pytest.raises(ValueError, match="do not ascend from 0"):
        encode(table(some, offset=pa.array([1, 3, 2, 4])), keep_offsets=True)
    with pytest.raises(ValueError, match="do not ascend from 6"):
        encode(table(some, offset=pa.array(given_offsets)), base_offset=6, keep_offsets=True)
    with pytest.raises(ValueError, match="no column 'offset'"):
        encode(table(some), keep_offsets=True)


def test_a_batch_holds_about_so_many_bytes() -> None:
    some = [NewRecord(T, None, bytes(1000))] * 10 + [NewRecord(T, None, bytes(5000))]
    found = encode(table(some), batch_bytes=3500)
    assert [len(read_records(batch)) for batch in found] == [3, 3, 3, 1, 1]


def test_times_may_have_any_unit_or_be_missing() -> None:
    for unit, factor in (("s", 1e-3), ("ms", 1), ("us", 1000), ("ns", 1_000_000)):
        column = pa.array([int(T * factor), None, int(-1000 * factor)], pa.timestamp(unit))
        (batch,) = encode(pa.record_batch({"value": [b"v"] * 3, "timestamp": column}), now_ms=7)
        assert [record.timestamp for record in read_records(batch)] == [T, 7, -1000]
    (batch,) = encode(pa.record_batch({"value": ["text"]}), now_ms=8)
    assert read_records(batch)[0][1:4] == (8, None, b"text")
    column = pa.array([-1], pa.timestamp("us"))
    (batch,) = encode(pa.record_batch({"value": [b""], "timestamp": column}))
    assert read_records(batch)[0].timestamp == -1, "rounded down"


def test_columns_that_cannot_be_used_are_named() -> None:
    with pytest.raises(ValueError, match="no column 'value', but key"):
        encode(pa.record_batch({"key": [b""]}))
    with pytest.raises(ValueError, match="'value' is int64"):
        encode(pa.record_batch({"value": [1]}))
    with pytest.raises(ValueError, match="'timestamp' is string"):
        encode(pa.record_batch({"value": [b""], "timestamp": ["now"]}))
    with pytest.raises(ValueError, match="no codec 'brotli'"):
        encode(pa.record_batch({"value": [b""]}), codec="brotli")
    nameless = pa.array([[{"key": None, "value": b""}]], HEADERS)
    with pytest.raises(ValueError, match="header has no key"):
        encode(pa.record_batch({"value": [b""], "headers": nameless}))


def test_slices_and_tables_are_taken_as_they_are() -> None:
    some = [NewRecord(T + n, b"%d" % n, b"v", [("h", b"%d" % n)]) for n in range(9)]
    whole = table(some)
    assert encode(whole.slice(2, 5)) == encode(table(some[2:7]))
    parts = pa.Table.from_batches([whole.slice(0, 4), whole.slice(4)])
    found = [record for batch in encode(parts) for record in read_records(batch)]
    assert [record.offset for record in found] == [*range(9)]
    assert [record.headers for record in found] == [(("h", b"%d" % n),) for n in range(9)]
    assert encode(whole.slice(0, 0)) == []
    assert all(header.size == len(batch) for batch in encode(parts) for _, header in batches(batch))
