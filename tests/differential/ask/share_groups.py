"""Share groups (KIP-932): heartbeats, fetches, acknowledgements, offsets, and their states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odradek.wire.api.alter_share_group_offsets import AlterShareGroupOffsetsRequest
from odradek.wire.api.delete_share_group_offsets import DeleteShareGroupOffsetsRequest
from odradek.wire.api.delete_share_group_state import DeleteShareGroupStateRequest
from odradek.wire.api.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from odradek.wire.api.initialize_share_group_state import InitializeShareGroupStateRequest
from odradek.wire.api.read_share_group_state import ReadShareGroupStateRequest
from odradek.wire.api.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from odradek.wire.api.share_acknowledge import ShareAcknowledgeRequest
from odradek.wire.api.share_fetch import ShareFetchRequest
from odradek.wire.api.share_group_describe import ShareGroupDescribeRequest
from odradek.wire.api.share_group_heartbeat import ShareGroupHeartbeatRequest
from odradek.wire.api.write_share_group_state import WriteShareGroupStateRequest

from tests.requests.configs import change_request

from ..engine.steps import Ask, Sleep, Steps
from .consumer_groups import known_topic
from .topics import id_of

INITIALIZED_S = 0.8
"""How long a real broker takes at most to initialise the states of a group, or to store one."""
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
LEAVES = -1
Acks = Sequence[tuple[int, int, Sequence[int]]]
"""First and last offset, and types, of each batch."""
Parts = Mapping[tuple[str, int], Acks]
"""By topic and partition."""
_GROUP = 32


def share_beat(
    member: str = "a", epoch: int = 0, *, group: str = "~g", **more: Any
) -> ShareGroupHeartbeatRequest:
    """A heartbeat; `names` and `rack` are null unless they are given."""
    fields = {"names": "subscribed_topic_names", "rack": "rack_id"}
    given = {fields[name]: value for name, value in more.items()}
    return ShareGroupHeartbeatRequest(group_id=group, member_id=member, member_epoch=epoch, **given)


def share_enter(member: str = "a", *names: str, **more: Any) -> ShareGroupHeartbeatRequest:
    """A heartbeat that joins; it subscribes to "~t" unless names are given."""
    return share_beat(member, 0, **{"names": list(names) or ["~t"], **more})


def describe_shares(*groups: str) -> ShareGroupDescribeRequest:
    """ShareGroupDescribe."""
    return ShareGroupDescribeRequest(
        group_ids=list(groups or ("~g",)), include_authorized_operations=True
    )


def share_config(group: str = "~g", **configs: str) -> Ask:
    """Set configs of a group, "share." left out, with _ for dots."""
    changes = [(f"share.{name.replace('_', '.')}", 0, value) for name, value in configs.items()]
    return Ask(change_request((_GROUP, group, changes)))


def share_fetch(
    parts: Parts | None = None,
    epoch: int = 0,
    member: str | None = "a",
    *,
    forgotten: Mapping[str, Sequence[int]] | None = None,
    **more: Any,
) -> ShareFetchRequest:
    """A fetch that does not wait; it acknowledges what is given for each partition."""
    topics: dict[str, ShareFetchRequest.Topic] = {}
    kind = ShareFetchRequest.Topic.Partition
    for (name, index), acks in (parts or {}).items():
        new = ShareFetchRequest.Topic(topic_id=id_of(name), partitions=[])
        topics.setdefault(name, new).partitions.append(
            kind(partition_index=index, acknowledgement_batches=_batches(kind, acks))
        )
    fields: dict[str, Any] = {
        "group_id": "~g",
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_records": 500,
        "batch_size": 500,
    }
    gone = [
        ShareFetchRequest.ForgottenTopic(topic_id=id_of(name), partitions=[*indexes])
        for name, indexes in (forgotten or {}).items()
    ]
    return ShareFetchRequest(
        member_id=member,
        share_session_epoch=epoch,
        topics=[*topics.values()],
        forgotten_topics_data=gone,
        **{**fields, **more},
    )


def share_ack(
    parts: Parts, epoch: int, member: str | None = "a", **more: Any
) -> ShareAcknowledgeRequest:
    topics: dict[str, ShareAcknowledgeRequest.Topic] = {}
    kind = ShareAcknowledgeRequest.Topic.Partition
    for (name, index), acks in parts.items():
        new = ShareAcknowledgeRequest.Topic(topic_id=id_of(name), partitions=[])
        topics.setdefault(name, new).partitions.append(
            kind(partition_index=index, acknowledgement_batches=_batches(kind, acks))
        )
    fields = {"group_id": "~g", "member_id": member, "share_session_epoch": epoch}
    return ShareAcknowledgeRequest(topics=[*topics.values()], **{**fields, **more})


def _batches(kind: Any, acks: Acks) -> list[Any]:
    return [
        kind.AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[*types])
        for first, last, types in acks
    ]


def share_offsets(
    topics: Mapping[str, Sequence[int]] | None = None, group: str = "~g"
) -> DescribeShareGroupOffsetsRequest:
    """DescribeShareGroupOffsets; of all topics if none are given."""
    one = DescribeShareGroupOffsetsRequest.Group
    named = None
    if topics is not None:
        named = [one.Topic(topic_name=n, partitions=[*parts]) for n, parts in topics.items()]
    return DescribeShareGroupOffsetsRequest(groups=[one(group_id=group, topics=named)])


def alter_share_offsets(
    offsets: Mapping[tuple[str, int], int], group: str = "~g"
) -> AlterShareGroupOffsetsRequest:
    """AlterShareGroupOffsets."""
    one = AlterShareGroupOffsetsRequest.Topic
    topics: dict[str, Any] = {}
    for (name, index), offset in offsets.items():
        topic = topics.setdefault(name, one(topic_name=name, partitions=[]))
        topic.partitions.append(one.Partition(partition_index=index, start_offset=offset))
    return AlterShareGroupOffsetsRequest(group_id=group, topics=[*topics.values()])


def delete_share_offsets(*names: str, group: str = "~g") -> DeleteShareGroupOffsetsRequest:
    """DeleteShareGroupOffsets."""
    one = DeleteShareGroupOffsetsRequest.Topic
    topics = [one(topic_name=name) for name in names]
    return DeleteShareGroupOffsetsRequest(group_id=group, topics=topics)


STATE_KINDS: Mapping[str, Any] = {
    "initialize": InitializeShareGroupStateRequest,
    "read": ReadShareGroupStateRequest,
    "write": WriteShareGroupStateRequest,
    "delete": DeleteShareGroupStateRequest,
    "summary": ReadShareGroupStateSummaryRequest,
}
_STATE_FIELDS: Mapping[str, dict[str, Any]] = {
    "initialize": {"state_epoch": 1, "start_offset": 0},
    "read": {"leader_epoch": 0},
    "write": {"state_epoch": 1, "leader_epoch": 0, "start_offset": 0},
    "delete": {},
    "summary": {"leader_epoch": 0},
}


def share_state(
    kind: str,
    topic: str = "~t",
    batches: Sequence[tuple[int, int, int, int]] = (),
    group: str = "~g",
    **more: Any,
) -> Ask:
    """A request to the share coordinator about one partition. `batches`: first and last offset,
    delivery state, delivery count."""
    request = STATE_KINDS[kind]
    fields = {"partition": 0, **_STATE_FIELDS[kind], **more}
    if kind == "write":
        batch = request.Topic.Partition.StateBatch
        fields["state_batches"] = [
            batch(first_offset=f, last_offset=la, delivery_state=s, delivery_count=c)
            for f, la, s, c in batches
        ]
    part = request.Topic.Partition(**fields)
    one = request.Topic(topic_id=id_of(topic), partitions=[part])
    return Ask(request(group_id=group, topics=[one]))


def share_group(partitions: int = 1, **configs: str) -> Steps:
    """A topic "~t" and a group "~g", of which member a has all partitions, in epoch 3. The group
    begins with the first record unless told otherwise."""
    return [
        share_config(**{"auto_offset_reset": "earliest", **configs}),
        *known_topic("~t", partitions),
        Ask(share_enter()),
        Sleep(INITIALIZED_S),
        Ask(share_beat("a", 2)),
    ]
