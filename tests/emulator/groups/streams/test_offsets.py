"""Who may commit and delete offsets of a streams group (semantics N36)."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.offset_delete import OffsetDeleteRequest

from tests.requests.committed_offsets import commit, committed
from tests.requests.streams_groups import LEAVES, streams_beat
from tests.support.cluster import Client


@pytest.fixture(autouse=True)
def _group(cluster: Cluster, client: Client) -> None:
    """Member a has t-0 in epoch 2, of an application that reads t."""
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 1, {})
    cluster.create_topic("other", 1, {})
    streams_beat(client)


def _committed(client: Client, epoch: int, member_id: str = "a", **more: Any) -> Error:
    fields: dict[str, Any] = {"version": 9, **more}
    return commit(client, 1, member_id=member_id, generation_id_or_member_epoch=epoch, **fields)


def test_a_member_commits_with_its_epoch(client: Client) -> None:
    assert _committed(client, 2, version=8) is Error.UNSUPPORTED_VERSION
    assert _committed(client, 3) is Error.STALE_MEMBER_EPOCH
    assert _committed(client, 1) is Error.STALE_MEMBER_EPOCH
    assert _committed(client, 2, "b") is Error.UNKNOWN_MEMBER_ID
    assert _committed(client, -1, "") is Error.UNKNOWN_MEMBER_ID
    assert _committed(client, 2) is Error.NONE
    assert committed(client).committed_offset == 1


def test_an_older_epoch_will_do_for_a_task_that_was_there_in_it(
    cluster: Cluster, client: Client
) -> None:
    cluster.advance(1000)
    assert streams_beat(client, epoch=2, rack_id="r").member_epoch == 3
    assert _committed(client, 2) is Error.NONE
    assert _committed(client, 1) is Error.STALE_MEMBER_EPOCH
    assert _committed(client, 2, topic="other") is Error.STALE_MEMBER_EPOCH


def test_offsets_of_topics_in_use_stay(client: Client) -> None:
    def deleted() -> int:
        topic = OffsetDeleteRequest.Topic(
            name="t", partitions=[OffsetDeleteRequest.Topic.Partition(partition_index=0)]
        )
        answer = client.ask(OffsetDeleteRequest(group_id="g", topics=[topic]), 0)
        found: int = answer.topics[0].partitions[0].error_code
        return found

    assert deleted() == Error.GROUP_SUBSCRIBED_TO_TOPIC
    leaver = LeaveGroupRequest.Member(member_id="a")
    left = client.ask(LeaveGroupRequest(group_id="g", members=[leaver]), 5)
    assert (left.error_code, left.members[0].error_code) == (0, Error.UNKNOWN_MEMBER_ID)
    streams_beat(client, epoch=LEAVES)
    assert _committed(client, -1, "") is Error.NONE, "an administrator's"
    assert deleted() == 0
