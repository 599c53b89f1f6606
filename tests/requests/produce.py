"""Produce: batches, requests, and what is answered for a single partition."""

from __future__ import annotations

from collections.abc import Sequence
from time import time as seconds
from typing import Any

from odradek.wire import NO_ID, Error
from odradek.wire.api.produce import ProduceRequest, ProduceResponse
from odradek.wire.primitives import Buffer
from odradek.wire.records import build_batch

from tests.requests.asker import Asker
from tests.support.clock import NOW

Result = ProduceResponse.Topic.Partition
Topic = ProduceRequest.Topic


def batch(
    *values: bytes | None, key: bytes | None = b"k", time: int = NOW, **more: Any
) -> bytearray:
    return build_batch([(time, key, value, ()) for value in values], **more)


def produce_all(
    *entries: tuple[str, int, Buffer | None], acks: int = -1, **more: Any
) -> ProduceRequest:
    """A request for several partitions: topic, partition and records, each topic once or more."""
    topics = [
        Topic(name=name, partition_data=[Topic.Partition(index=index, records=records)])
        for name, index, records in entries
    ]
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=topics, **more)


def produce_request(
    records: Buffer | None,
    topic: str = "t",
    partition: int = 0,
    acks: int = -1,
    topic_id: bytes = NO_ID,
    **more: Any,
) -> ProduceRequest:
    request = produce_all((topic, partition, records), acks=acks, **more)
    request.topic_data[0].topic_id = topic_id
    return request


def produce_numbered(
    client: Asker, producer_id: int, sequence: int, values: Sequence[bytes], topic: str = "t"
) -> tuple[Error, int]:
    """Write as an idempotent producer to partition 0, now; return error and offset."""
    now = int(seconds() * 1000)
    numbered = {"producer_id": producer_id, "producer_epoch": 0, "base_sequence": sequence}
    data = batch(*values, key=None, time=now, **numbered)
    result = produce(client, data, topic=topic)
    return Error(result.error_code), result.base_offset


def produce(client: Asker, records: Buffer | None, *, version: int = 9, **more: Any) -> Result:
    """Write to one partition (t-0 unless told otherwise); return what is said of it."""
    answer = client.ask(produce_request(records, **more), version)
    (topic,) = answer.responses
    (result,) = topic.partition_responses
    found: Result = result
    return found
