"""StreamsGroupHeartbeat (semantics N27-N37): what a member must say, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.group import GROUP_RESOURCE
from odradek.emulator.groups.streams.group import FIRST_ASSIGNMENT
from odradek.storage import MemoryDisk
from odradek.wire import Error
from odradek.wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest as Request

from tests.requests.administration import delete, level, replace
from tests.requests.committed_offsets import commit
from tests.requests.consumer_groups import beat
from tests.requests.groups import join_request
from tests.requests.share_groups import share_beat
from tests.requests.streams_groups import (
    LEAVES,
    describe_streams,
    held,
    statuses,
    streams_beat,
    subtopology,
    task_ids,
    topic_info,
    topology,
)
from tests.support.cluster import Client, open_cluster

INTERVAL_MS = 1000
UNSAFE_DOWNGRADE = 3
STATEFUL = topology(subtopology(changelogs=["c"]))


@pytest.fixture
def cluster() -> Any:
    """With t, of two partitions."""
    cluster = open_cluster()
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 2, {})
    yield cluster
    cluster.close()


def test_a_member_joins_stays_and_leaves(cluster: Cluster, client: Client) -> None:
    joined = streams_beat(client)
    assert (joined.error_code, joined.member_id, joined.member_epoch) == (0, "a", 2)
    assert (joined.heartbeat_interval_ms, held(joined), statuses(joined)) == (
        *(5000, {"0": [0, 1]}, []),
    )
    stays = streams_beat(client, epoch=2, active={"0": [0, 1]})
    assert (stays.member_epoch, held(stays)) == (2, None)
    left = streams_beat(client, epoch=LEAVES)
    assert (left.error_code, left.member_epoch, left.heartbeat_interval_ms) == (0, -1, 0)
    assert left.status == []
    assert streams_beat(client, epoch=2).error_code == Error.UNKNOWN_MEMBER_ID


INVALID = Error.INVALID_REQUEST
_TOPOLOGY = Error.STREAMS_INVALID_TOPOLOGY


@pytest.mark.parametrize(
    ("error", "message", "change"),
    [
        (INVALID, "MemberId can't be empty.", {"member_id": " "}),
        (INVALID, "GroupId can't be empty.", {"group_id": ""}),
        (INVALID, "RackId can't be empty.", {"rack_id": ""}),
        (
            *(INVALID, "RebalanceTimeoutMs must be provided in first request."),
            {"rebalance_timeout_ms": -1},
        ),
        (INVALID, "Topology must be non-null when (re-)joining.", {"topology": None}),
        (INVALID, "ActiveTasks must be empty when (re-)joining.", {"active": {"0": [0]}}),
        (INVALID, "StandbyTasks must be empty when (re-)joining.", {"standby": {"0": [0]}}),
        (INVALID, "WarmupTasks must be empty when (re-)joining.", {"warmup_tasks": None}),
        (INVALID, "Static membership is not yet supported.", {"instance_id": "i"}),
        (INVALID, "WarmupTasks are not supported yet.", {"warmup_tasks": task_ids({"0": [0]})}),
        (INVALID, "TaskOffsets are not supported yet.", {"task_offsets": []}),
        (INVALID, "TaskEndOffsets are not supported yet.", {"task_end_offsets": []}),
        (
            *(INVALID, "Regular expressions for source topics are not supported yet."),
            {"topology": topology(subtopology(regexes=["t.*"]))},
        ),
        (
            *(INVALID, "MemberEpoch is -3, but must be greater than or equal to -2."),
            {"epoch": -3},
        ),
        (INVALID, "InstanceId can't be null.", {"epoch": -2}),
        (
            *(INVALID, "Topology can only be provided when (re-)joining."),
            {"epoch": 1, "topology": topology()},
        ),
        (
            *(INVALID, "If one task-type is non-null, all must be non-null."),
            {"epoch": 1, "active_tasks": []},
        ),
        (
            *(_TOPOLOGY, "Changelog topic c must have an undefined partition count, but it is set"
              " to 3."),
            {"topology": topology(subtopology(changelogs=[topic_info("c", 3)]))},
        ),
        (
            *(_TOPOLOGY, "Use of Kafka internal topics __consumer_offsets in a Kafka Streams"
              " topology is prohibited."),
            {"topology": topology(subtopology(sinks=["__consumer_offsets"]))},
        ),
        (
            *(_TOPOLOGY, "Topic names a b,ü are not valid topic names."),
            {"topology": topology(subtopology("0", ["a b", "t", "ü"]))},
        ),
        (Error.UNKNOWN_SERVER_ERROR, None, {"topology": topology(epoch=-1)}),
        (Error.GROUP_ID_NOT_FOUND, "Streams group g not found.", {"epoch": 1}),
        (Error.GROUP_ID_NOT_FOUND, "Group g not found.", {"epoch": -1}),
    ],
)  # fmt: skip
def test_what_is_refused(
    cluster: Cluster, client: Client, error: Error, message: str | None, change: dict[str, Any]
) -> None:
    answer = streams_beat(client, **change)
    assert (answer.error_code, answer.error_message) == (error, message)
    again = streams_beat(client, epoch=1)
    assert again.error_code == Error.GROUP_ID_NOT_FOUND, "no group is left"


def test_internal_topics_are_created_for_who_finds_them_missing(
    cluster: Cluster, client: Client
) -> None:
    counting = topology(
        subtopology("0", ["t"], sinks=["r"]),
        subtopology(
            *("1", []),
            repartition=[topic_info("r", cleanup_policy="delete")],
            changelogs=[topic_info("c", cleanup_policy="compact")],
        ),
    )
    joined = streams_beat(client, topology=counting)
    assert statuses(joined) == [(3, "Internal topics are missing: r, c")]
    assert (joined.member_epoch, held(joined)) == (2, {})
    assert len(cluster.topic("r").partitions) == len(cluster.topic("c").partitions) == 2
    assert cluster.topic("c").config.get("cleanup.policy") == ["compact"]
    cluster.advance(INTERVAL_MS)
    assigned = streams_beat(client, epoch=2)
    assert (assigned.member_epoch, statuses(assigned)) == (3, [])
    assert held(assigned) == {"0": [0, 1], "1": [0, 1]}


def test_what_keeps_internal_topics_from_being_created_is_reported_for_a_while(
    cluster: Cluster, client: Client
) -> None:
    brings = topology(subtopology(changelogs=[topic_info("c", replicas=3)]))
    missing = "Internal topics are missing: c"
    assert statuses(streams_beat(client, topology=brings)) == [(3, missing)]
    why = (
        "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be"
        " reached because only 1 broker(s) are registered or some brokers have all their log"
        " directories cordoned."
    )
    statuses_text = [(3, f"{missing}; Creation failed: c ({why}).")]
    assert statuses(streams_beat(client, epoch=2)) == statuses_text
    cluster.advance(9_999)
    assert statuses(streams_beat(client, epoch=2)) == statuses_text
    cluster.advance(1)
    assert statuses(streams_beat(client, epoch=2)) == [(3, missing)], "it was tried again"


def test_a_new_group_waits_for_members() -> None:
    cluster = open_cluster(group_streams_initial_rebalance_delay_ms="3000")
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 2, {})
    client = Client(cluster)
    delayed = [(5, "Assignment delayed due to the configured initial rebalance delay.")]
    first = streams_beat(client)
    assert (first.member_epoch, held(first), statuses(first)) == (1, {}, delayed)
    cluster.advance(2_999)
    second = streams_beat(client, "b")
    assert (second.member_epoch, statuses(second)) == (1, delayed)
    cluster.advance(1)
    assert held(streams_beat(client, epoch=1)) == {"0": [0]}
    assert held(streams_beat(client, "b", epoch=1)) == {"0": [1]}
    cluster.close()


def test_the_wait_that_a_refused_heartbeat_began_ends() -> None:
    cluster = open_cluster(group_streams_initial_rebalance_delay_ms="3000")
    cluster.groups.ensure_topic()
    client = Client(cluster)
    streams_beat(client)  # its source topic is missing
    cluster.advance(3_000)
    streams_beat(client, epoch=-1)
    refused = streams_beat(client, "b", user_endpoint=Request.Endpoint(host="h", port=1))
    assert refused.error_code == Error.UNKNOWN_SERVER_ERROR, "nobody knows its partitions"
    waits = cluster.groups.at(1).streams.group("g").deadlines
    assert waits.get(FIRST_ASSIGNMENT) is not None
    cluster.advance(3_000)
    assert waits.get(FIRST_ASSIGNMENT) is None
    cluster.close()


def test_tasks_are_handed_over(cluster: Cluster, client: Client) -> None:
    streams_beat(client)
    early = streams_beat(client, "b")
    assert (early.member_epoch, held(early)) == (2, {})
    assert statuses(early) == [(5, "Assignment delayed due to the configured assignment interval.")]
    cluster.advance(INTERVAL_MS)
    waits = streams_beat(client, "b", epoch=2)
    assert (waits.member_epoch, held(waits)) == (3, None)
    gives = streams_beat(client, epoch=2, active={"0": [0, 1]})
    assert (gives.member_epoch, held(gives)) == (2, {"0": [0]})
    assert held(streams_beat(client, "b", epoch=3)) is None
    given = streams_beat(client, epoch=2, active={"0": [0]})
    assert (given.member_epoch, held(given)) == (3, None)
    assert held(streams_beat(client, "b", epoch=3)) == {"0": [1]}


def test_who_does_not_give_up_its_tasks_in_time_is_removed(
    cluster: Cluster, client: Client
) -> None:
    streams_beat(client)
    cluster.advance(INTERVAL_MS)
    streams_beat(client, "b")
    streams_beat(client, epoch=2, active={"0": [0, 1]})
    cluster.advance(1499)
    assert streams_beat(client, epoch=2, active={"0": [0, 1]}).error_code == 0
    cluster.advance(1)
    assert streams_beat(client, epoch=2).error_code == Error.UNKNOWN_MEMBER_ID


def test_a_session_ends(cluster: Cluster, client: Client) -> None:
    streams_beat(client)
    cluster.advance(44_999)
    assert streams_beat(client, epoch=2).error_code == 0
    cluster.advance(45_000)
    assert streams_beat(client, epoch=2).error_code == Error.UNKNOWN_MEMBER_ID


def test_an_epoch_is_the_member_s_or_the_one_before(cluster: Cluster, client: Client) -> None:
    streams_beat(client)
    assert streams_beat(client, epoch=3).error_code == Error.FENCED_MEMBER_EPOCH
    assert streams_beat(client, epoch=1).error_code == Error.FENCED_MEMBER_EPOCH
    cluster.advance(INTERVAL_MS)
    assert streams_beat(client, epoch=2, rack_id="r").member_epoch == 3
    lost = streams_beat(client, epoch=2, active={"0": [1]})
    assert (lost.error_code, lost.member_epoch) == (0, 3)
    assert streams_beat(client, epoch=2).error_code == Error.FENCED_MEMBER_EPOCH
    assert streams_beat(client, epoch=0).member_epoch == 3


@pytest.mark.parametrize(
    "change",
    [
        {"rebalance_timeout_ms": 1},
        {"rack_id": "r"},
        {"process_id": "p"},
        {"client_tags": [Request.KeyValue(key="zone", value="a")]},
        {"user_endpoint": Request.Endpoint(host="h", port=1)},
    ],
)
def test_what_raises_the_epoch(cluster: Cluster, client: Client, change: dict[str, Any]) -> None:
    streams_beat(client)
    cluster.advance(INTERVAL_MS)
    assert streams_beat(client, epoch=2, **change).member_epoch == 3
    cluster.advance(INTERVAL_MS)
    assert streams_beat(client, epoch=3, **change).member_epoch == 3


def test_the_configs_of_a_group_are_obeyed(cluster: Cluster, client: Client) -> None:
    configs = {
        "streams.heartbeat.interval.ms": "6000",
        "streams.session.timeout.ms": "50000",
        "streams.assignment.interval.ms": "0",
    }
    client.ask(*replace(GROUP_RESOURCE, "g", configs))
    assert streams_beat(client, topology=STATEFUL).heartbeat_interval_ms == 6000
    assert streams_beat(client, epoch=2).member_epoch == 3
    assert streams_beat(client, "b", topology=STATEFUL).member_epoch == 4
    configs["streams.num.standby.replicas"] = "1"
    client.ask(*replace(GROUP_RESOURCE, "g", configs))
    streams_beat(client, epoch=3, active={"0": [0, 1]})
    assert streams_beat(client, epoch=3, active={"0": [0]}).member_epoch == 5
    follows = streams_beat(client, epoch=5)
    assert (held(follows), held(follows, "standby")) == ({"0": [0]}, {"0": [1]})
    cluster.advance(49_999)
    assert streams_beat(client, epoch=5).error_code == 0


def test_topologies_do_not_change(cluster: Cluster, client: Client) -> None:
    streams_beat(client, topology=topology(epoch=3))
    other = streams_beat(client, "b", topology=topology(subtopology(sinks=["s"]), epoch=3))
    update = (INVALID, "Topology updates are not supported yet.")
    assert (other.error_code, other.error_message) == update
    newer = streams_beat(client, "b", topology=topology(epoch=4))
    assert (newer.error_code, newer.error_message) == update
    stale = streams_beat(client, "b", topology=topology(subtopology(sinks=["s"]), epoch=2))
    assert stale.error_code == 0
    assert statuses(stale)[0] == (
        *(0, "The member's topology epoch 2 is behind the group's topology epoch 3."),
    )


def test_reported_tasks_must_be_there(cluster: Cluster, client: Client) -> None:
    streams_beat(client)
    answer = streams_beat(client, epoch=2, active={"1": [0]})
    assert (answer.error_code, answer.error_message) == (
        *(INVALID, "Subtopology 1 does not exist in the topology."),
    )
    answer = streams_beat(client, epoch=2, standby={"0": [2]})
    assert (answer.error_code, answer.error_message) == (
        INVALID,
        "Task 2 for subtopology 0 is invalid. Number of tasks for this subtopology: 2",
    )


def test_a_shutdown_is_sent_to_all_until_none_is_left(cluster: Cluster, client: Client) -> None:
    streams_beat(client)
    streams_beat(client, "b")
    text = (
        "Streams group member b encountered a fatal error and requested a shutdown for the entire"
        " application."
    )
    assert statuses(streams_beat(client, "b", epoch=2, shutdown_application=True))[-1] == (4, text)
    streams_beat(client, epoch=2, shutdown_application=True)
    assert statuses(streams_beat(client, epoch=2))[-1] == (4, text)
    streams_beat(client, "b", epoch=LEAVES)
    assert statuses(streams_beat(client, epoch=2))[-1] == (4, text)
    streams_beat(client, epoch=LEAVES)
    assert not [code for code, _ in statuses(streams_beat(client)) if code == 4]


def test_endpoints_tell_who_has_which_partitions(cluster: Cluster, client: Client) -> None:
    joined = streams_beat(client, user_endpoint=Request.Endpoint(host="h", port=1))
    assert joined.endpoint_information_epoch == 0
    (place,) = joined.partitions_by_user_endpoint or []
    assert (place.user_endpoint.host, place.user_endpoint.port) == ("h", 1)
    assert [(each.topic, each.partitions) for each in place.active_partitions] == [("t", [0, 1])]
    assert streams_beat(client, epoch=2).partitions_by_user_endpoint is None
    streams_beat(client, "b", user_endpoint=Request.Endpoint(host="i", port=2))
    response = streams_beat(client, epoch=2)
    assert response.endpoint_information_epoch == 1
    hosts = [each.user_endpoint.host for each in response.partitions_by_user_endpoint or ()]
    assert hosts == ["i", "h"]
    known = streams_beat(client, epoch=2, endpoint_information_epoch=1)
    assert known.partitions_by_user_endpoint is None


def test_a_new_endpoint_is_reported_from_the_next_heartbeat_on(
    cluster: Cluster, client: Client
) -> None:
    """A real broker keeps what it told, until the member's record is written."""

    def hosts(epoch: int, **more: Any) -> list[str]:
        response = streams_beat(client, epoch=epoch, endpoint_information_epoch=9, **more)
        return [each.user_endpoint.host for each in response.partitions_by_user_endpoint or ()]

    streams_beat(client, user_endpoint=Request.Endpoint(host="old", port=1))
    assert hosts(2) == ["old"]
    assert hosts(2, user_endpoint=Request.Endpoint(host="new", port=1)) == ["old"]
    assert hosts(2) == ["new"]


