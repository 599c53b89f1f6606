"""Waits for groups and assertions about them, with what they say at the end of their time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator, GroupView, WaitTimeout
from odradek.storage import MemoryDisk
from odradek.wire import Refused
from odradek.wire.api.end_txn import EndTxnRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest
from odradek.wire.api.leave_group import LeaveGroupRequest
from odradek.wire.api.produce import ProduceRequest
from odradek.wire.records import NewRecord, build_batch
from odradek.wire.stored.consumer_protocol import ConsumerProtocolAssignment
from odradek.wire.stored.keyed import keyed

from tests.requests.groups import join_request, joined, sync_request
from tests.support.clock import NOW

SHORT_S = 0.05
SOON = {"group.initial.rebalance.delay.ms": 0}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(SOON, disk=MemoryDisk(), topics={"orders": 2}) as kafka:
        yield kafka


@pytest.fixture
def group(kafka: Emulator) -> GroupView:
    return kafka.group("g")


class Member:
    """A member that sends its requests from inside."""

    def __init__(self, kafka: Emulator) -> None:
        self._kafka = kafka
        self.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)  # which creates its topic
        self.joined = joined(self)

    def ask(self, request: Any, version: int) -> Any:
        return self._kafka._inside.ask(request, version)

    def sync(self, *partitions: int) -> None:
        entry = ConsumerProtocolAssignment.AssignedPartition(
            topic="orders", partitions=[*partitions]
        )
        told = ConsumerProtocolAssignment(assigned_partitions=[entry], user_data=None)
        assert self.ask(sync_request(self.joined, keyed(told, 0)), 3).error_code == 0

    def leave(self) -> None:
        member = LeaveGroupRequest.Member(member_id=self.joined.member_id)
        self.ask(LeaveGroupRequest(group_id="g", members=[member]), 3)


def told(action: Callable[[], Any]) -> list[str]:
    """The lines of the time-out that this raises, without the events."""
    with pytest.raises(WaitTimeout) as raised:
        action()
    return str(raised.value).partition("\nThe last events")[0].splitlines()


class InThread:
    """Something that waits in a thread of its own."""

    def __init__(self, kafka: Emulator, action: Callable[[], Any]) -> None:
        self._results: list[Any] = []
        self._thread = threading.Thread(target=lambda: self._results.append(action()))
        self._thread.start()
        while not kafka.run(lambda cluster: cluster.watchers):
            continue

    def result(self) -> Any:
        self._thread.join(30)
        (result,) = self._results
        return result


def test_stable_and_empty(kafka: Emulator, group: GroupView) -> None:
    group.wait_empty()
    waiting = InThread(kafka, lambda: group.wait_stable(1))
    member = Member(kafka)
    assert told(lambda: group.wait_stable(timeout=SHORT_S))[2] == (
        "  its state is CompletingRebalance, not Stable"
    )
    member.sync(0)
    (seen,) = waiting.result()
    assert seen.assignment == (("orders", 0),)
    waiting = InThread(kafka, lambda: group.wait_empty() or "empty")
    assert told(lambda: group.wait_empty(timeout=SHORT_S))[::2] == [
        "waited 0.05 s for group 'g' to have no members.",
        "  it has 1 member",
    ]
    member.leave()
    assert waiting.result() == "empty"


def test_how_many_members_are_missing(kafka: Emulator, group: GroupView) -> None:
    Member(kafka).sync(0)
    lines = told(lambda: group.wait_stable(members=2, timeout=SHORT_S))
    assert lines[0] == "waited 0.05 s for group 'g' to be stable with 2 members."
    assert lines[1].startswith("There is <group g: Stable, generation 1, <member ")
    assert lines[2:] == ["  it has 1 member, not 2"]


def test_assigned(kafka: Emulator, group: GroupView) -> None:
    waiting = InThread(kafka, lambda: group.wait_assigned("orders"))
    member = Member(kafka)
    member.sync(1)
    lines = told(lambda: group.wait_assigned("orders", timeout=SHORT_S))
    assert lines[0] == "waited 0.05 s for group 'g' to have all partitions of orders assigned."
    assert lines[2:] == ["  orders-0 is assigned to nobody"]
    member.joined = member.ask(join_request(member.joined.member_id), 7)
    member.sync(0, 1)
    assert [each.assignment for each in waiting.result()] == [(("orders", 0), ("orders", 1))]
    with pytest.raises(Refused, match="there is no topic 'nothing'"):
        group.wait_assigned("nothing")


def test_consumed(kafka: Emulator, group: GroupView) -> None:
    orders = kafka.topic("orders")
    assert group.wait_consumed("orders") == {}  # there is nothing
    assert told(lambda: group.wait_consumed(timeout=SHORT_S))[::2] == [
        "waited 0.05 s for group 'g' to have consumed all of its topics.",
        "  it has committed nothing, and has no partition assigned",
    ]
    orders.produce_all(["a", "b", "c"])
    group.commit({("orders", 0): 1})
    assert told(lambda: group.wait_consumed("orders", timeout=SHORT_S)) == [
        "waited 0.05 s for group 'g' to have consumed orders.",
        "There is <group g: Empty, generation 0, no members, lag 1>.",
        "  of orders-0 1 is committed, its end is 2",
        "  of orders-1 nothing is committed, its end is 1",
    ]
    waiting = InThread(kafka, lambda: group.wait_consumed("orders"))
    group.commit({("orders", 0): 2})
    assert group.wait_consumed() == {("orders", 0): 2}
    group.commit({("orders", 1): 1})
    assert waiting.result() == {("orders", 0): 2, ("orders", 1): 1}
    orders.produce("deleted", partition=1)
    orders.empty()
    assert group.wait_consumed("orders") == {("orders", 0): 2, ("orders", 1): 1}


def transaction(kafka: Emulator, *, committed: bool | None) -> None:
    """Of one record in orders-0; left open with None."""
    ask = kafka._inside.ask
    ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 4)
    name, timeout_ms = "tx", 60_000
    begun = ask(InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=timeout_ms), 5)
    batch = build_batch(
        [NewRecord(NOW, None, b"in a transaction", ())],
        producer_id=begun.producer_id,
        producer_epoch=begun.producer_epoch,
        base_sequence=0,
        transactional=True,
    )
    entry = ProduceRequest.Topic.Partition(index=0, records=batch)
    topics = [ProduceRequest.Topic(name="orders", partition_data=[entry])]
    ask(ProduceRequest(transactional_id=name, acks=-1, timeout_ms=9999, topic_data=topics), 12)
    if committed is not None:
        ended = ask(
            EndTxnRequest(
                transactional_id=name,
                producer_id=begun.producer_id,
                producer_epoch=begun.producer_epoch,
                committed=committed,
            ),
            5,
        )
        assert ended.error_code == 0


def test_markers_and_what_was_aborted_need_not_be_committed(
    kafka: Emulator, group: GroupView
) -> None:
    orders = kafka.topic("orders")
    transaction(kafka, committed=False)
    assert orders[0].log_end_offset == 2
    assert group.wait_consumed("orders") == {}
    assert told(
        lambda: group.wait_consumed("orders", isolation="read_uncommitted", timeout=SHORT_S)
    )[2:] == ["  of orders-0 nothing is committed, its end is 2"]
    transaction(kafka, committed=True)
    assert len(told(lambda: group.wait_consumed("orders", timeout=SHORT_S))) == 3
    group.commit({("orders", 0): 3})  # the marker is at 3
    assert group.wait_consumed("orders") == {("orders", 0): 3}
    transaction(kafka, committed=None)
    assert group.wait_consumed("orders") == {("orders", 0): 3}
    orders.produce("after it", partition=0)
    assert group.wait_consumed("orders") == {("orders", 0): 3}  # none is given to a consumer yet


def test_committed(kafka: Emulator, group: GroupView) -> None:
    waiting = InThread(kafka, lambda: group.assert_committed({("orders", 0): 2}, within=30))
    group.commit({("orders", 0): 1, ("orders", 1): (1, "done")})
    assert told(
        lambda: group.assert_committed(
            {("orders", 0): 2, ("orders", 1): (1, "no"), ("orders", 7): 0}, within=SHORT_S
        )
    ) == [
        "waited 0.05 s for group 'g' to have committed orders-0: 2, orders-1: (1, 'no'), "
        "orders-7: 0.",
        "There is <group g: Empty, generation 0, no members, lag -2>.",
        "  orders-0: 1, expected 2",
        "  orders-1[1]: 'done', expected 'no'",
        "  orders-7: nothing is committed, expected 0",
    ]
    group.commit({("orders", 0): 2})
    assert waiting.result() is None
    group.assert_committed({("orders", 0): lambda offset: offset > 1, ("orders", 1): (1, "done")})


def test_the_twins(kafka: Emulator, group: GroupView) -> None:
    async def main() -> None:
        await group.await_empty()
        member = Member(kafka)
        member.sync(0, 1)
        assert len(await group.await_stable(1)) == 1
        assert len(await group.await_assigned("orders")) == 1
        assert await group.await_consumed() == {}
        with pytest.raises(WaitTimeout, match=r"waited 0.05 s for group 'g' to have no members"):
            await group.await_empty(timeout=SHORT_S)
        with pytest.raises(WaitTimeout, match=r"orders-0: nothing is committed, expected 1"):
            await group.aassert_committed({("orders", 0): 1}, within=SHORT_S)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda group: group.wait_stable(0), "members is a whole number .* use wait_empty"),
        (lambda group: group.wait_stable(-1), "members is a whole number from 1 on, not -1"),
        (lambda group: group.wait_stable("x"), "members is a whole number, not 'x'"),
        (lambda group: group.wait_stable(timeout="x"), "timeout is a number of seconds, not 'x'"),
        (
            lambda group: group.assert_committed({"orders": 1}),
            r"offsets are given by \(topic, partition\), not by 'orders'",
        ),
        (lambda group: group.assert_committed(3), "offsets are a dict by"),
        (lambda group: group.assert_committed({}, within=-1), "within is a number of seconds"),
    ],
)
def test_what_makes_no_sense_is_refused(
    group: GroupView, call: Callable[[GroupView], Any], text: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=text):
        call(group)
