"""Crash points with stock clients: what idempotence and transactions promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from odradek import Emulator
from odradek.compat import Client, NewRecord

pytestmark = [pytest.mark.client]

VALUES = [b"a", b"b", b"c"]


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(topics={"orders": 1}) as kafka:
        yield kafka


def test_an_idempotent_producer_neither_loses_nor_doubles(kafka: Emulator, client: Client) -> None:
    def scenario(kafka: Emulator) -> None:
        records = [NewRecord(value) for value in VALUES]
        client.produce(kafka.bootstrap_servers, "orders", records, idempotent=True)

    for crash in kafka.crash_points(scenario, sample=2, seed=2):
        with crash:
            assert crash.error is None
            assert kafka.topic("orders").values() == VALUES


def test_a_transaction_is_there_as_a_whole_or_not_at_all(kafka: Emulator) -> None:
    confluent_kafka: Any = pytest.importorskip("confluent_kafka")

    def scenario(kafka: Emulator) -> None:
        producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": kafka.bootstrap_servers,
                "transactional.id": "tx",
                "log_level": 0,
            }
        )
        producer.init_transactions(30)
        producer.begin_transaction()
        for value in VALUES:
            producer.produce("orders", value)
        producer.commit_transaction(30)

    for crash in kafka.crash_points(scenario, steps=["append", "answer"], sample=3, seed=1):
        with crash:
            kafka.advance(seconds=120)  # what is open times out
            found = kafka.topic("orders").values()
            assert found in ([], VALUES)
            assert found == VALUES or crash.error is not None