def test_a_deleted_source_takes_the_tasks_away(cluster: Cluster, client: Client) -> None:
    streams_beat(client)
    client.ask(*delete("t"))
    cluster.advance(INTERVAL_MS)
    answer = streams_beat(client, epoch=2, active={"0": [0, 1]})
    assert (answer.member_epoch, held(answer)) == (2, {})
    assert statuses(answer) == [(1, "Source topics t are missing.")]
    assert streams_beat(client, epoch=2, active={}).member_epoch == 3


def test_topics_are_compared_again_when_a_raised_epoch_was_not_written(
    cluster: Cluster, client: Client
) -> None:
    """A heartbeat that fails has raised the epoch in vain: the next one after another member has
    raised it does not compare, and writes the old hash."""
    place = Request.Endpoint(host="h", port=1)
    streams_beat(client, user_endpoint=place)
    client.ask(*delete("t"))
    assert streams_beat(client, epoch=2, endpoint_information_epoch=9).error_code == -1
    streams_beat(client, epoch=LEAVES)
    streams_beat(client, "b")
    (group,) = describe_streams(client, "g")
    assert group.group_epoch == 4
    streams_beat(client, "b", epoch=2)
    assert describe_streams(client, "g")[0].group_epoch == 4
    failed = streams_beat(client, "c", user_endpoint=place, endpoint_information_epoch=9)
    assert failed.error_code == -1
    streams_beat(client, "b", epoch=2)
    assert describe_streams(client, "g")[0].group_epoch == 5


