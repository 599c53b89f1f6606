"""Classic groups and committed offsets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.sync_group import SyncGroupRequest

from ..engine.steps import Ask, Step, seen
from .topics import id_of

FAR_MS = 60_000
"""A timeout that does not run out while a sequence runs."""


def commit(
    *entries: tuple[str, int, int],
    group: str = "~g",
    member: Any = "",
    generation: int = -1,
    metadata: str | None = "m",
    **more: Any,
) -> OffsetCommitRequest:
    part = OffsetCommitRequest.Topic.Partition
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member,
        topics=[
            OffsetCommitRequest.Topic(
                name=name,
                topic_id=id_of(name),
                partitions=[
                    part(partition_index=index, committed_offset=at, committed_metadata=metadata)
                ],
            )
            for name, index, at in entries
        ],
        **more,
    )


def offsets_of(
    group: str = "~g", topics: Iterable[tuple[str, list[int]]] | None = None, **more: Any
) -> OffsetFetchRequest:
    """The committed offsets of a group; the request has the fields of every version."""
    one = many = None
    if topics is not None:
        entries = list(topics)
        one = [OffsetFetchRequest.Topic(name=n, partition_indexes=p) for n, p in entries]
        many = [
            OffsetFetchRequest.Group.Topic(name=n, topic_id=id_of(n), partition_indexes=p)
            for n, p in entries
        ]
    entry = OffsetFetchRequest.Group(group_id=group, topics=many)
    return OffsetFetchRequest(group_id=group, topics=one, groups=[entry], **more)


Protocols = tuple[tuple[str, bytes], ...]
RANGE: Protocols = (("range", b"r"),)


def join(
    member: Any = "",
    group: str = "~g",
    protocols: Protocols = RANGE,
    session_ms: int = FAR_MS,
    rebalance_ms: int = FAR_MS,
    kind: str = "consumer",
    instance: str | None = None,
) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        member_id=member,
        group_instance_id=instance,
        protocol_type=kind,
        protocols=[JoinGroupRequest.Protocol(name=n, metadata=m) for n, m in protocols],
    )


def sync(
    member: Any,
    generation: int = 1,
    group: str = "~g",
    assignments: Iterable[tuple[Any, bytes]] = (),
    kind: str | None = "consumer",
    protocol: str | None = "range",
    instance: str | None = None,
) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member,
        group_instance_id=instance,
        protocol_type=kind,
        protocol_name=protocol,
        assignments=[
            SyncGroupRequest.Assignment(member_id=who, assignment=what) for who, what in assignments
        ],
    )


def beat(
    member: Any, generation: int = 1, group: str = "~g", instance: str | None = None
) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=group, generation_id=generation, member_id=member, group_instance_id=instance
    )


def leave(*members: tuple[Any, str | None], group: str = "~g") -> LeaveGroupRequest:
    """Leave by member id and instance; versions before 3 take the first one's id."""
    return LeaveGroupRequest(
        group_id=group,
        member_id=members[0][0] if members else "",
        members=[
            LeaveGroupRequest.Member(member_id=who, group_instance_id=instance)
            for who, instance in members
        ],
    )


def describe(*groups: str) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(groups=list(groups or ("~g",)))


def stable_group(protocols: Protocols = RANGE, instance: str | None = None) -> list[Step]:
    """One member "m", joined (v3 needs no second round) and synced: generation 1 is stable."""
    version = 3 if instance is None else 7
    return [
        Ask(join(protocols=protocols, instance=instance), version, keep={"m": "member_id"}),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"all")]), 3),
    ]
