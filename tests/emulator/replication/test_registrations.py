"""What the metadata log has of brokers that come and go: the records of three nodes of a real
Kafka, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.storage import MemoryDisk
from odradek.storage.naming import CLUSTER_METADATA
from odradek.wire.batch import batches
from odradek.wire.records import read_records
from odradek.wire.stored.cluster import (
    BrokerRegistrationChangeRecord,
    MetadataRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
    read_record,
)

LATER_S = 1


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(brokers=3, clock="manual", racks=["a", "b", "c"]) as kafka:
        kafka.create_topic("orders", replicas=3)
        yield kafka


def described(record: MetadataRecord) -> str | None:
    """A record of a broker or of a change of a partition; None for another one."""
    match record:
        case RegisterBrokerRecord():
            return f"register {record.broker_id}, rack {record.rack}, fenced {record.fenced}"
        case UnregisterBrokerRecord():
            return f"unregister {record.broker_id}"
        case BrokerRegistrationChangeRecord():
            words = [{0: "", 1: "fenced", -1: "unfenced"}[record.fenced]]
            words += ["shuts down"] * record.in_controlled_shutdown
            return f"{record.broker_id} {' '.join(filter(None, words))}"
        case PartitionChangeRecord():
            leader = "" if record.leader == -2 else f", leader {record.leader}"
            return f"partition: isr {record.isr}{leader}"
    return None


class Written:
    """What is written from now on."""

    def __init__(self, kafka: Emulator) -> None:
        self._kafka = kafka
        self._from = kafka.run(lambda cluster: cluster.metadata.end_offset)

    def __call__(self) -> list[str]:
        """In words, and begin again."""
        found = [described(record) for _, record in records(self._kafka, self._from)]
        self._from = self._kafka.run(lambda cluster: cluster.metadata.end_offset)
        return [each for each in found if each is not None]


def records(kafka: Emulator, start: int = 0) -> list[tuple[int, MetadataRecord]]:
    """Offsets and records of the metadata log."""

    def found(cluster: object) -> list[tuple[int, MetadataRecord]]:
        log = kafka.cluster.log_dir.logs[CLUSTER_METADATA, 0]
        data = log.reader.read(start, 1 << 24)
        return [
            (each.offset, read_record(each.value or b"")[0])
            for pos, header in batches(data)
            if not header.is_control
            for each in read_records(data, pos)
            if each.offset >= start
        ]

    return kafka.run(found)


def test_brokers_register_at_a_start(kafka: Emulator) -> None:
    written = [(offset, each) for offset, each in records(kafka)]
    registered = [
        (offset, each) for offset, each in written if isinstance(each, RegisterBrokerRecord)
    ]
    assert [each.broker_id for _, each in registered] == [1, 2, 3]
    assert [each.broker_epoch for _, each in registered] == [offset for offset, _ in registered]
    ends = [(end.host, end.port) for _, each in registered for end in each.end_points]
    assert [f"{host}:{port}" for host, port in ends] == kafka.bootstrap_servers.split(",")
    assert (
        kafka.run(lambda c: [each.fenced for each in c.metadata.image.brokers.values()])
        == [False] * 3
    )


def test_a_broker_stops_and_starts(kafka: Emulator) -> None:
    written = Written(kafka)
    kafka.brokers[1].stop()
    assert written() == ["1 shuts down", "partition: isr [2, 3], leader 2", "1 fenced"]
    kafka.brokers[1].start()
    assert written() == [
        "register 1, rack a, fenced True",
        "1 unfenced",
        "partition: isr [1, 2, 3]",
    ]


def test_a_broker_is_killed_and_comes_back(kafka: Emulator) -> None:
    written = Written(kafka)
    kafka.brokers[1].kill()
    assert written() == []
    kafka.advance(seconds=LATER_S)
    assert written() == ["partition: isr [2, 3], leader 2", "1 fenced"]
    kafka.brokers[1].start()
    assert written()[:2] == ["register 1, rack a, fenced True", "1 unfenced"]


def test_a_broker_that_stands_still_does_not_register_again(kafka: Emulator) -> None:
    written = Written(kafka)
    kafka.brokers[3].pause()
    kafka.brokers[3].resume()
    assert written() == []
    kafka.brokers[3].pause()
    kafka.advance(seconds=LATER_S)
    kafka.brokers[3].resume()
    assert written() == [
        "partition: isr [1, 2]",
        "3 fenced",
        "3 unfenced",
        "partition: isr [1, 2, 3]",
    ]


def test_brokers_join_and_leave(kafka: Emulator) -> None:
    written = Written(kafka)
    kafka.add_broker(rack="d")
    assert written() == ["register 4, rack d, fenced True", "4 unfenced"]
    kafka.remove_broker(4)
    assert written() == ["4 shuts down", "4 fenced", "unregister 4"]


def test_one_broker_keeps_no_registration() -> None:
    with Emulator() as kafka:
        assert kafka.run(lambda cluster: cluster.metadata.image.brokers) == {}
        kafka.add_broker()
        assert sorted(kafka.run(lambda cluster: cluster.metadata.image.brokers)) == [1, 2]


@pytest.mark.parametrize("place", ["directory", "memory"])
def test_a_directory_of_three_brokers_opens_as_it_was(place: str, tmp_path: Path) -> None:
    disk = MemoryDisk() if place == "memory" else None
    where = {"disk": disk} if disk is not None else {"data_dir": tmp_path}
    with Emulator(brokers=3, **where) as kafka:
        orders = kafka.create_topic("orders", partitions=3, replicas=2)
        orders.produce_all([b"a", b"b", b"c"])
        orders[0].move_leader(to=2)
        orders[1].reassign([3, 1])
        before = [(each.leader, each.replicas) for each in orders]
        epochs = kafka.run(lambda c: [each.leader_epoch for each in c.topic("orders").partitions])
    assert before == [(2, [1, 2]), (3, [3, 1]), (3, [3, 1])]
    with Emulator(brokers=3, **where) as kafka:
        orders = kafka.topic("orders")
        assert [(each.leader, each.replicas) for each in orders] == before
        assert [sorted(each.isr) for each in orders] == [[1, 2], [1, 3], [1, 3]]
        assert {*orders.values()} == {b"a", b"b", b"c"}
        assert sorted(kafka.run(lambda cluster: cluster.metadata.image.brokers)) == [1, 2, 3]
        after = kafka.run(lambda c: [each.leader_epoch for each in c.topic("orders").partitions])
    assert after == [each + 2 for each in epochs]  # they resigned, and were elected


def test_fewer_brokers_lead_what_they_have(tmp_path: Path) -> None:
    with Emulator(brokers=3, data_dir=tmp_path) as kafka:
        kafka.create_topic("orders", partitions=3)
    with Emulator(data_dir=tmp_path) as kafka:
        assert [each.leader for each in kafka.topic("orders")] == [1, -1, -1]
    with Emulator(brokers=3, data_dir=tmp_path) as kafka:
        assert [each.leader for each in kafka.topic("orders")] == [1, 2, 3]


def test_the_epoch_of_a_controller_outlives_a_restart(kafka: Emulator) -> None:
    def epoch() -> int:
        return kafka.run(lambda cluster: cluster.metadata.epoch)

    before = epoch()
    kafka.brokers[1].stop()
    assert epoch() == before + 1
    kafka.restart()
    assert epoch() >= before + 1