def test_a_group_in_the_place_of_offsets_tells_its_endpoint_epoch_at_once(
    cluster: Cluster, client: Client
) -> None:
    place = Request.Endpoint(host="h", port=1)
    assert streams_beat(client, user_endpoint=place).endpoint_information_epoch == 0
    assert commit(client, 5, group="simple") == 0
    joined = streams_beat(client, group_id="simple", user_endpoint=place)
    assert joined.endpoint_information_epoch == 1


def test_types_mix_where_a_group_is_empty(cluster: Cluster, client: Client) -> None:
    beat(client, group_id="consumers")
    answer = streams_beat(client, group_id="consumers")
    assert (answer.error_code, answer.error_message) == (
        *(Error.GROUP_ID_NOT_FOUND, "Group consumers is not a streams group."),
    )
    streams_beat(client)
    assert client.ask(join_request(), 7).error_code == Error.INCONSISTENT_GROUP_PROTOCOL
    streams_beat(client, epoch=LEAVES)
    assert beat(client).error_code == Error.GROUP_ID_NOT_FOUND
    assert share_beat(client).error_code == Error.GROUP_ID_NOT_FOUND
    assert client.ask(join_request(), 7).error_code == Error.MEMBER_ID_REQUIRED
    assert streams_beat(client).error_code == 0, "an empty classic group makes way"


