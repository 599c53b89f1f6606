"""Offsets of a log: ListOffsets, OffsetForLeaderEpoch, DeleteRecords."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from odradek.wire.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)

from tests.requests.asker import Asker

EARLIEST, LATEST = -2, -1


def list_offsets_request(
    *times: int, topic: str = "t", partition: int = 0, isolation: int = 0, **more: Any
) -> ListOffsetsRequest:
    """A request for these times, each in an entry of its own."""
    Topic = ListOffsetsRequest.Topic
    topics = [
        Topic(
            name=topic,
            partitions=[Topic.Partition(partition_index=partition, timestamp=time, **more)],
        )
        for time in times
    ]
    return ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=topics)


def look_up(
    client: Asker, time: int, *, version: int = 7, **more: Any
) -> ListOffsetsResponse.Topic.Partition:
    """What is answered for a time in one partition (t-0 unless told otherwise)."""
    answer = client.ask(list_offsets_request(time, **more), version)
    found: ListOffsetsResponse.Topic.Partition = answer.topics[0].partitions[0]
    return found


def epoch_end_request(
    *asked: tuple[str, int, int, int],
) -> OffsetForLeaderEpochRequest:
    """A request for ends of epochs: topic, partition, current leader epoch and epoch each."""
    Topic = OffsetForLeaderEpochRequest.Topic
    return OffsetForLeaderEpochRequest(
        topics=[
            Topic(
                topic=name,
                partitions=[
                    Topic.Partition(partition=index, current_leader_epoch=now, leader_epoch=epoch)
                ],
            )
            for name, index, now, epoch in asked
        ]
    )


def epoch_end(
    client: Asker, epoch: int, *, topic: str = "t", partition: int = 0, current: int = -1
) -> OffsetForLeaderEpochResponse.Topic.Partition:
    answer = client.ask(epoch_end_request((topic, partition, current, epoch)), 4)
    found: OffsetForLeaderEpochResponse.Topic.Partition = answer.topics[0].partitions[0]
    return found


def delete_records_request(
    *topics: tuple[str, list[tuple[int, int]]],
) -> DeleteRecordsRequest:
    """A request to delete records below offsets: topic, and its partitions with an offset each."""
    Topic = DeleteRecordsRequest.Topic
    return DeleteRecordsRequest(
        topics=[
            Topic(
                name=name,
                partitions=[Topic.Partition(partition_index=i, offset=at) for i, at in offsets],
            )
            for name, offsets in topics
        ],
        timeout_ms=1000,
    )


def delete_before(client: Asker, offset: int, topic: str = "t", partition: int = 0) -> int:
    """Delete the records of one partition below an offset; return where it begins now."""
    answer = client.ask(delete_records_request((topic, [(partition, offset)])), 2)
    (found,) = answer.topics[0].partitions
    assert found.error_code == 0
    return int(found.low_watermark)
