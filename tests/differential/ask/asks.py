"""Requests in few words, for cases and generators: topics, batches, offsets, members of groups.

Topics are given by name and id at once (`seen("~t")`): the version decides which of them travels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from odradek.wire import Request
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.fetch import FetchRequest
from odradek.wire.api.heartbeat import HeartbeatRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.join_group import JoinGroupRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.list_offsets import ListOffsetsRequest
from odradek.wire.api.offset_commit import OffsetCommitRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.api.sync_group import SyncGroupRequest

from ..engine.steps import OWN, Ask, Step, seen
from .batches import batch

ENOUGH = 1 << 20
FAR_MS = 60_000


def id_of(name: str) -> Any:
    """The id of a topic of the sequence's own; no id for other names."""
    return seen(name) if name.startswith(OWN) and len(name) > 1 else bytes(16)


def topic(
    name: str, partitions: int = 1, replication: int = 1, **configs: str | None
) -> CreateTopicsRequest.Topic:
    """A topic to be made; configs with _ for the dots of their names."""
    return CreateTopicsRequest.Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication,
        assignments=[],
        configs=[
            CreateTopicsRequest.Topic.Config(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def create(name: str = "~t", partitions: int = 1, **configs: str | None) -> Ask:
    """Make a topic, in a version that tells its id."""
    return Ask(CreateTopicsRequest(topics=[topic(name, partitions, 1, **configs)]), 7)


def produce_all(*entries: tuple[str, int, Any], acks: int = -1, **more: Any) -> ProduceRequest:
    """Produce to several partitions: (topic, partition, records)."""
    return ProduceRequest(
        acks=acks,
        timeout_ms=30_000,
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
    """Produce to one partition."""
    return produce_all((name, partition, records), **more)


def put(*values: bytes | None, name: str = "~t", partition: int = 0, **options: Any) -> Ask:
    """A step that produces one plain batch."""
    return Ask(produce(batch(*values, **options), name, partition))


def wanted(offset: int = 0, partition: int = 0, **more: Any) -> FetchRequest.Topic.Partition:
    """A partition to be fetched."""
    more.setdefault("partition_max_bytes", ENOUGH)
    return FetchRequest.Topic.Partition(partition=partition, fetch_offset=offset, **more)


def fetch_all(
    *topics: tuple[str, list[FetchRequest.Topic.Partition]],
    wait_ms: int = 0,
    min_bytes: int = 0,
    max_bytes: int = ENOUGH,
    **more: Any,
) -> FetchRequest:
    """Fetch from several topics."""
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
    """Fetch from one partition."""
    of_partition = {
        key: more.pop(key)
        for key in ("current_leader_epoch", "last_fetched_epoch", "partition_max_bytes")
        if key in more
    }
    return fetch_all((name, [wanted(offset, partition, **of_partition)]), **more)


def list_offsets(
    *times: int, name: str = "~t", isolation: int = 0, epoch: int = -1, replica: int = -1
) -> ListOffsetsRequest:
    """Ask for these times, one entry for the topic each, in partitions 0, 0, ..."""
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


def commit(
    *entries: tuple[str, int, int],
    group: str = "~g",
    member: Any = "",
    generation: int = -1,
    metadata: str | None = "m",
    **more: Any,
) -> OffsetCommitRequest:
    """Commit (topic, partition, offset) each."""
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
    """What a group has committed, in the form of every version at once."""
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
    """Join a classic group."""
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
    """Sync with a generation; the leader brings assignments."""
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
    """A heartbeat."""
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
    """Describe groups."""
    return DescribeGroupsRequest(groups=list(groups or ("~g",)))


def new_producer() -> Ask:
    """A producer id, to be used as `seen("pid")`."""
    return Ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000), 1)


def stable_group(protocols: Protocols = RANGE, instance: str | None = None) -> list[Step]:
    """One member "m", joined (v3 needs no second round) and synced: generation 1 is stable."""
    version = 3 if instance is None else 7
    return [
        Ask(join(protocols=protocols, instance=instance), version, keep={"m": "member_id"}),
        Ask(sync(seen("m"), assignments=[(seen("m"), b"all")]), 3),
    ]


def asks(requests: Iterable[Request], version: int | None = None) -> list[Step]:
    """A step for each request."""
    return [Ask(request, version) for request in requests]