def test_a_restart_restores_the_group(disk: MemoryDisk) -> None:
    cluster = open_cluster(disk)
    cluster.groups.ensure_topic()
    cluster.create_topic("t", 2, {})
    client = Client(cluster)
    streams_beat(client, topology=STATEFUL, client_tags=[Request.KeyValue(key="k", value="v")])
    cluster.advance(INTERVAL_MS)
    streams_beat(client, epoch=2)
    before = cluster.groups.at(1).streams.group("g")
    cluster.close()
    again = open_cluster(disk, now=before.target_timestamp)
    after = again.groups.at(1).streams.group("g")
    for name in ("epoch", "members", "targets", "topology", "last_configs", "metadata_hash"):
        assert getattr(after, name) == getattr(before, name), name
    assert (after.state, after.validated_epoch) == (before.state, before.validated_epoch)
    assert held(streams_beat(Client(again), epoch=0, topology=STATEFUL)) == {"0": [0, 1]}
    again.close()


def test_without_the_protocol_there_are_none() -> None:
    protocols = {"group_coordinator_rebalance_protocols": "classic"}
    cluster = open_cluster(**protocols)
    cluster.groups.ensure_topic()
    assert streams_beat(Client(cluster)).error_code == Error.UNSUPPORTED_VERSION
    assert beat(Client(cluster)).error_code == Error.UNSUPPORTED_VERSION
    cluster.close()


def test_without_the_feature_there_are_none(cluster: Cluster, client: Client) -> None:
    client.ask(*level("streams.version", 0, UNSAFE_DOWNGRADE))
    assert streams_beat(client).error_code == Error.UNSUPPORTED_VERSION
