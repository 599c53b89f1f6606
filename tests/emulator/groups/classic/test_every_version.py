"""A member's whole life, in every version of each of its requests."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error

from tests.requests.groups import (
    READS_NOTHING,
    heartbeat_request,
    joined,
    leave_request,
    sync_request,
)
from tests.support.cluster import Client


@pytest.fixture(autouse=True)
def topic(cluster: Cluster) -> None:
    cluster.create_topic("t", 2, {})
    cluster.groups.ensure_topic()


@pytest.mark.parametrize("version", range(10))
def test_a_member_joins_syncs_beats_and_leaves_in_every_version(
    client: Client, version: int
) -> None:
    answer = joined(client, version)
    assert (answer.error_code, answer.generation_id) == (0, 1)
    assert answer.leader == answer.member_id
    assert [member.metadata for member in answer.members] == [READS_NOTHING]
    assert answer.protocol_type == ("consumer" if version >= 7 else None)

    for sync_version in range(6):
        synced = client.ask(sync_request(answer, b"all", sync_version), sync_version)
        assert (synced.error_code, synced.assignment) == (0, b"all")
    for beat_version in range(5):
        assert client.ask(heartbeat_request(answer), beat_version).error_code == 0

    leave_version = min(version, 5)
    left = client.ask(leave_request(answer.member_id), leave_version)
    assert left.error_code == 0
    assert [member.error_code for member in left.members] == ([0] if leave_version >= 3 else [])
    assert client.ask(heartbeat_request(answer), 4).error_code == Error.UNKNOWN_MEMBER_ID
