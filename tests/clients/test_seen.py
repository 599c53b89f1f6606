"""What stock clients do, as the emulator's views show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat import Client, NewRecord, RealKafka
from odradek.compat.clients import Consumer, wait_until
from odradek.fixtures.views import GroupView
from odradek.storage import MemoryDisk

pytestmark = [pytest.mark.client]

SOON = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.min.heartbeat.interval.ms": 500,
    "group.consumer.heartbeat.interval.ms": 500,
}


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(SOON, disk=MemoryDisk(), topics={"orders": 2}) as kafka:
        yield kafka


def polling(client: Client, consumer: Consumer, is_so: Callable[[], bool]) -> Callable[[], bool]:
    """The same condition, with a poll before each look: members rebalance while they poll."""

    def poll() -> bool:
        consumer.poll(client.poll_s)
        return is_so()

    return poll


def has_all(group: GroupView) -> Callable[[], bool]:
    """Whether the group has one member, which has both partitions."""
    wanted = (("orders", 0), ("orders", 1))
    return lambda: group.state == "Stable" and [m.assignment for m in group.members] == [wanted]


def test_committed_and_aborted(kafka: Emulator, client: Client) -> None:
    address, orders = kafka.bootstrap_servers, kafka.topic("orders")
    kept = [NewRecord(b"kept", b"k", (("h", b"v"),), 1_700_000_000_000)]
    client.produce(address, "orders", kept, partition=0, transactional_id="a")
    dropped = [NewRecord(b"dropped")]
    client.produce(address, "orders", dropped, partition=0, transactional_id="b", abort=True)
    client.produce(address, "orders", [NewRecord(b"plain")], partition=1)

    assert orders.values() == [b"kept", b"plain"]
    first, aborted, plain = orders.records("read_uncommitted")
    assert (first.state, aborted.state, plain.state) == ("committed", "aborted", "committed")
    assert (first.key, first.headers, first.timestamp) == (b"k", {"h": b"v"}, 1_700_000_000_000)
    assert (first.is_transactional, plain.is_transactional) == (True, False)
    assert (first.sequence, first.producer_epoch, first.producer_id >= 0) == (0, 0, True)
    read = client.consume(address, "orders", isolation="read_committed")
    assert sorted(r.value or b"" for r in read) == sorted(orders.decoded(bytes).values())
    states = {each.transactional_id: each.state for each in kafka.transactions()}
    assert states == {"a": "CompleteCommit", "b": "CompleteAbort"}


def test_open_until_it_is_aborted(kafka: Emulator) -> None:
    confluent_kafka = pytest.importorskip("confluent_kafka")
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "t", "client.id": "app"}
    )
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("orders", b"v", partition=0)
    producer.flush()
    orders = kafka.topic("orders")
    (record,) = orders.records("read_uncommitted")
    assert (record.state, orders.values()) == ("open", [])
    (transaction,) = kafka.transactions()
    assert (transaction.is_open, transaction.partitions) == (True, (("orders", 0),))
    assert transaction.started_at is not None
    (known,) = kafka.producers("orders")
    assert (known.producer_id, known.transaction_start_offset) == (record.producer_id, 0)
    assert {each.client_id for each in kafka.clients()} == {"app"}
    assert all("rdkafka" in each.software_version for each in kafka.clients())
    producer.abort_transaction()
    assert [each.state for each in orders.records("read_uncommitted")] == ["aborted"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_and_its_member(kafka: Emulator, client: Client, protocol: str) -> None:
    orders, group = kafka.topic("orders"), kafka.group("billing")
    orders.produce_all(["a", "b", "c"])
    with client.speaking(protocol).consumer(
        kafka.bootstrap_servers, "orders", group="billing"
    ) as consumer:
        wait_until(polling(client, consumer, has_all(group)), "the member has both partitions")
        (member,) = group.members
        assert group.type == protocol
        assert group.protocol
        assert member.software_name is not None
        assert member.host == "127.0.0.1"
        wait_until(
            polling(
                client, consumer, lambda: sum(filter(None, consumer.positions().values())) == 3
            ),
            "it has read everything",
        )
        consumer.commit()
        assert group.offsets() == {("orders", 0): 2, ("orders", 1): 1}
        assert (group.lags(), group.lag()) == ({("orders", 0): 0, ("orders", 1): 0}, 0)
        orders.produce("d", partition=1)
        assert group.lag() == 1
    wait_until(lambda: not group.members, "the member has left")
    assert group.state == "Empty"
    assert group.reset("earliest") == {("orders", 0): 0, ("orders", 1): 0}
    again = client.speaking(protocol).consume(kafka.bootstrap_servers, "orders", group="billing")
    assert len(again) == 4


@pytest.mark.parametrize("how", ["rebalance", "kick"])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_member_comes_back(kafka: Emulator, client: Client, protocol: str, how: str) -> None:
    group = kafka.group("billing")
    with client.speaking(protocol).consumer(
        kafka.bootstrap_servers, "orders", group="billing"
    ) as consumer:
        # Until it knows where to read: the Java client's poll raises if it is kicked before that.
        def knows() -> bool:
            return has_all(group)() and sorted(consumer.positions().values()) == [0, 0]

        wait_until(polling(client, consumer, knows), "the member reads both partitions")
        before = group.generation
        assert before is not None
        if how == "kick":
            group.kick(group.members[0])
        else:
            group.rebalance()

        def is_later() -> bool:
            return (group.generation or 0) > before and has_all(group)()

        wait_until(polling(client, consumer, is_later), "a later generation is stable")


@pytest.mark.real
def test_records_of_a_directory_that_a_real_kafka_has_left(
    kafka: Emulator, any_client: Client, tmp_path: Path
) -> None:
    with RealKafka(data_dir=tmp_path / "data") as real:
        address = real.bootstrap_servers
        any_client.create_topic(address, "left", partitions=2)
        records = [NewRecord(b"%d" % n, b"k", (("h", b"v"),)) for n in range(10)]
        any_client.produce(address, "left", records, partition=1, compression="gzip")
        dropped = [NewRecord(b"dropped")]
        any_client.produce(address, "left", dropped, transactional_id="b", abort=True)
    assert kafka.seed(tmp_path / "data") == {"left": 10}
    left = kafka.topic("left")
    assert len(left) == 2
    assert left[1].values() == [each.value for each in records]
    assert left.last().headers == {"h": b"v"}
