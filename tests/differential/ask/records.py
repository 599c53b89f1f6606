"""Records: producing, fetching, listing offsets."""

from __future__ import annotations

from typing import Any

from odradek.wire.api.delete_records import DeleteRecordsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.produce import ProduceRequest

from ..engine.steps import Ask
from .batches import batch
from .topics import id_of

ENOUGH = 1 << 20
"""Bytes: more than any sequence writes."""


def produce_all(
    *entries: tuple[str, int, Any], acks: int = -1, timeout_ms: int = 30_000, **more: Any
) -> ProduceRequest:
    """Produce to several partitions: (topic, partition, records)."""
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            ProduceRequest.Topic(
                name=name,
                topic_id=id_of(name),
                partition_data=[ProduceRequest.Topic.Partition(index=index, records=records)],
            )
            for name, index, records in entries
        ],
        **more,
    )


def produce(records: Any, name: str = "~t", partition: int = 0, **more: Any) -> ProduceRequest:
    return produce_all((name, partition, records), **more)


def put(*values: bytes | None, name: str = "~t", partition: int = 0, **options: Any) -> Ask:
    """A step that produces one plain batch."""
    return Ask(produce(batch(*values, **options), name, partition))


def wanted(offset: int = 0, partition: int = 0, **more: Any) -> FetchRequest.Topic.Partition:
    more.setdefault("partition_max_bytes", ENOUGH)
    return FetchRequest.Topic.Partition(partition=partition, fetch_offset=offset, **more)


def fetch_all(
    *topics: tuple[str, list[FetchRequest.Topic.Partition]],
    wait_ms: int = 0,
    min_bytes: int = 0,
    max_bytes: int = ENOUGH,
    **more: Any,
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=[
            FetchRequest.Topic(topic=name, topic_id=id_of(name), partitions=partitions)
            for name, partitions in topics
        ],
        **more,
    )


def fetch(offset: int = 0, name: str = "~t", partition: int = 0, **more: Any) -> FetchRequest:
    of_partition = {
        key: more.pop(key)
        for key in ("current_leader_epoch", "last_fetched_epoch", "partition_max_bytes")
        if key in more
    }
    return fetch_all((name, [wanted(offset, partition, **of_partition)]), **more)


def list_offsets(
    *times: int, name: str = "~t", isolation: int = 0, epoch: int = -1, replica: int = -1
) -> ListOffsetsRequest:
    """List the offsets of these times in partition 0, each in an entry of its own for the topic."""
    part = ListOffsetsRequest.Topic.Partition
    return ListOffsetsRequest(
        replica_id=replica,
        isolation_level=isolation,
        topics=[
            ListOffsetsRequest.Topic(
                name=name,
                partitions=[part(partition_index=0, current_leader_epoch=epoch, timestamp=time)],
            )
            for time in times
        ],
    )


def new_producer() -> Ask:
    """A producer id, to be used as `seen("pid")`."""
    return Ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 1)


def delete_records(*entries: tuple[str, int, int]) -> DeleteRecordsRequest:
    """Delete the records below an offset: (topic, partition, offset) each."""
    made = DeleteRecordsRequest.Topic
    return DeleteRecordsRequest(
        timeout_ms=5000,
        topics=[
            made(name=name, partitions=[made.Partition(partition_index=index, offset=offset)])
            for name, index, offset in entries
        ],
    )
