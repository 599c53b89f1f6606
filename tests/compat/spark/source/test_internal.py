"""Internal topics, decoded: types, keys and values of coordinators' records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from odradek import Emulator
from odradek.compat.spark.segments import read_segment
from odradek.compat.spark.segments.listing import list_segments
from odradek.compat.spark.segments.wanted import Wanted
from odradek.compat.spark.source import decoded, register
from odradek.compat.spark.source.internal import NEEDED, SCHEMA, decode
from odradek.wire.stored.groups import GroupMetadataKey, GroupMetadataValue
from odradek.wire.stored.keyed import keyed


def test_commits_have_the_fields_of_kafkas_schema(tmp_path: Path) -> None:
    config = {"offsets.topic.num.partitions": "1"}
    with Emulator(config, data_dir=tmp_path, topics=["t"]) as kafka:
        kafka.group("g").commit({("t", 0): 3})
    rows = [
        row
        for segment in list_segments(tmp_path / "__consumer_offsets-0")
        for batch in decode(read_segment(segment, Wanted(columns=NEEDED)))
        for row in batch.to_pylist()
    ]
    (row,) = rows
    assert (row["topic"], row["offset"], row["type"]) == ("__consumer_offsets", 0, "OffsetCommit")
    assert json.loads(row["key"]) == {"group": "g", "topic": "t", "partition": 0}
    assert json.loads(row["value"])["offset"] == 3
    assert [each.split()[0] for each in SCHEMA.split(", ")] == list(row)


def one(**more: Any) -> dict[str, Any]:
    row = {"topic": "__consumer_offsets", "partition": 0, "offset": 7, "key": None, "value": None}
    types = pa.schema(
        [
            *(("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())),
            *(("key", pa.binary()), ("value", pa.binary())),
        ]
    )
    batch = pa.RecordBatch.from_pylist([{**row, **more}], schema=types)
    (found,) = [row for each in decode(iter([batch])) for row in each.to_pylist()]
    return dict(found)


def test_members_are_nested_and_a_tombstone_has_no_value() -> None:
    Member = GroupMetadataValue.MemberMetadata
    member = Member(
        member_id="m",
        client_id="c",
        client_host="h",
        session_timeout=9,
        subscription=b"\1",
        assignment=b"",
    )
    value = GroupMetadataValue(
        protocol_type="consumer", generation=2, protocol=None, leader="m", members=[member]
    )
    key = keyed(GroupMetadataKey(group="g"), 2)
    found = one(key=key, value=keyed(value, 3))
    assert found["type"] == "GroupMetadata"
    assert json.loads(found["value"])["members"][0]["subscription"] == "AQ=="
    assert one(key=key)["value"] is None


def test_what_is_no_record_of_a_coordinator_is_null() -> None:
    for more in ({"key": b"\0\1?"}, {"key": b"no key"}, {}, {"topic": "t", "key": b"k"}):
        found = one(**more)
        assert (found["type"], found["key"], found["value"], found["offset"]) == (None,) * 3 + (7,)


@pytest.mark.spark
def test_an_internal_topic_is_a_data_frame(spark: Any, tmp_path: Path) -> None:
    config = {"offsets.topic.num.partitions": "1"}
    with Emulator(config, data_dir=tmp_path, topics=["t"]) as kafka:
        kafka.group("g").commit({("t", 0): 3})
    frame = register(spark).read.format("odradek").option("subscribe", "__consumer_offsets")
    found = decoded(frame.load(str(tmp_path))).where("type = 'OffsetCommit'")
    (row,) = found.selectExpr("get_json_object(value, '$.offset') AS at").collect()
    assert row["at"] == "3"
