"""Sections I3, I4, C9, I18: a topic is deleted and created again while it is in use.

The old id is kept under another label (`old`) before the topic is created again.
"""

from __future__ import annotations

from typing import Any

from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.produce import ProduceRequest

from ..ask.batches import batch
from ..ask.groups import commit, offsets_of
from ..ask.records import delete_records, fetch, list_offsets, produce, put
from ..ask.topics import create
from ..engine.steps import Ask, Send, Steps, seen
from . import case
from .sessions import ask as in_session

OLD = seen("old", bytes(16))


def delete(name: str = "~t") -> Ask:
    return Ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=5000), 5)


def remembered(name: str = "~t") -> Ask:
    """Keep the topic's id as `old`."""
    return Ask(
        MetadataRequest(topics=[MetadataRequest.Topic(name=name)], allow_auto_topic_creation=False),
        12,
        keep={"old": "topics.0.topic_id"},
    )


def numbered(sequence: int, producer: Any, value: bytes = b"x") -> Any:
    return batch(value, sequence=sequence, producer_id=producer, producer_epoch=0)


def again() -> Steps:
    """A topic with three records, deleted and created again."""
    return [create(), put(b"a", b"b", b"c"), remembered(), delete(), create()]


@case("I3, C9", each=FetchRequest)
def fetching_from_a_topic_created_again() -> Steps:
    return [*again(), Ask(fetch(0)), Ask(fetch(2)), put(b"new"), Ask(fetch(0)), Ask(fetch(1))]


@case("I3, C9")
def fetching_by_the_old_id() -> Steps:
    old = fetch(0)
    old.topics[0].topic_id = OLD
    return [*again(), put(b"new"), Ask(old, 13), Ask(old, 17)]


@case("I3, B")
def producing_by_the_old_id() -> Steps:
    old: ProduceRequest = produce(batch(b"x"))
    old.topic_data[0].topic_id = OLD
    return [*again(), Ask(old, 13), Ask(fetch(0))]


@case("I3, B14")
def a_producer_outlives_its_topic() -> Steps:
    pid = 4_000_000
    return [
        create(),
        Ask(produce(numbered(0, pid))),
        Ask(produce(numbered(1, pid))),
        delete(),
        Ask(produce(numbered(2, pid)), 12),
        create(),
        Ask(produce(numbered(2, pid, b"two"))),
        Ask(produce(numbered(1, pid, b"one"))),
        Ask(produce(numbered(3, pid, b"three"))),
        Ask(fetch(0)),
    ]


@case("I3, C9", each=FetchRequest)
def a_session_outlives_its_topic() -> Steps:
    if_old = in_session
    return [
        create(),
        put(b"a"),
        if_old(0, ("~t", 0, 0), session=0),
        if_old(1, ("~t", 0, 1)),
        delete(),
        if_old(2),
        create(),
        put(b"new"),
        if_old(3),
        if_old(4),
    ]


@case("I3, I18", each=FetchRequest)
def a_waiting_fetch_whose_topic_is_deleted() -> Steps:
    waiting = fetch(0, wait_ms=3000, min_bytes=1)
    return [
        create(),
        Send(waiting, on="parked"),
        delete(),
        create(),
        put(b"new"),
        Ask(list_offsets(-1), limit_s=4.0),
    ]


@case("I3, F")
def offsets_are_deleted_with_their_topic() -> Steps:
    return [
        create(),
        put(b"a", b"b"),
        Ask(commit(("~t", 0, 2)), 8),
        Ask(offsets_of(topics=[("~t", [0])]), 7),
        delete(),
        create(),
        Ask(offsets_of(topics=[("~t", [0])]), 7),
        Ask(list_offsets(-1, -2)),
    ]


@case("I4")
def partitions_and_records_of_a_topic_created_again() -> Steps:
    records = delete_records(("~t", 0, 2))
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsRequest.Topic(name="~t", count=3, assignments=None)],
        timeout_ms=5000,
        validate_only=False,
    )
    look = DescribeTopicPartitionsRequest(
        topics=[DescribeTopicPartitionsRequest.Topic(name="~t")], response_partition_limit=10
    )
    return [
        create(),
        put(b"a", b"b", b"c"),
        Ask(records, 2),
        Ask(grow, 3),
        Ask(look),
        delete(),
        Ask(look),
        Ask(records, 2),
        Ask(grow, 3),
        create(),
        Ask(look),
        Ask(records, 2),
        Ask(list_offsets(-2)),
        put(b"a"),
        Ask(fetch(0)),
    ]
