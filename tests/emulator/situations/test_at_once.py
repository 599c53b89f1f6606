"""Situations that take effect at once: what they return, and what clients are told afterwards."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from odradek.compat.clients import wait_until
from odradek.emulator import Emulator, Error, Refused
from odradek.emulator.transactions.transaction import Producer
from odradek.wire.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.stored.consumer_protocol import ConsumerProtocolAssignment
from odradek.wire.stored.keyed import keyed

from tests.requests.fetch import fetch
from tests.requests.groups import (
    heartbeat_request,
    join_request,
    joined,
    stable,
    subscription,
    sync_request,
)
from tests.requests.produce import batch, produce, produce_numbered
from tests.requests.transactions import add_request, end_request, init_request, new_producer_id
from tests.support.connection import BrokerAt, Connection


def begun(client: Any, name: str = "x") -> Producer:
    """A transaction that is open in orders-0."""
    client.ask(FindCoordinatorRequest(coordinator_keys=[name], key_type=1), 4)
    answer = client.ask(init_request(name), 4)
    who = Producer(answer.producer_id, answer.producer_epoch)
    client.ask(add_request(who, [("orders", [0])], name), 3)
    return who


def test_a_zombie_producer(kafka: Emulator) -> None:
    client = BrokerAt(kafka.bootstrap_servers)
    who = begun(client)
    found = kafka.situations.zombie_producer("x")
    assert (found.state, found.producer_epoch > who.epoch) == ("Empty", True)
    assert client.ask(end_request(who), 4).error_code == Error.PRODUCER_FENCED


def test_a_zombie_producer_in_a_coroutine(kafka: Emulator) -> None:
    who = begun(BrokerAt(kafka.bootstrap_servers))
    found = asyncio.run(kafka.situations.azombie_producer("x"))
    assert found.producer_epoch > who.epoch


def test_no_such_producer(kafka: Emulator) -> None:
    begun(BrokerAt(kafka.bootstrap_servers))
    with pytest.raises(Refused, match=r"no producer has begun as 'y'; the .* are: 'x'"):
        kafka.situations.zombie_producer("y")


def test_a_transaction_that_times_out(kafka: Emulator) -> None:
    client = BrokerAt(kafka.bootstrap_servers)
    who = begun(client)
    found = kafka.situations.transaction_timeout("x")
    assert found.state == "CompleteAbort"
    assert client.ask(end_request(who), 4).error_code == Error.PRODUCER_FENCED
    assert "open for longer than its timeout" in kafka.timeline()
    with pytest.raises(Refused, match="no transaction of 'x' is open: it is CompleteAbort"):
        kafka.situations.transaction_timeout("x")


def test_producers_that_are_forgotten(kafka: Emulator) -> None:
    client = BrokerAt(kafka.bootstrap_servers)
    number = new_producer_id(client)
    assert produce_numbered(client, number, 0, [b"a"], "orders") == (Error.NONE, 0)
    assert produce_numbered(client, number, 0, [b"a"], "orders") == (Error.NONE, 0)  # known
    (gone,) = kafka.situations.producer_id_expired("orders")
    assert (gone.producer_id, gone.partition) == (number, 0)
    assert produce_numbered(client, number, 0, [b"a"], "orders") == (Error.NONE, 1)
    with pytest.raises(ValueError, match=r"bills knows of no idempotent producer .*: none has"):
        kafka.situations.producer_id_expired(kafka.topic("bills"))


def test_a_producer_with_an_open_transaction_is_not_forgotten(kafka: Emulator) -> None:
    client = BrokerAt(kafka.bootstrap_servers)
    who = begun(client)
    numbers: dict[str, Any] = {
        "producer_id": who.producer_id,
        "producer_epoch": who.epoch,
        "base_sequence": 0,
    }
    data = batch(b"a", time=kafka.now, **numbers, transactional=True)
    assert produce(client, data, topic="orders", transactional_id="x").error_code == Error.NONE
    with pytest.raises(ValueError, match="have a transaction open"):
        kafka.situations.producer_id_expired("orders")


def test_a_zombie_consumer(kafka: Emulator) -> None:
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        member = stable(client)
        gone = kafka.situations.zombie_consumer("g")
        assert gone.member_id == member.member_id
        answer = client.ask(heartbeat_request(member), 4)
    assert answer.error_code == Error.UNKNOWN_MEMBER_ID
    assert "no heartbeat for 10000 ms, its session timeout" in kafka.timeline()


def test_which_consumer(kafka: Emulator) -> None:
    group = kafka.group("g")
    with pytest.raises(ValueError, match=r"which member\? those of 'g' are: none"):
        kafka.situations.zombie_consumer(group)
    with Connection(kafka.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        member = stable(client)
        with pytest.raises(Refused, match=r"has no member 'm'; its members are: "):
            kafka.situations.zombie_consumer(group, "m")
        with pytest.raises(TypeError, match="member is one of the group's"):
            kafka.situations.zombie_consumer(group, 1)  # type: ignore[arg-type]
        assert kafka.situations.zombie_consumer(group, member.member_id).member_id


def test_a_member_that_waits_for_others_is_kept_alive(kafka: Emulator) -> None:
    with Connection(kafka.bootstrap_servers) as one, Connection(kafka.bootstrap_servers) as other:
        one.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        stable(one)
        second = other.ask(join_request(), 4)
        other.send(join_request(second.member_id), 4)
        wait_until(lambda: len(kafka.group("g").members) == 2, "both have joined")
        with pytest.raises(Refused, match="which keeps it alive"):
            kafka.situations.zombie_consumer("g", second.member_id)


def test_a_zombie_of_the_newer_protocol(kafka: Emulator) -> None:
    def beat(epoch: int, member: str = "m") -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id=member,
            member_epoch=epoch,
            rebalance_timeout_ms=1000 if epoch == 0 else -1,
            subscribed_topic_names=["orders"] if epoch == 0 else None,
            topic_partitions=[] if epoch == 0 else None,
        )

    with Connection(kafka.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        epoch = client.ask(beat(0), 1).member_epoch
        assert kafka.situations.zombie_consumer("g").member_id == "m"
        assert client.ask(beat(epoch), 1).error_code == Error.UNKNOWN_MEMBER_ID


def test_retention_overtakes(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce_all([b"%d" % number for number in range(8)])
    assert kafka.situations.retention_overtakes("orders", keep=1) == {0: 3, 1: 3}
    client = BrokerAt(kafka.bootstrap_servers)
    assert fetch(client, 0, topic="orders").error_code == Error.OFFSET_OUT_OF_RANGE
    assert fetch(client, 3, topic="orders").error_code == Error.NONE
    with pytest.raises(ValueError, match="has no more than 1 offset"):
        kafka.situations.retention_overtakes(orders, keep=1)


def test_retention_overtakes_a_group(kafka: Emulator) -> None:
    orders = kafka.topic("orders")
    orders.produce_all([b"%d" % number for number in range(8)])
    kafka.group("g").commit({("orders", 0): 1, ("orders", 1): 4})
    assert kafka.situations.retention_overtakes(orders, group="g", keep=1) == {0: 3}
    with pytest.raises(ValueError, match="has read of orders whatever would be deleted"):
        kafka.situations.retention_overtakes(orders, group="g", keep=1)


def test_a_group_that_would_not_notice_is_named(kafka: Emulator) -> None:
    kafka.topic("orders").produce_all([b"x"] * 4)
    kafka.group("g").commit({("bills", 0): 0})
    with pytest.raises(ValueError, match="has committed nothing of orders") as raised:
        kafka.situations.retention_overtakes("orders", group="g")
    assert "kafka.group('g').commit({('orders', 0): 1})" in str(raised.value)


def test_topics_that_change(kafka: Emulator) -> None:
    kafka.topic("orders").produce(b"x")
    assert kafka.situations.topic_recreated("orders").values() == []
    assert kafka.situations.partitions_added("orders", 2) == 4
    for verb in (kafka.situations.topic_recreated, kafka.situations.partitions_added):
        with pytest.raises(Refused, match="orders"):
            verb("order")


def test_a_rebalance_while_records_are_worked_on(kafka: Emulator) -> None:
    kafka.topic("orders").produce_all([b"1", b"2"])
    rebalance = kafka.situations.rebalance_in_batch("g")
    with Connection(kafka.bootstrap_servers) as client:
        assert fetch(client, topic="orders").error_code == Error.NONE  # nobody's
        client.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        member = joined(client, metadata=subscription("orders"))
        _assign(client, member)
        assert rebalance.hits == 0
        assert fetch(client, 1, topic="orders").error_code == Error.NONE  # no records
        assert client.ask(heartbeat_request(member), 4).error_code == Error.NONE
        fetch(client, topic="orders")
        assert rebalance.wait_hit() == 1
        answer = client.ask(heartbeat_request(member), 4)
    assert answer.error_code == Error.REBALANCE_IN_PROGRESS


def _assign(client: Any, member: Any) -> None:
    places = ConsumerProtocolAssignment.AssignedPartition(topic="orders", partitions=[0])
    told = ConsumerProtocolAssignment(assigned_partitions=[places], user_data=None)
    assert client.ask(sync_request(member, keyed(told, 0)), 3).error_code == Error.NONE
