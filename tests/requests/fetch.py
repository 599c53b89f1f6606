"""Fetch: partitions that are asked for, requests, and the values in an answer."""

from __future__ import annotations

from typing import Any

from odradek.wire import NO_ID
from odradek.wire.api.fetch import FetchRequest, FetchResponse
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.requests.asker import Asker

Asked = FetchRequest.Topic.Partition
Answered = FetchResponse.Topic.Partition
ENOUGH = 1 << 20


def asked(partition: int = 0, offset: int = 0, max_bytes: int = ENOUGH, **more: Any) -> Asked:
    return Asked(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes, **more)


def fetch_request(
    *partitions: Asked, topic: str = "t", topic_id: bytes = NO_ID, **more: Any
) -> FetchRequest:
    """A request for these partitions of one topic, which does not wait unless told to."""
    topics = [FetchRequest.Topic(topic=topic, topic_id=topic_id, partitions=list(partitions))]
    settings = {"max_wait_ms": 0, "min_bytes": 1, **more}
    return FetchRequest(topics=topics if partitions else [], **settings)


def fetch_all(*topics: tuple[str, list[Asked]], **more: Any) -> FetchRequest:
    request = fetch_request(**more)
    request.topics = [FetchRequest.Topic(topic=name, partitions=parts) for name, parts in topics]
    return request


def only(response: FetchResponse) -> Answered:
    (topic,) = response.responses
    (partition,) = topic.partitions
    return partition


def fetch(
    client: Asker,
    offset: int = 0,
    *,
    partition: int = 0,
    max_bytes: int = ENOUGH,
    version: int = 12,
    **more: Any,
) -> Answered:
    """Fetch from one partition (t-0 unless told otherwise); return what is said of it."""
    return only(client.ask(fetch_request(asked(partition, offset, max_bytes), **more), version))


def values(answer: Answered) -> list[bytes | None]:
    data = bytes(answer.records or b"")
    return [record.value for pos, _ in batches(data) for record in read_records(data, pos)]
