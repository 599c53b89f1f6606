"""ConsumerGroupHeartbeat (semantics G15, G19-G21): what a member must say, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import Error
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

from tests.requests.consumer_groups import LEAVES, LEAVES_FOR_A_WHILE, beat
from tests.support.cluster import Client
from tests.support.versions import first_and_last

TopicPartitions = ConsumerGroupHeartbeatRequest.TopicPartitions


@pytest.fixture(autouse=True)
def topic_id(cluster: Cluster) -> bytes:
    """The id of t, of two partitions."""
    cluster.groups.ensure_topic()
    return cluster.create_topic("t", 2, {}).id


@pytest.mark.parametrize("version", first_and_last(ConsumerGroupHeartbeatRequest))
def test_a_member_joins_stays_and_leaves(client: Client, topic_id: bytes, version: int) -> None:
    joined = beat(client, "a", version=version)
    assert (joined.error_code, joined.member_id, joined.member_epoch) == (0, "a", 2)
    assert joined.heartbeat_interval_ms == 5000
    assert joined.assignment is not None
    held = [(each.topic_id, each.partitions) for each in joined.assignment.topic_partitions]
    assert held == [(topic_id, [0, 1])]

    stays = beat(client, "a", 2, version=version)
    assert (stays.error_code, stays.member_epoch, stays.assignment) == (0, 2, None)
    left = beat(client, "a", LEAVES, version=version)
    assert (left.error_code, left.member_epoch, left.heartbeat_interval_ms) == (0, -1, 0)
    assert beat(client, "a", 2, version=version).error_code == Error.UNKNOWN_MEMBER_ID


def test_only_version_0_gives_a_member_its_id(client: Client) -> None:
    answer = beat(client, "", version=0)
    assert (answer.error_code, len(answer.member_id or "")) == (0, 22)
    assert beat(client, "", version=1).error_message == "MemberId can't be empty."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group_id": " "}, "GroupId can't be empty."),
        ({"instance_id": ""}, "InstanceId can't be empty."),
        ({"rack_id": " "}, "RackId can't be empty."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"topic_partitions": None}, "TopicPartitions must be empty when (re-)joining."),
        (
            {"topic_partitions": [TopicPartitions(topic_id=bytes(16), partitions=[0])]},
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            {"subscribed_topic_names": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when"
            " (re-)joining.",
        ),
        ({"epoch": -3}, "MemberEpoch is invalid."),
        ({"epoch": LEAVES_FOR_A_WHILE}, "InstanceId can't be null."),
    ],
)
def test_what_a_member_must_say(client: Client, change: dict[str, Any], message: str) -> None:
    answer = beat(client, **change)
    assert (answer.error_code, answer.error_message) == (Error.INVALID_REQUEST, message)
    assert (answer.heartbeat_interval_ms, answer.assignment) == (0, None)
    assert beat(client, epoch=1).error_code == Error.GROUP_ID_NOT_FOUND, "no group is left"


@pytest.mark.parametrize("name", ["", "sticky"])
def test_the_broker_must_have_the_assignor(client: Client, name: str) -> None:
    answer = beat(client, server_assignor=name)
    assert answer.error_code == Error.UNSUPPORTED_ASSIGNOR
    assert answer.error_message == (
        f"ServerAssignor {name} is not supported. Supported assignors: uniform, range."
    )


def test_an_expression_must_be_one(client: Client) -> None:
    answer = beat(client, subscribed_topic_names=None, subscribed_topic_regex="(")
    assert answer.error_code == Error.INVALID_REGULAR_EXPRESSION


@pytest.mark.parametrize(
    ("member", "epoch", "error"),
    [
        ("a", 3, Error.FENCED_MEMBER_EPOCH),
        ("a", 1, Error.FENCED_MEMBER_EPOCH),
        ("b", 2, Error.UNKNOWN_MEMBER_ID),
        ("b", LEAVES, Error.UNKNOWN_MEMBER_ID),
    ],
)
def test_who_is_fenced(client: Client, member: str, epoch: int, error: Error) -> None:
    assert beat(client, "a").member_epoch == 2
    assert Error(beat(client, member, epoch).error_code) is error


def test_an_instance_is_released_before_another_takes_it(client: Client) -> None:
    assert beat(client, "a", instance_id="i").error_code == 0
    taken = beat(client, "b", instance_id="i")
    assert Error(taken.error_code) is Error.UNRELEASED_INSTANCE_ID
    away = beat(client, "a", LEAVES_FOR_A_WHILE, instance_id="i")
    assert (away.error_code, away.member_epoch) == (0, -2)
    assert beat(client, "b", instance_id="i").member_epoch == 2
    assert Error(beat(client, "a", 2).error_code) is Error.UNKNOWN_MEMBER_ID
