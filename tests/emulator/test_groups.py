"""Classic groups and offsets over the wire, and what a restart brings back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.list_groups import ListGroupsRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.batch import read_header
from odradek.wire.records import end_transaction_batch, read_records

from tests.requests.committed_offsets import commit, commit_all, commit_request, committed
from tests.requests.groups import (
    READS_NOTHING,
    heartbeat_request,
    join_request,
    joined,
    leave_request,
    sync_request,
)
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster


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


def test_a_second_member_makes_the_first_join_anew(cluster: Cluster, client: Client) -> None:
    first = joined(client)
    client.ask(sync_request(first, b"both"), 3)
    other = client_of(cluster)
    given = other.ask(join_request(), 7)
    other.send(join_request(given.member_id), 7)
    assert other.answers() == []

    assert client.ask(heartbeat_request(first), 4).error_code == Error.REBALANCE_IN_PROGRESS
    again = client.ask(join_request(first.member_id), 7)
    (second,) = other.answers()
    assert (again.generation_id, second.generation_id) == (2, 2)
    assert (len(again.members), len(second.members)) == (2, 0)


def test_a_silent_member_is_dropped_exactly_at_its_session_timeout(
    cluster: Cluster, client: Client
) -> None:
    answer = joined(client)
    client.ask(sync_request(answer, b""), 3)
    cluster.advance(9_999)
    assert cluster.groups.classic.describe(["g"], 5)[0].state == "Stable"
    cluster.advance(1)
    assert cluster.groups.classic.describe(["g"], 5)[0].state == "Empty"


def test_leaving_before_version_3_tells_its_error_at_the_top(client: Client) -> None:
    request = leave_request("nobody")
    assert client.ask(request, 1).error_code == Error.UNKNOWN_MEMBER_ID
    answer = client.ask(request, 4)
    assert (answer.error_code, answer.members[0].error_code) == (0, Error.UNKNOWN_MEMBER_ID)


@pytest.mark.parametrize("version", range(2, 11))
def test_an_offset_is_committed_and_fetched_in_every_version(
    cluster: Cluster, client: Client, version: int
) -> None:
    topic_id = cluster.topic("t").id
    error = commit(client, 42, topic_id=topic_id, metadata="here", version=version)
    assert error is Error.NONE
    for fetch_version in range(1, 11):
        found = committed(client, version=fetch_version, topic_id=topic_id)
        assert (found.committed_offset, found.metadata, found.error_code) == (42, "here", 0)
        nothing = committed(client, version=fetch_version, group="other", topic_id=topic_id)
        assert (nothing.committed_offset, nothing.metadata, nothing.error_code) == (-1, "", 0)


def test_what_cannot_be_committed_does_not_keep_the_rest_from_it(client: Client) -> None:
    request = commit_all(("t", 1, 7), ("absent", 0, 1))
    request.topics[0].partitions += commit_request(1, "t", 9).topics[0].partitions
    answer = client.ask(request, 9)
    codes = [[(p.partition_index, p.error_code) for p in t.partitions] for t in answer.topics]
    assert codes == [[(9, 3), (1, 0)], [(0, 3)]]
    assert committed(client, partition=1).committed_offset == 7
    assert commit(client, 7, version=10, topic_id=b"x" * 16) is Error.UNKNOWN_TOPIC_ID


def test_all_offsets_of_a_group(client: Client) -> None:
    commit(client, 5)
    old = client.ask(OffsetFetchRequest(group_id="g", topics=None), 7)
    assert [(t.name, [p.committed_offset for p in t.partitions]) for t in old.topics] == [
        ("t", [5])
    ]
    asked = [OffsetFetchRequest.Group(group_id=g, topics=None) for g in ("g", "none")]
    new = client.ask(OffsetFetchRequest(groups=asked), 9)
    assert [(g.group_id, len(g.topics)) for g in new.groups] == [("g", 1), ("none", 0)]


@pytest.mark.parametrize("version", range(7))
def test_the_coordinator_is_this_broker(client: Client, version: int) -> None:
    if version < 4:
        found = client.ask(FindCoordinatorRequest(key="g"), version)
        assert (found.error_code, found.node_id, found.host, found.port) == (
            0,
            1,
            "localhost",
            9092,
        )
        return
    answer = client.ask(FindCoordinatorRequest(coordinator_keys=["g", "h", "g"]), version)
    assert [(c.key, c.node_id, c.error_code) for c in answer.coordinators] == [
        (key, 1, 0) for key in ("g", "h", "g")
    ]


@pytest.mark.parametrize(
    ("version", "key_type", "is_silent"),
    [(1, 2, False), (3, 2, False), (4, 2, True), (5, 2, True), (6, 2, True), (6, 3, False)],
)
def test_a_key_that_has_no_coordinator(
    client: Client, version: int, key_type: int, is_silent: bool
) -> None:
    asked = FindCoordinatorRequest(key="g", coordinator_keys=["g"], key_type=key_type)
    answer = client.ask(asked, version)
    (found,) = answer.coordinators if version >= 4 else [answer]
    assert (found.error_code, found.node_id) == (Error.INVALID_REQUEST, -1)
    assert (found.error_message == "") is is_silent


def test_groups_are_listed_and_described(client: Client) -> None:
    answer = joined(client)
    client.ask(sync_request(answer, b"all"), 3)
    for version in range(6):
        (group,) = client.ask(ListGroupsRequest(), version).groups
        assert (group.group_id, group.protocol_type) == ("g", "consumer")
    assert client.ask(ListGroupsRequest(states_filter=["Empty"]), 5).groups == []
    for version in range(7):
        found, missing = client.ask(DescribeGroupsRequest(groups=["g", "none"]), version).groups
        assert (found.group_state, found.protocol_data) == ("Stable", "range")
        (member,) = found.members
        assert (member.member_assignment, member.client_host) == (b"all", "/127.0.0.1")
        assert missing.group_state == "Dead"
        assert missing.error_code == (Error.GROUP_ID_NOT_FOUND if version >= 6 else 0)


def test_the_bytes_in_the_offsets_topic_are_kafkas(cluster: Cluster, client: Client) -> None:
    commit(client, 3, partition=1, metadata="here", version=9)
    partition = cluster.groups.partition_for("g")
    (record,) = read_records(
        cluster.partition("__consumer_offsets", partition).log.read(0, 1 << 20)
    )
    assert record.key == bytes.fromhex("0001 0001 67 0001 74 00000001")
    value = bytes.fromhex("0004 0000000000000003 ffffffff 05") + b"here"
    value += NOW.to_bytes(8, "big") + b"\1\0\x10" + cluster.topic("t").id
    assert record.value == value


# After a restart


@pytest.fixture
def restart(cluster: Cluster, tmp_path: Path) -> Iterator[Any]:
    """Close the cluster and open its directory again, as another cluster."""
    opened = []

    def reopen() -> Client:
        cluster.close()
        opened.append(open_cluster(tmp_path / "data", now=NOW + 60_000))
        return client_of(opened[0])

    yield reopen
    for again in opened:
        again.close()


def test_a_stable_group_comes_back_with_its_members_and_offsets(
    client: Client, restart: Any
) -> None:
    answer = joined(client)
    client.ask(sync_request(answer, b"all"), 3)
    error = commit(
        client,
        11,
        member_id=answer.member_id,
        generation_id_or_member_epoch=answer.generation_id,
    )
    assert error is Error.NONE

    client = restart()
    assert client.ask(heartbeat_request(answer), 4).error_code == 0
    assert client.ask(sync_request(answer, b""), 3).assignment == b"all"
    assert committed(client).committed_offset == 11


def test_a_group_that_fell_empty_goes_on_with_the_next_generation(
    client: Client, restart: Any
) -> None:
    answer = joined(client)
    client.ask(sync_request(answer, b"all"), 3)
    client.ask(leave_request(answer.member_id), 4)

    client = restart()
    assert client.ask(DescribeGroupsRequest(groups=["g"]), 5).groups[0].group_state == "Empty"
    assert joined(client).generation_id == 3


def test_a_marker_that_compaction_has_emptied_keeps_no_group_from_coming_back(
    cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    client.ask(FindCoordinatorRequest(key="g"), 1)
    offsets = cluster.topics.get("__consumer_offsets")
    assert offsets is not None
    stored = offsets.partitions[cluster.groups.partition_for("g")].log
    stored.config = replace(stored.config, delete_retention_ms=0)
    marker = end_transaction_batch(
        True,
        base_offset=0,
        timestamp=NOW,
        producer_id=5,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=0,
    )
    stored.append(marker, read_header(marker), NOW)
    commit(client, 7, version=5)
    for later in (1, 2):  # the first pass sets the horizon, the second is behind it
        stored.compactor.compact(NOW + later, force=True)
    headers = [header for header, _, _ in stored.reader.batches_from(0)]
    assert [(h.is_control, h.count) for h in headers] == [(True, 0), (False, 1)]

    cluster.close()
    again = open_cluster(tmp_path / "data")
    found = again.groups.offsets.fetch("g", [("t", 0)])
    assert [one.offset for one in found] == [7]
    again.close()
