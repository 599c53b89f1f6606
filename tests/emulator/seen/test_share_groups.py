"""A share group: its members, offsets, what is in flight, and what a test does to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from odradek.emulator import WaitTimeout
from odradek.emulator.cluster import Cluster
from odradek.emulator.seen.members import SeenInFlight
from odradek.emulator.seen.waiting import polled
from odradek.wire import Refused
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest

from tests.emulator.seen.support.seen import Seen
from tests.requests.share_groups import (
    ACCEPT,
    REJECT,
    RELEASE,
    acquired,
    share_acknowledge,
    share_beat,
    share_fetch,
)
from tests.support.clock import NOW
from tests.support.cluster import client_of

LOCK_MS = 30_000


class Watched(Seen):
    """Waits look again and again, in this thread."""

    def wait(self, wait, timeout=None):  # type: ignore[no-untyped-def]
        return polled(wait, 0.0)


class Worker:
    """Member `member_id` of group g with client id w-ID, which reads t-0."""

    def __init__(self, cluster: Cluster, member_id: str) -> None:
        self.client = client_of(cluster, f"w-{member_id}")
        self.member_id = member_id
        self.epoch = 0
        assert share_beat(self.client, member_id).error_code == 0
        self.part = (cluster.topic("t").id, 0)

    def take(self, most: int = 500) -> list[tuple[int, int, int]]:
        named = {} if self.epoch else {self.part: ()}
        more = {"max_records": most, "share_acquire_mode": 1}
        answer = share_fetch(self.client, named, self.epoch, self.member_id, **more)
        assert answer.error_code == 0
        self.epoch += 1
        return acquired(answer)

    def does(self, kind: int, first: int, last: int) -> None:
        parts = {self.part: [(first, last, [kind])]}
        answer = share_acknowledge(self.client, parts, self.epoch, self.member_id)
        assert answer.responses[0].partitions[0].error_code == 0
        self.epoch += 1


@pytest.fixture
def watched(cluster: Cluster) -> Watched:
    return Watched(cluster)


@pytest.fixture
def worker(watched: Watched, cluster: Cluster) -> Worker:
    """A member, and topic t with records 0 to 3, of which none is acquired yet."""
    watched.topic("t")
    cluster.groups.ensure_topic()
    setting = IncrementalAlterConfigsRequest.Resource.Config(
        name="share.auto.offset.reset", config_operation=0, value="earliest"
    )
    asked = IncrementalAlterConfigsRequest.Resource(
        resource_type=32, resource_name="g", configs=[setting]
    )
    answer = client_of(cluster).ask(
        IncrementalAlterConfigsRequest(resources=[asked], validate_only=False), 1
    )
    assert answer.responses[0].error_code == 0
    found = Worker(cluster, "a")
    watched.view("t").produce_all(["a", "b", "c", "d"])
    return found


def test_a_group_that_does_not_exist(watched: Watched) -> None:
    group = watched.share_group()
    assert (group.state, group.epoch, group.members) == ("Dead", None, ())
    assert (group.start_offsets(), group.lags(), group.in_flight) == ({}, {}, ())
    with pytest.raises(Refused, match="group 'g' has no offsets, and so no lag"):
        group.lag()
    assert repr(group) == "<share group g: Dead, epoch None, no members, lag 0>"
    group.wait_empty()
    with pytest.raises(WaitTimeout, match="it reads no topic yet"):
        group.wait_acknowledged()


def test_members(watched: Watched, worker: Worker, cluster: Cluster) -> None:
    group = watched.share_group()
    assert group.state == "Stable"
    Worker(cluster, "b")
    assert [each.client_id for each in group.wait_stable(2)] == ["w-a", "w-b"]
    assert [each.assignment for each in group.members] == [(), ()]
    cluster.advance(5_000)
    for each in group.members:
        assert share_beat(worker.client, each.member_id, each.epoch or 0).error_code == 0
    assert [each.assignment for each in group.members] == [(("t", 0),), (("t", 0),)]


def test_what_is_in_flight(watched: Watched, worker: Worker) -> None:
    group = watched.share_group()
    assert worker.take(most=2) == [(0, 1, 1)]
    first, second = group.in_flight
    assert first == SeenInFlight("t", 0, 0, "a", 1, NOW + LOCK_MS, "w-a")
    assert repr(second) == "<t-0 offset 1 at client 'w-a', delivery 1>"
    worker.does(ACCEPT, 0, 0)
    worker.does(RELEASE, 1, 1)
    assert group.in_flight == ()
    assert (group.start_offsets(), group.lags(), group.lag("t")) == (
        {("t", 0): 1},
        {("t", 0): 3},
        3,
    )


def test_a_lock_that_a_test_ends(watched: Watched, worker: Worker) -> None:
    group = watched.share_group()
    worker.take()
    assert group.expire_locks() == 4
    assert group.in_flight == ()
    assert worker.take() == [(0, 3, 2)]


def test_what_a_test_releases_of_one_member(
    watched: Watched, worker: Worker, cluster: Cluster
) -> None:
    group = watched.share_group()
    assert worker.take(most=2) == [(0, 1, 1)]
    other = Worker(cluster, "b")
    assert other.take() == [(2, 3, 1)]
    assert group.redeliver("b") == 2
    assert {each.member_id for each in group.in_flight} == {"a"}
    assert worker.take() == [(2, 3, 2)]
    assert group.redeliver() == 4
    assert other.take() == [(0, 1, 2), (2, 3, 3)]
    assert group.expire_locks(next(each for each in group.members if each.member_id == "b")) == 4


def test_a_record_that_is_poison(watched: Watched, worker: Worker) -> None:
    group = watched.share_group()
    group.poison("t", 2)
    assert worker.take() == [(0, 3, 1)]
    worker.does(ACCEPT, 0, 3)
    for delivery in range(2, 6):
        assert worker.take() == [(2, 2, delivery)]
        worker.does(ACCEPT, 2, 2)
    assert worker.take() == []
    group.wait_acknowledged("t")
    told = [each.sentence.partition(" in 2 ")[0] for each in watched.events()]
    assert told[-2:] == [
        "w-a released offset 2 of t-0 in group g",
        "group g gets offset 2 of t-0 no more (delivered 5 times, which is the limit)",
    ]


def test_who_rejects_poison_is_done_with_it(watched: Watched, worker: Worker) -> None:
    group = watched.share_group()
    group.poison("t", 0)
    group.poison("t", 9)  # not written yet
    worker.take()
    worker.does(REJECT, 0, 3)
    group.wait_acknowledged("t")


def test_what_cannot_be_made_poison(watched: Watched, worker: Worker) -> None:
    group = watched.share_group()
    worker.take()
    worker.does(ACCEPT, 0, 1)
    with pytest.raises(ValueError, match="is done with offset 1 of t-0: it begins at 2"):
        group.poison("t", 1)
    with pytest.raises(ValueError, match="offset is 0 or more, not -1"):
        group.poison("t", -1)
    with pytest.raises(TypeError, match="offset is an int, not '3'"):
        group.poison("t", "3")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a topic is given by its name, a str, not <"):
        group.poison(watched.view("t"), 0)  # type: ignore[arg-type]
    for topic, partition, told in (
        ("none", 0, "there is no topic 'none'; there are "),
        ("t", 7, "there is no partition 7"),
    ):
        with pytest.raises(Refused, match=f"UNKNOWN_TOPIC_OR_PARTITION: .*{told}"):
            group.poison(topic, 0, partition=partition)


def test_a_view_of_another_type_says_which_one_shows_the_group(
    watched: Watched, worker: Worker
) -> None:
    text = r"there is a share group of this name: kafka.share_group\('g'\) shows it"
    with pytest.raises(WaitTimeout, match=text):
        watched.group().wait_stable(1)
    with pytest.raises(WaitTimeout) as raised:
        watched.share_group("h").wait_stable(1)
    assert "of this name" not in str(raised.value)


def test_topics_are_given_by_their_names(watched: Watched) -> None:
    group = watched.share_group()
    waits: tuple[Callable[..., Any], ...] = (
        group.wait_acknowledged,
        group.assert_acknowledged,
        group.wait_assigned,
    )
    for wait in waits:
        with pytest.raises(TypeError, match=r"a topic is given by its name, a str, not \['t'\]"):
            wait(["t"])


def test_a_member_that_is_none(watched: Watched, worker: Worker) -> None:
    group = watched.share_group()
    with pytest.raises(ValueError, match="share group 'g' has no member 'x'; its members: a"):
        group.expire_locks("x")
    with pytest.raises(TypeError, match="member is one of the group's members, or its id, not 3"):
        group.redeliver(3)  # type: ignore[arg-type]


def test_until_all_is_acknowledged(watched: Watched, worker: Worker) -> None:
    group = watched.share_group()
    with pytest.raises(WaitTimeout) as raised:
        group.wait_acknowledged("t")
    text = str(raised.value)
    assert "for group 'g' to have acknowledged t." in text
    assert "of t-0 nothing is acknowledged, its end is 4" in text
    assert "unless its config share.auto.offset.reset says so" in text
    worker.take()
    worker.does(ACCEPT, 0, 2)
    with pytest.raises(WaitTimeout, match="t-0 has 1 record left to be acknowledged"):
        group.assert_acknowledged("t")
    worker.does(REJECT, 3, 3)
    group.wait_acknowledged("t")
    group.wait_acknowledged()
    group.assert_acknowledged()


def test_a_partition_without_records_is_acknowledged(watched: Watched, cluster: Cluster) -> None:
    watched.topic("t")
    cluster.groups.ensure_topic()
    Worker(cluster, "a")
    watched.share_group().wait_acknowledged("t")
    assert watched.share_group().start_offsets() == watched.share_group().lags() == {("t", 0): -1}


def test_what_is_told(watched: Watched, worker: Worker, cluster: Cluster) -> None:
    worker.take(most=2)
    worker.take()
    worker.does(ACCEPT, 0, 0)
    worker.does(ACCEPT, 1, 1)
    worker.does(REJECT, 2, 2)
    worker.does(RELEASE, 3, 3)
    worker.take()
    cluster.advance(LOCK_MS)
    for _ in range(3):
        worker.take()
        watched.share_group().redeliver()
    kinds = {"took", "acknowledged", "released", "rejected", "lock expired", "archived"}
    told = [each.sentence.partition(" in 2 ")[0] for each in watched.events() if each.kind in kinds]
    assert told == [
        "w-a took offsets 0 to 3 of t-0 in group g, delivery 1",
        "w-a acknowledged offsets 0 to 1 of t-0 in group g",
        "w-a rejected offset 2 of t-0 in group g",
        "w-a released offset 3 of t-0 in group g",
        "w-a took offset 3 of t-0 in group g, delivery 2",
        "w-a did not acknowledge offset 3 of t-0 in group g in time",
        "w-a took offset 3 of t-0 in group g, delivery 3",
        "w-a released offset 3 of t-0 in group g (by the test)",
        "w-a took offset 3 of t-0 in group g, delivery 4",
        "w-a released offset 3 of t-0 in group g (by the test)",
        "w-a took offset 3 of t-0 in group g, delivery 5",
        "w-a released offset 3 of t-0 in group g (by the test)",
        "group g gets offset 3 of t-0 no more (delivered 5 times, which is the limit)",
    ]


def test_nothing_is_told_where_two_take_turns_as_if_one_had_all(
    watched: Watched, worker: Worker, cluster: Cluster
) -> None:
    other = Worker(cluster, "b")
    for each in (worker, other, worker):
        each.take(most=1)
    told = [each.sentence for each in watched.events() if each.kind == "took"]
    assert [each.partition(" of ")[0] for each in told] == [
        "w-a took offset 0",
        "w-b took offset 1",
        "w-a took offset 2",
    ]
