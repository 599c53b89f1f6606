"""Consumer groups (KIP-848): heartbeats, descriptions, offsets, and classic members among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from odradek.wire.api.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.delete_groups import DeleteGroupsRequest
from odradek.wire.api.offset_delete import OffsetDeleteRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from odradek.wire.stored.keyed import keyed

from ..engine.steps import Ask, Sleep, Steps, Symbol, World
from .groups import FAR_MS, Protocols
from .topics import create, id_of

SETTLED_S, RESOLVED_S = 0.08, 0.4
"""How long a real coordinator takes at most to learn of a topic, and to resolve an expression."""

Held = Iterable[tuple[str, list[int]]]


def heartbeat(
    member: Any = "a",
    epoch: int = 0,
    *,
    owned: Held | None = None,
    group: str = "~g",
    **more: Any,
) -> ConsumerGroupHeartbeatRequest:
    """A heartbeat with only the fields that are given; the others are null."""
    partitions = None
    if owned is not None:
        part = ConsumerGroupHeartbeatRequest.TopicPartitions
        partitions = [part(topic_id=id_of(name), partitions=those) for name, those in owned]
    fields = {"instance": "instance_id", "names": "subscribed_topic_names", "rack": "rack_id"}
    fields |= {"regex": "subscribed_topic_regex", "assignor": "server_assignor"}
    fields |= {"timeout_ms": "rebalance_timeout_ms"}
    given = {fields.get(name, name): value for name, value in more.items()}
    return ConsumerGroupHeartbeatRequest(
        group_id=group, member_id=member, member_epoch=epoch, topic_partitions=partitions, **given
    )


def enter(member: Any = "a", *names: str, **more: Any) -> ConsumerGroupHeartbeatRequest:
    """A heartbeat that joins; it subscribes to "~t" unless names are given."""
    fields: dict[str, Any] = {"owned": [], "timeout_ms": FAR_MS, "names": list(names) or ["~t"]}
    return heartbeat(member, 0, **(fields | more))


def depart(member: Any = "a", epoch: int = -1, **more: Any) -> ConsumerGroupHeartbeatRequest:
    return heartbeat(member, epoch, **more)


def describe_consumers(*groups: str, **more: Any) -> ConsumerGroupDescribeRequest:
    """ConsumerGroupDescribe."""
    more.setdefault("include_authorized_operations", False)
    return ConsumerGroupDescribeRequest(group_ids=list(groups or ("~g",)), **more)


def known_topic(name: str = "~t", partitions: int = 4) -> Steps:
    """A topic, and time for the coordinator to learn of it."""
    return [create(name, partitions), Sleep(SETTLED_S)]


def fetch_offsets_as(
    member: str | None, epoch: int, group: str = "~g", name: str = "~t"
) -> OffsetFetchRequest:
    """OffsetFetch of partitions 0 and 1 by a member (v9 and later)."""
    one = OffsetFetchRequest.Group
    topics = [one.Topic(name=name, topic_id=id_of(name), partition_indexes=[0, 1])]
    return OffsetFetchRequest(
        groups=[one(group_id=group, member_id=member, member_epoch=epoch, topics=topics)]
    )


def delete_groups(*groups: str) -> Ask:
    """DeleteGroups."""
    return Ask(DeleteGroupsRequest(groups_names=list(groups or ("~g",))))


def delete_offsets(*entries: tuple[str, list[int]], group: str = "~g") -> Ask:
    """OffsetDelete."""
    topic = OffsetDeleteRequest.Topic
    return Ask(
        OffsetDeleteRequest(
            group_id=group,
            topics=[
                topic(name=name, partitions=[topic.Partition(partition_index=n) for n in those])
                for name, those in entries
            ],
        )
    )


@dataclass(frozen=True)
class subscription(Symbol):
    """The subscription of a classic consumer: topics, and owned partitions; in this version."""

    names: tuple[str, ...]
    version: int = 1
    owned: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def resolve(self, world: World) -> bytes:
        part = ConsumerProtocolSubscription.OwnedPartition
        decoded = ConsumerProtocolSubscription(
            topics=[world.resolve(name) for name in self.names],
            user_data=None,
            owned_partitions=[
                part(topic=world.resolve(name), partitions=list(those))
                for name, those in self.owned
            ],
        )
        return keyed(decoded, self.version)


@dataclass(frozen=True)
class assigned(Symbol):
    """The assignment that a classic leader gives to a member."""

    held: tuple[tuple[str, tuple[int, ...]], ...]

    def resolve(self, world: World) -> bytes:
        part = ConsumerProtocolAssignment.AssignedPartition
        entries = [
            part(topic=world.resolve(name), partitions=list(those)) for name, those in self.held
        ]
        return keyed(ConsumerProtocolAssignment(assigned_partitions=entries, user_data=None), 1)


def classic(*names: str, protocol: str = "range", **more: Any) -> Protocols:
    """The one protocol of a classic consumer that subscribes to these topics."""
    metadata: Any = subscription(names or ("~t",), **more)
    return ((protocol, metadata),)


def two_members() -> Steps:
    """a and b, both stable in epoch 3 with two partitions each."""
    return [
        *known_topic(),
        Ask(enter("a")),
        Ask(enter("b")),
        Ask(heartbeat("a", 2)),
        Ask(heartbeat("a", 2, owned=[("~t", [0, 1])])),
        Ask(heartbeat("b", 3)),
        Ask(describe_consumers()),
    ]
