"""What a consumer says of itself inside the classic protocol, where a broker has to understand it:
its subscription, and the assignment it is told (semantics G26)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...wire import WireError
from ...wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from ...wire.stored.keyed import keyed, read_value
from ..base.java_order import int_order
from .consumer.members import Assignment
from .consumer.reconcile import Owned
from .topics_view import TopicsView

_NEWEST = 3


class Subscription(NamedTuple):
    """What a consumer wants, and what it has, by topics' ids."""

    version: int
    names: frozenset[str]
    rack_id: str | None
    owned: Owned


class Malformed(ValueError):
    """Bytes that are no subscription, or no assignment."""


def read_subscription(metadata: bytes, topics: TopicsView) -> Subscription:
    """The subscription in a member's metadata. Raises Malformed."""
    try:
        told, version = read_value(ConsumerProtocolSubscription, metadata, newer=True)
    except WireError as error:
        raise Malformed(str(error)) from None
    owned: dict[bytes, list[int]] = {}
    for entry in told.owned_partitions:
        topic = topics.catalogue.get(entry.topic)
        if topic is not None:
            owned.setdefault(topic.id, []).extend(entry.partitions)
    return Subscription(version, frozenset(told.topics), told.rack_id, owned)


def read_assignment(assignment: bytes, topics: TopicsView) -> Assignment:
    """The partitions in what a leader assigned; topics that do not exist are left out. Raises
    Malformed, also for an assignor's own data, which no broker could keep."""
    if not assignment:
        return {}
    try:
        told, _ = read_value(ConsumerProtocolAssignment, assignment, newer=True)
    except WireError as error:
        raise Malformed(str(error)) from None
    if told.user_data:
        raise UnknownAssignor
    found: dict[bytes, frozenset[int]] = {}
    for entry in told.assigned_partitions:
        topic = topics.catalogue.get(entry.topic)
        if topic is not None:
            found[topic.id] = found.get(topic.id, frozenset()) | frozenset(entry.partitions)
    return found


class UnknownAssignor(Malformed):
    """An assignment with data of its assignor's own."""


def write_assignment(
    held: Mapping[bytes, Iterable[int]], metadata: bytes, topics: TopicsView
) -> bytes:
    """An assignment in the version in which the member wrote its metadata."""
    entry = ConsumerProtocolAssignment.AssignedPartition
    entries = []
    for topic_id, partitions in held.items():
        topic = topics.catalogue.by_id(topic_id)
        if topic is not None:
            entries.append(entry(topic=topic.name, partitions=int_order(partitions)))
    version = int.from_bytes(metadata[:2], "big", signed=True)
    assignment = ConsumerProtocolAssignment(assigned_partitions=entries, user_data=None)
    return keyed(assignment, max(0, min(version, _NEWEST)))
