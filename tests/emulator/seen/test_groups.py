"""A group: its members, offsets and lag, and what a test does to it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.emulator.seen.members import SeenOffset
from odradek.wire import Error, Refused
from odradek.wire.stored.consumer_protocol import ConsumerProtocolAssignment
from odradek.wire.stored.keyed import keyed

from tests.emulator.seen.support.seen import Seen
from tests.requests.consumer_groups import beat
from tests.requests.groups import heartbeat_request, joined, stable, subscription
from tests.support.cluster import Client

NOON = datetime(2020, 5, 1, 12, tzinfo=UTC)


def assigned(topic: str, *partitions: int) -> bytes:
    entry = ConsumerProtocolAssignment.AssignedPartition(topic=topic, partitions=[*partitions])
    return keyed(ConsumerProtocolAssignment(assigned_partitions=[entry], user_data=None), 0)


@pytest.fixture
def coordinated(seen: Seen) -> Seen:
    """With topic t of two partitions and two records each, and `__consumer_offsets`."""
    seen.topic("t", partitions=2).produce_all(["a", "b", "c", "d"])
    seen.cluster.groups.ensure_topic()
    return seen


def test_a_group_that_does_not_exist(seen: Seen) -> None:
    group = seen.group()
    assert (group.type, group.state, group.protocol) == ("classic", "Dead", "")
    assert (group.generation, group.members, group.offsets()) == (None, (), {})
    assert group.lags() == {}
    with pytest.raises(Refused, match="group 'g' has no offsets, and so no lag: is it another"):
        group.lag()
    assert repr(group) == "<group g: Dead, generation None, no members, lag 0>"
    assert seen.cluster.topics.get("__consumer_offsets") is None  # a look creates nothing


def test_a_classic_group(coordinated: Seen, client: Client) -> None:
    member = stable(client, assigned("t", 1, 0))
    group = coordinated.group()
    assert (group.type, group.state, group.protocol, group.generation) == (
        *("classic", "Stable", "range"),
        1,
    )
    (seen,) = group.members
    assert (seen.member_id, seen.instance_id, seen.epoch) == (member.member_id, None, None)
    assert (seen.client_id, seen.host) == ("test", "127.0.0.1")
    assert seen.assignment == (("t", 0), ("t", 1))
    assert repr(seen) == f"<member {seen.member_id} of client 'test': t-0, t-1>"
    assert repr(group) == f"<group g: Stable, generation 1, {seen!r}, lag 4>"


def test_an_assignment_of_another_format(coordinated: Seen, client: Client) -> None:
    stable(client, b"all")
    assert coordinated.group().members[0].assignment == ()


def test_a_group_of_the_consumer_protocol(coordinated: Seen, client: Client) -> None:
    answer = beat(client, "a", instance_id="i")
    group = coordinated.group()
    assert (group.type, group.state, group.protocol) == ("consumer", "Stable", "uniform")
    assert group.generation == answer.member_epoch
    (seen,) = group.members
    assert (seen.member_id, seen.instance_id, seen.epoch) == ("a", "i", answer.member_epoch)
    assert seen.assignment == (("t", 0), ("t", 1))
    assert repr(seen) == "<member a of client 'test', instance 'i': t-0, t-1>"


def test_offsets_and_lag(coordinated: Seen, cluster: Cluster) -> None:
    group = coordinated.group()
    group.commit({("t", 1): 2, ("t", 0): (1, "half")})
    assert group.offsets() == {("t", 0): 1, ("t", 1): 2}
    assert group.committed() == {("t", 0): SeenOffset(1, "half"), ("t", 1): SeenOffset(2)}
    assert group.lags() == {("t", 0): 1, ("t", 1): 0}
    assert group.lag() == group.lag("t") == 1
    cluster.create_topic("u", 1, {})
    with pytest.raises(Refused, match="group 'g' has no offsets of topic u, and so no lag"):
        group.lag("u")
    assert group.state == "Empty"


def test_the_first_commit_creates_the_offsets_topic(seen: Seen) -> None:
    seen.topic("t")
    seen.group().commit({("t", 0): 0})
    assert seen.group().offsets() == {("t", 0): 0}


def test_a_commit_of_what_is_not_there(coordinated: Seen) -> None:
    with pytest.raises(Refused, match=r"committing t-7 for group 'g'") as refused:
        coordinated.group().commit({("t", 7): 0})
    assert refused.value.error is Error.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("offsets", "kind", "text"),
    [
        ({"t": 1}, TypeError, "offsets are given by (topic, partition), not by 't'"),
        ([("t", 0)], TypeError, "offsets are a dict by (topic, partition), not [('t', 0)]"),
        ({("t", 0): "1"}, TypeError, "what is committed of ('t', 0) is an offset (int), or a pair"),
        ({("t", 0): (1, None)}, TypeError, "what is committed of ('t', 0) is an offset (int), or"),
        ({("t", 0): -1}, ValueError, "the offset of ('t', 0) is from 0 on, not -1"),
    ],
)
def test_what_cannot_be_committed(
    coordinated: Seen, offsets: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        coordinated.group().commit(offsets)
    assert coordinated.group().offsets() == {}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_no_commit_from_outside_while_it_has_members(
    coordinated: Seen, client: Client, protocol: str
) -> None:
    stable(client) if protocol == "classic" else beat(client)
    why = "only while a group has no members. It has <member .*>: close its consumers, or kick them"
    with pytest.raises(Refused, match=why) as refused:
        coordinated.group().commit({("t", 0): 1})
    assert refused.value.error is Error.UNKNOWN_MEMBER_ID
    with pytest.raises(Refused, match=why):
        coordinated.group().reset("earliest", "t")
    assert coordinated.group().offsets() == {}


def test_reset(coordinated: Seen) -> None:
    group = coordinated.group()
    with pytest.raises(ValueError, match="group 'g' has committed nothing: name the topics"):
        group.reset("earliest")
    assert group.reset("latest", "t") == group.offsets() == {("t", 0): 2, ("t", 1): 2}
    coordinated.view()[0].truncate(1)
    assert group.reset("earliest") == group.offsets() == {("t", 0): 1, ("t", 1): 0}
    assert group.reset(1, ["t"]) == group.offsets() == {("t", 0): 1, ("t", 1): 1}
    with pytest.raises(ValueError, match=r"""to is "earliest", .*, not 'first'"""):
        group.reset("first")


def test_reset_to_a_time(seen: Seen) -> None:
    topic = seen.topic(partitions=2)
    for minute in range(3):
        topic.produce("x", timestamp=NOON + timedelta(minutes=minute), partition=0)
    topic.produce("x", timestamp=NOON, partition=1)
    group = seen.group()
    assert group.reset(NOON + timedelta(seconds=90), "t") == {("t", 0): 2, ("t", 1): 1}


def test_a_classic_group_rebalances(coordinated: Seen, client: Client) -> None:
    member = joined(client, metadata=subscription("t"))
    group = coordinated.group()
    group.rebalance()
    assert group.state == "PreparingRebalance"
    group.rebalance()  # once is enough
    told = client.ask(heartbeat_request(member), 3)
    assert told.error_code == Error.REBALANCE_IN_PROGRESS


def test_a_consumer_group_rebalances(coordinated: Seen, client: Client) -> None:
    before = beat(client).member_epoch
    coordinated.group().rebalance()
    assert coordinated.group().state == "Assigning"
    coordinated.cluster.advance(5_000)
    after = beat(client, "a", before)
    assert after.member_epoch == before + 1 == coordinated.group().generation
    assert coordinated.group().state == "Stable"


def test_nobody_rebalances(coordinated: Seen) -> None:
    with pytest.raises(Refused, match="there is no group 'g'") as refused:
        coordinated.group().rebalance()
    assert refused.value.error is Error.GROUP_ID_NOT_FOUND
    coordinated.group().commit({("t", 0): 0})
    with pytest.raises(Refused, match="'g' has no members that could rebalance"):
        coordinated.group().rebalance()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_is_kicked(coordinated: Seen, client: Client, protocol: str) -> None:
    stable(client) if protocol == "classic" else beat(client)
    group = coordinated.group()
    (member,) = group.members
    group.kick(member)
    assert (group.members, group.state) == ((), "Empty")
    with pytest.raises(
        Refused, match=f"kicking {member.member_id} out of .*: its members are none"
    ):
        group.kick(member.member_id)


def test_kicked_out_of_nowhere(seen: Seen, cluster: Cluster) -> None:
    with pytest.raises(Refused, match="kicking a out of group 'g': its members are none"):
        seen.group().kick("a")
    nobody: Any = 5
    with pytest.raises(TypeError, match="member is one of the group's members, or its id, not 5"):
        seen.group().kick(nobody)
