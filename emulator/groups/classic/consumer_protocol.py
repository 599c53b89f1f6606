"""The embedded protocol of consumers, where a broker has to understand it: the subscription in a
member's metadata, and the assignment that the member is given.

The topics of a classic group are read from the fields of version 0, with which every version
begins, so metadata whose later fields are damaged still counts (semantics F6). A member of a
consumer group has its whole subscription read (semantics G26).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ....wire import WireError
from ....wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from ....wire.stored.keyed import keyed, read_value
from ...base.java_order import int_order
from ..topics_view import TopicsView

_VERSION_SIZE = 2
_NEWEST = 3


class Subscription(NamedTuple):
    """The topics of a consumer, and the partitions it owns, by topic id."""

    version: int
    names: frozenset[str]
    rack_id: str | None
    owned: Mapping[bytes, Collection[int]]


class Malformed(ValueError):
    """Bytes that are no subscription, or no assignment."""


class UnknownAssignor(Malformed):
    """An assignment with user data, which a custom assignor put there."""


def subscribed_topics(metadata: bytes) -> frozenset[str]:
    """The names of the topics in a member's metadata, of any version. Raises Malformed."""
    try:
        if len(metadata) < _VERSION_SIZE:
            raise WireError("a subscription without its version")
        subscription = ConsumerProtocolSubscription.decode(metadata, 0, _VERSION_SIZE)
    except WireError as error:
        raise Malformed(str(error)) from None
    return frozenset(subscription.topics)


def read_subscription(metadata: bytes, topics: TopicsView) -> Subscription:
    """The subscription in a member's metadata. Raises Malformed."""
    try:
        subscription, version = read_value(ConsumerProtocolSubscription, metadata, newer=True)
    except WireError as error:
        raise Malformed(str(error)) from None
    owned: dict[bytes, list[int]] = {}
    for entry in subscription.owned_partitions:
        topic = topics.catalogue.get(entry.topic)
        if topic is not None:
            owned.setdefault(topic.id, []).extend(entry.partitions)
    return Subscription(version, frozenset(subscription.topics), subscription.rack_id, owned)


def read_assignment(assignment: bytes, topics: TopicsView) -> dict[bytes, frozenset[int]]:
    """The partitions that a leader assigned, by topic id, without topics that do not exist. Raises
    Malformed; UnknownAssignor for user data, which a consumer group cannot keep."""
    if not assignment:
        return {}
    try:
        decoded, _ = read_value(ConsumerProtocolAssignment, assignment, newer=True)
    except WireError as error:
        raise Malformed(str(error)) from None
    if decoded.user_data:
        raise UnknownAssignor
    found: dict[bytes, frozenset[int]] = {}
    for entry in decoded.assigned_partitions:
        topic = topics.catalogue.get(entry.topic)
        if topic is not None:
            found[topic.id] = found.get(topic.id, frozenset()) | frozenset(entry.partitions)
    return found


def write_assignment(
    assigned: Mapping[bytes, Iterable[int]], metadata: bytes, topics: TopicsView
) -> bytes:
    """An assignment, in the version in which the member wrote its metadata."""
    entry = ConsumerProtocolAssignment.AssignedPartition
    entries = []
    for topic_id, partitions in assigned.items():
        topic = topics.catalogue.by_id(topic_id)
        if topic is not None:
            entries.append(entry(topic=topic.name, partitions=int_order(partitions)))
    version = int.from_bytes(metadata[:2], "big", signed=True)
    assignment = ConsumerProtocolAssignment(assigned_partitions=entries, user_data=None)
    return keyed(assignment, max(0, min(version, _NEWEST)))
