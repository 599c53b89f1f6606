"""Leaders, replicas and coordinators that a test moves: in the emulator, and over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from odradek.emulator import Emulator
from odradek.emulator.seen.waiting import WaitTimeout
from odradek.emulator.transactions.transaction import Producer
from odradek.fixtures.remote import RemoteKafka
from odradek.wire import Error, Refused
from odradek.wire.api.find_coordinator import FindCoordinatorRequest

from tests.requests.transactions import add_request, init_request
from tests.support.connection import Connection

GROUP, TRANSACTION = 0, 1


@pytest.fixture
def cluster() -> Iterator[Emulator]:
    with Emulator(brokers=3) as kafka:
        yield kafka


@pytest.fixture(params=["inside", "remote"])
def kafka(request: pytest.FixtureRequest, cluster: Emulator) -> Iterator[Any]:
    """The same verbs over Kafka's protocol."""
    if request.param == "inside":
        yield cluster
        return
    with RemoteKafka(cluster.bootstrap_servers) as remote:
        yield remote


def coordinator(kafka: Any, kind: int, key: str) -> int:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
    with Connection(kafka.bootstrap_servers.split(",")[0]) as client:
        (found,) = client.ask(request, 4).coordinators
    node_id: int = found.node_id
    return node_id


def test_another_replica_leads(kafka: Any) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    assert (orders[0].leader, orders[0].replicas) == (1, [1, 2, 3])
    orders[0].move_leader(to=3)
    assert (orders[0].leader, orders[0].replicas) == (3, [1, 2, 3])
    orders[0].move_leader(to=3)  # it does already
    asyncio.run(orders[0].amove_leader(to=2))
    assert orders[0].leader == 2
    assert orders[0].elect() == 1
    assert asyncio.run(orders[0].aelect()) == 1
    assert orders[0].leader == 1
    orders.produce(b"x")
    assert orders.values() == [b"x"]


def test_a_move_of_the_leader_is_one_leader_epoch(cluster: Emulator) -> None:
    orders = cluster.create_topic("orders", replicas=3)
    orders[0].move_leader(to=2)
    assert cluster.run(lambda c: c.partition("orders", 0).leader_epoch) == 1


def test_who_cannot_lead_is_told_why(kafka: Any) -> None:
    orders = kafka.create_topic("orders", replicas=2)
    place = f"{orders.name}-0"
    with pytest.raises(ValueError, match=f"broker 3 has no replica of {place}, which is on 1, 2"):
        orders[0].move_leader(to=3)
    with pytest.raises(TypeError, match="to is the id of a broker, not '2'"):
        orders[0].move_leader(to="2")


def test_a_broker_that_is_down_cannot_lead(cluster: Emulator) -> None:
    orders = cluster.create_topic("orders", replicas=3)
    cluster.brokers[2].kill()
    with pytest.raises(RuntimeError, match="broker 2 cannot lead orders-0: it is down"):
        orders[0].move_leader(to=2)
    with RemoteKafka(cluster.brokers[1].address) as remote:
        cluster.brokers[3].stop()
        told = "broker 3 cannot lead orders-0: it is not in sync, 1(, 2)? is"
        with pytest.raises(RuntimeError, match=told):
            remote.topic("orders")[0].move_leader(to=3)


def test_a_partition_moves(kafka: Any) -> None:
    orders = kafka.create_topic("orders", replicas=1)
    orders.produce(b"x")
    orders[0].reassign([2, 3])
    assert (orders[0].leader, orders[0].replicas, orders[0].isr) == (2, [2, 3], [2, 3])
    asyncio.run(orders[0].areassign([3]))
    assert (orders[0].leader, orders[0].replicas) == (3, [3])
    assert orders.values() == [b"x"]


def test_a_move_to_a_broker_that_is_down_waits_for_it(kafka: Any, cluster: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=2)
    cluster.brokers[3].stop()
    orders[0].reassign([2, 3], wait=False)
    assert orders[0].replicas == [2, 3, 1]
    with pytest.raises(RuntimeError, match=f"{orders.name}-0 is being reassigned: wait for it"):
        orders[0].move_leader(to=2)
    with pytest.raises(WaitTimeout, match="It is on brokers 2, 3, 1, in sync are 1, 2") as caught:
        orders[0].reassign([2, 3], timeout=0.2)
    assert f"waited 0.2 s for {orders.name}-0 to be on 2, 3" in str(caught.value)
    orders[0].cancel_reassignment()
    assert orders[0].replicas == [2, 1]
    with pytest.raises(Refused) as refused:
        orders[0].cancel_reassignment()
    assert refused.value.error is Error.NO_REASSIGNMENT_IN_PROGRESS
    orders[0].reassign([2, 3], wait=False)
    cluster.brokers[3].start()
    orders[0].reassign([2, 3])
    assert orders[0].isr == [2, 3]


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([], ValueError, "at least one"),
        ([1, 1], ValueError, r"each broker once, not \[1, 1\]"),
        ("12", TypeError, "a list of the ids of brokers, not '12'"),
        ([True], TypeError, "a list of the ids"),
        ([1, 7], Refused, r"orders-0 to \[1, 7\]: .* broker 7, but no such broker is registered"),
    ],
)
def test_where_a_partition_cannot_be(
    cluster: Emulator, given: Any, error: type[Exception], text: str
) -> None:
    orders = cluster.create_topic("orders")
    with pytest.raises(error, match=text):
        orders[0].reassign(given)


def test_a_group_gets_another_coordinator(kafka: Any) -> None:
    group = kafka.group("billing")
    kafka.create_topic("orders")
    before = coordinator(kafka, GROUP, "billing")
    to = before % 3 + 1
    group.move_coordinator(to=to)
    assert coordinator(kafka, GROUP, "billing") == to
    asyncio.run(group.amove_coordinator(to=before))
    assert coordinator(kafka, GROUP, "billing") == before
    with pytest.raises(ValueError, match="broker 9 has no replica of __consumer_offsets-"):
        group.move_coordinator(to=9)


def test_a_transaction_gets_another_coordinator(kafka: Any, cluster: Emulator) -> None:
    orders = kafka.create_topic("orders", replicas=3)
    at = cluster.brokers[coordinator(kafka, TRANSACTION, "pay")].address
    with Connection(at) as client:
        told = client.ask(init_request("pay"), 4)
        producer = Producer(told.producer_id, told.producer_epoch)
        client.ask(add_request(producer, [(orders.name, [0])], "pay"), 3)
        (transaction,) = kafka.transactions()
        to = coordinator(kafka, TRANSACTION, "pay") % 3 + 1
        transaction.move_coordinator(to=to)
        assert coordinator(kafka, TRANSACTION, "pay") == to
        asyncio.run(transaction.amove_coordinator(to=to % 3 + 1))
        (transaction,) = kafka.transactions()
        assert transaction.is_open
        assert coordinator(kafka, TRANSACTION, "pay") == to % 3 + 1
