"""A stock producer while the broker's disk is full: it is told, tries again, and loses nothing."""

from __future__ import annotations

from typing import Any

import pytest
from odradek import Emulator
from odradek.storage import MemoryDisk

confluent = pytest.importorskip("confluent_kafka")
pytestmark = pytest.mark.client


def test_a_producer_gets_through_once_there_is_room_and_nothing_acknowledged_is_lost() -> None:
    disk = MemoryDisk()
    acknowledged: dict[int, bytes] = {}
    failed: list[str] = []

    def delivered(error: Any, message: Any) -> None:
        if error is None:
            acknowledged[message.offset()] = message.value()
        else:
            failed.append(error.name())

    def producer(bootstrap: str, **more: Any) -> Any:
        return confluent.Producer({"bootstrap.servers": bootstrap, "linger.ms": 0, **more})

    with Emulator(disk=disk, topics={"orders": 1}) as kafka:
        patient = producer(kafka.bootstrap_servers, **{"enable.idempotence": True})
        hasty = producer(kafka.bootstrap_servers, retries=0)
        patient.produce("orders", b"first", on_delivery=delivered)
        patient.flush(30)

        disk.fill()
        hasty.produce("orders", b"refused", on_delivery=delivered)
        hasty.flush(30)
        assert failed == ["KAFKA_STORAGE_ERROR"]
        for number in range(10):
            patient.produce("orders", b"%d" % number, on_delivery=delivered)
        patient.poll(0.2)
        assert list(acknowledged.values()) == [b"first"]

        disk.heal()
        patient.flush(30)
        assert failed == ["KAFKA_STORAGE_ERROR"]
        assert list(acknowledged.values()) == [b"first", *(b"%d" % number for number in range(10))]
        left = disk.kill()

    with Emulator(disk=left) as kafka:
        assert dict(enumerate(kafka.topic("orders")[0].values())) == acknowledged
