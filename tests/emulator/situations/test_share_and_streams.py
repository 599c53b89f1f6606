"""Situations of share groups and streams groups: what members are told, and what becomes of what
they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator, Error, Refused
from odradek.emulator.groups.streams.states import StatusCode
from odradek.emulator.seen import NewRecord
from odradek.storage import MemoryDisk
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.consumer_groups import beat
from tests.requests.groups import stable
from tests.requests.share_groups import ACCEPT, acquired, share_acknowledge, share_beat, share_fetch
from tests.requests.streams_groups import held, statuses, streams_beat, subtopology, topology
from tests.support.connection import Connection

STATEFUL = topology(subtopology(sources=["t"], changelogs=["changes"]))
AT_ONCE = {
    "group.share.assignment.interval.ms": 0,
    "group.streams.assignment.interval.ms": 0,
    "group.streams.initial.rebalance.delay.ms": 0,
}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(AT_ONCE, disk=MemoryDisk(), topics={"t": 2}) as kafka:
        kafka.timeout = 30
        kafka.share_group("g").set_config({"share.auto.offset.reset": "earliest"})
        yield kafka


@pytest.fixture
def client(kafka: Emulator) -> Iterator[Connection]:
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        yield client


def part(kafka: Emulator) -> tuple[bytes, int]:
    return kafka.run(lambda cluster: cluster.topic("t").id), 0


def in_share_group(client: Connection) -> None:
    epoch = share_beat(client).member_epoch
    share_beat(client, epoch=epoch)


def acknowledged(client: Connection, kafka: Emulator, offset: int, epoch: int) -> Error:
    answer = share_acknowledge(client, {part(kafka): [(offset, offset, [ACCEPT])]}, epoch)
    return Error(answer.error_code or answer.responses[0].partitions[0].error_code)


def test_a_lock_ends_while_a_member_works(kafka: Emulator, client: Connection) -> None:
    kafka.topic("t").produce_all([NewRecord(b"1", partition=0), NewRecord(b"2", partition=0)])
    in_share_group(client)
    with kafka.situations.lock_ends_in_batch("g") as ends:
        assert repr(ends) == "kafka.situations.lock_ends_in_batch('g')"
        assert acquired(share_fetch(client, {part(kafka): ()})) == [(0, 1, 1)]
        assert ends.wait_hit() == 1
        assert acknowledged(client, kafka, 0, 1) is Error.INVALID_RECORD_STATE
        assert acquired(share_fetch(client, epoch=2)) == [(0, 1, 2)]
        assert acknowledged(client, kafka, 0, 3) is Error.NONE  # it ends once
    assert "did not acknowledge offsets 0 to 1 of t-0 in group g in time" in kafka.timeline()


def test_locks_end_until_the_limit_archives(kafka: Emulator, client: Connection) -> None:
    kafka.share_group("g").set_config({"share.delivery.count.limit": 2})
    kafka.topic("t").produce(b"1", partition=0)
    in_share_group(client)
    ends = kafka.situations.lock_ends_in_batch(kafka.share_group("g"), 2)
    assert acquired(share_fetch(client, {part(kafka): ()})) == [(0, 0, 1)]
    assert acquired(share_fetch(client, epoch=1)) == [(0, 0, 2)]
    assert acquired(share_fetch(client, epoch=2)) == []
    assert (repr(ends), ends.hits) == ("kafka.situations.lock_ends_in_batch('g', times=2)", 2)
    assert kafka.share_group("g").lag("t") == 0


def test_a_record_that_is_never_done(kafka: Emulator, client: Connection) -> None:
    kafka.topic("t").produce_all([NewRecord(b"1", partition=0), NewRecord(b"2", partition=0)])
    in_share_group(client)
    poison = kafka.situations.poison_record("g", kafka.topic("t"), 1)
    assert repr(poison) == "kafka.situations.poison_record('g', 't', 1)"
    share_fetch(client, {part(kafka): ()})
    for number in range(5):
        assert acknowledged(client, kafka, 1, 2 * number + 1) is Error.NONE
        share_fetch(client, epoch=2 * number + 2)
    assert poison.hits == 5
    assert "group g gets offset 1 of t-0 no more" in kafka.timeline()
    kafka.check_faults()


def test_a_record_that_is_poison_no_more(kafka: Emulator, client: Connection) -> None:
    kafka.topic("t").produce(b"1", partition=0)
    in_share_group(client)
    with kafka.situations.poison_record("g", "t", 0):
        share_fetch(client, {part(kafka): ()})
        assert acknowledged(client, kafka, 0, 1) is Error.NONE
        assert acquired(share_fetch(client, epoch=2)) == [(0, 0, 2)]
    assert acknowledged(client, kafka, 0, 3) is Error.NONE
    assert acquired(share_fetch(client, epoch=4)) == []
    with pytest.raises(Refused, match="there is no topic 'u'"):
        kafka.situations.poison_record("g", "u", 0)


def test_a_share_session_that_is_lost(kafka: Emulator, client: Connection) -> None:
    kafka.topic("t").produce(b"1", partition=0)
    in_share_group(client)
    with pytest.raises(ValueError, match="has no share session: it has not fetched yet"):
        kafka.situations.share_session_lost("g")
    share_fetch(client, {part(kafka): ()})
    (gone,) = kafka.situations.share_session_lost("g")
    assert (gone.topic, gone.partition, gone.offset, gone.member_id) == ("t", 0, 0, "a")
    assert kafka.share_group("g").in_flight == ()
    assert acknowledged(client, kafka, 0, 1) is Error.SHARE_SESSION_NOT_FOUND
    assert acquired(share_fetch(client, {part(kafka): ()})) == [(0, 0, 2)]


@pytest.mark.parametrize("joins", [beat, share_beat, streams_beat])
def test_a_zombie(kafka: Emulator, client: Connection, joins: Callable[..., Any]) -> None:
    epoch = joins(client).member_epoch
    assert kafka.situations.zombie_consumer("g").member_id == "a"
    assert joins(client, epoch=epoch).error_code == Error.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("joins", [beat, share_beat, streams_beat])
def test_a_fenced_member(kafka: Emulator, client: Connection, joins: Callable[..., Any]) -> None:
    epoch = joins(client).member_epoch
    fenced = kafka.situations.member_fenced("g")
    assert repr(fenced) == "kafka.situations.member_fenced('g')"
    assert joins(client, epoch=epoch).error_code == Error.FENCED_MEMBER_EPOCH
    assert joins(client).error_code == Error.NONE  # it joins again
    assert fenced.hits == 1
    kafka.check_faults()


def test_a_member_of_a_classic_group_has_no_epoch(kafka: Emulator, client: Connection) -> None:
    stable(client)
    with pytest.raises(ValueError, match="its group is a classic one"):
        kafka.situations.member_fenced("g")


def test_which_member_is_fenced(kafka: Emulator, client: Connection) -> None:
    streams_beat(client)
    streams_beat(client, "b")
    group = kafka.streams_group("g")
    with pytest.raises(ValueError, match=r"which member\? those of 'g' are: a, b"):
        kafka.situations.member_fenced(group)
    fenced = kafka.situations.member_fenced(group, "b")
    assert repr(fenced) == "kafka.situations.member_fenced('g', member='b')"
    assert streams_beat(client, epoch=2, active={"0": [0, 1]}).error_code == Error.NONE
    assert streams_beat(client, "b", 2, active={}).error_code == Error.FENCED_MEMBER_EPOCH


def test_a_task_moves_with_a_warm_up(kafka: Emulator, client: Connection) -> None:
    kafka.create_topic("changes", 2)
    a = streams_beat(client, topology=STATEFUL)
    b = streams_beat(client, "b", topology=STATEFUL)
    a = streams_beat(client, epoch=a.member_epoch, active=held(a))
    assert held(a) == {"0": [0]}
    a = streams_beat(client, epoch=a.member_epoch, active=held(a))
    b = streams_beat(client, "b", b.member_epoch, active={})
    assert held(b) == {"0": [1]}
    group = kafka.streams_group("g")
    with kafka.situations.task_moves("g", "0_0", to="b") as moves:
        assert repr(moves) == "kafka.situations.task_moves('g', '0_0', 'b')"
        b = streams_beat(client, "b", b.member_epoch, active={"0": [1]})
        assert (held(b), held(b, "standby")) == ({"0": [1]}, {"0": [0]})
        a = streams_beat(client, epoch=a.member_epoch, active={"0": [0]})
        assert (held(a), moves.hits) == (None, 1)
        assert [(each.partition, each.member_id) for each in group.tasks if each.is_active] == [
            (0, "a"),
            (1, "b"),
        ]
    a = streams_beat(client, epoch=a.member_epoch, active={"0": [0]})
    assert held(a) == {}
    a = streams_beat(client, epoch=a.member_epoch, active={})
    b = streams_beat(client, "b", b.member_epoch, active={"0": [1]}, standby={"0": [0]})
    assert held(b, "standby") == {}
    b = streams_beat(client, "b", b.member_epoch, active={"0": [1]})
    b = streams_beat(client, "b", b.member_epoch, active={"0": [1]})
    assert held(b) == {"0": [0, 1]}
    assert "a task moves, by the test" in kafka.timeline()


def test_a_task_that_cannot_move(kafka: Emulator, client: Connection) -> None:
    for task, kind in (("0", ValueError), ("0_x", ValueError), (0, TypeError)):
        with pytest.raises(kind, match="a task is"):
            kafka.situations.task_moves("g", task, to="a")  # type: ignore[arg-type]
    streams_beat(client)
    with pytest.raises(Refused, match="task 0_1 is no other member's"):
        kafka.situations.task_moves("g", "0_1", to="a")
    with pytest.raises(Refused, match="has no member 'c'; its members are: a"):
        kafka.situations.task_moves("g", "0_1", to="c")
    kafka.streams_group("g").rebalance()
    with pytest.raises(Refused, match="are about to be assigned: it is Assigning"):
        kafka.situations.task_moves("g", "0_1", to="a")


def test_internal_topics_that_are_missing(kafka: Emulator, client: Connection) -> None:
    epoch = streams_beat(client, topology=STATEFUL).member_epoch
    assert "changes" in kafka.topics()
    epoch = streams_beat(client, epoch=epoch, active={}).member_epoch
    with kafka.situations.internal_topics_missing("g") as missing:
        answer = streams_beat(client, epoch=epoch, active={"0": [0, 1]})
        (status,) = statuses(answer)
        assert status == (
            StatusCode.MISSING_INTERNAL_TOPICS,
            f"Internal topics are missing: changes; Creation failed: changes ({missing}).",
        )
        assert (missing.hits, held(answer)) == (1, {})
        assert kafka.streams_group("g").state == "NotReady"
        assert "changes" not in kafka.topics()
    answer = streams_beat(client, epoch=answer.member_epoch, active={})
    assert "changes" in kafka.topics()
    answer = streams_beat(client, epoch=answer.member_epoch, active={})
    assert held(answer) == {"0": [0, 1]}


def test_no_internal_topics(kafka: Emulator, client: Connection) -> None:
    streams_beat(client)
    with pytest.raises(ValueError, match="no internal topics that could be missing"):
        kafka.situations.internal_topics_missing("g")


def test_a_topology_that_changes(kafka: Emulator, client: Connection) -> None:
    epoch = streams_beat(client).member_epoch
    assert kafka.situations.topology_changed("g") == 1
    answer = streams_beat(client, epoch=epoch, active={"0": [0, 1]})
    assert statuses(answer) == [
        (
            StatusCode.STALE_TOPOLOGY,
            "The member's topology epoch 0 is behind the group's topology epoch 1.",
        )
    ]
    newer = topology(subtopology(), epoch=1)
    assert statuses(streams_beat(client, "b", topology=newer)) == []
    assert kafka.situations.topology_changed(kafka.streams_group("g")) == 2
    with pytest.raises(Refused, match="Group h not found"):
        kafka.situations.topology_changed("h")


def test_no_streams_group_yet(kafka: Emulator) -> None:
    with pytest.raises(Refused, match="there is no streams group 'g'"):
        kafka.situations.topology_changed("g")
    with pytest.raises(ValueError, match="which member"):
        kafka.situations.zombie_consumer("g")
