"""Hints at defects of stock clients: given where a test meets one, and nowhere else."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from odradek import Emulator
from odradek.emulator.advice.known import hints
from odradek.emulator.base.event import Event
from odradek.wire import Error

confluent_kafka = pytest.importorskip("confluent_kafka")
pytestmark = [pytest.mark.client, pytest.mark.kafka(topics={"orders": 1})]
LIMIT_S = 10


def events(*given: dict[str, Any]) -> list[Event]:
    return [Event(**{"time": 0, "elapsed": n, "until": n, **each}) for n, each in enumerate(given)]


RDKAFKA = {"kind": "connected", "client": "app", "details": {"software": "x-rdkafka-2.16.0"}}
BEGUN = {"kind": "transaction begun", "transactional_id": "tx"}
COMMITTED = {"kind": "transaction committed", "transactional_id": "tx"}
OFFSETS = {
    "kind": "committed",
    "client": "app",
    "group": "g",
    "topic": "t",
    "partition": 0,
    "transactional_id": "tx",
}
KILLED = {"kind": "killed"}
REFUSED = {"kind": "refused", "client": "app", "api": "OffsetFetch", "group": "g"}
FOUND = {**OFFSETS, "kind": "found offset", "transactional_id": ""}
LOST = {"kind": "rule", "client": "app", "api": "TxnOffsetCommit", "reason": "x.drop_reply()"}


def failed(error: str) -> dict[str, Any]:
    reason = f"x.fail(Error.{error})"
    return {"kind": "rule", "client": "app", "api": "Produce", "reason": reason}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([RDKAFKA, BEGUN, OFFSETS, COMMITTED, KILLED, BEGUN], "send_offsets_to_transaction"),
        ([RDKAFKA, BEGUN, OFFSETS, COMMITTED, LOST, BEGUN], "send_offsets_to_transaction"),
        ([RDKAFKA, BEGUN, OFFSETS, COMMITTED, BEGUN], ""),
        ([RDKAFKA, BEGUN, OFFSETS, COMMITTED, KILLED, BEGUN, OFFSETS], ""),
        ([RDKAFKA, BEGUN, COMMITTED, KILLED, BEGUN], ""),
        ([BEGUN, OFFSETS, COMMITTED, KILLED, BEGUN], ""),
        ([RDKAFKA, {**REFUSED, "error": Error.NOT_COORDINATOR}], "only a new consumer goes on"),
        ([RDKAFKA, {**REFUSED, "error": Error.UNSTABLE_OFFSET_COMMIT}], ""),
        ([RDKAFKA, {**REFUSED, "error": Error.NOT_COORDINATOR}, FOUND], ""),
        ([{**REFUSED, "error": Error.NOT_COORDINATOR}], ""),
        ([BEGUN, failed("INVALID_RECORD"), COMMITTED], "though a record in it was refused"),
        ([BEGUN, failed("NOT_LEADER_OR_FOLLOWER"), COMMITTED], ""),
        ([BEGUN, failed("INVALID_RECORD"), BEGUN, COMMITTED], ""),
        ([BEGUN, OFFSETS, FOUND, COMMITTED], "had a newer one pending"),
        ([BEGUN, OFFSETS, COMMITTED, FOUND], ""),
    ],
)
def test_when_there_is_a_hint(given: list[dict[str, Any]], said: str) -> None:
    found = hints(events(*given))
    assert len(found) == bool(said)
    assert all(said in each for each in found)


def transaction(kafka: Emulator, settings: dict[str, Any], *, hangs: bool) -> None:
    """A loop of transactions over a crash of the broker."""
    config = {**settings, "bootstrap.servers": kafka.bootstrap_servers, "log_level": 0}
    producer = confluent_kafka.Producer({**config, "transactional.id": "tx"})
    consumer = confluent_kafka.Consumer({**config, "group.id": "g"})
    place = confluent_kafka.TopicPartition("orders", 0, 1)

    def once() -> None:
        producer.begin_transaction()
        producer.produce("orders", b"x")
        producer.flush(LIMIT_S)
        producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata())
        producer.commit_transaction(LIMIT_S)

    producer.init_transactions(LIMIT_S)
    once()
    kafka.restart(clean=False)
    thread = threading.Thread(target=once, daemon=True)
    thread.start()
    thread.join(3 if hangs else LIMIT_S)
    assert thread.is_alive() == hangs


@pytest.mark.slow
def test_librdkafka_hangs_and_the_timeline_says_why(kafka: Emulator) -> None:
    transaction(kafka, {"reconnect.backoff.max.ms": 200}, hangs=True)
    assert "hint: the transaction of tx is open" in kafka.timeline()


@pytest.mark.slow
def test_with_client_config_it_goes_on(kafka: Emulator) -> None:
    transaction(kafka, kafka.client_config("confluent"), hangs=False)
    assert "hint:" not in kafka.timeline()


@pytest.mark.slow
def test_one_not_coordinator_and_librdkafka_never_asks_again(kafka: Emulator) -> None:
    kafka.topic("orders").produce("espresso")
    kafka.on("OffsetFetch").once().fail("NOT_COORDINATOR")
    config = {**kafka.client_config("confluent", "consumer"), "auto.offset.reset": "earliest"}
    consumer = confluent_kafka.Consumer({**config, "group.id": "g", "log_level": 0})
    consumer.subscribe(["orders"])
    polled = [consumer.poll(1) for _ in range(4)]
    told = [each.error().name() for each in polled if each is not None]
    consumer.close()
    assert told == ["NOT_COORDINATOR"]
    assert "has not asked again: librdkafka 2.16 does not" in kafka.timeline()


def test_aiokafka_commits_although_a_send_failed_and_reads_unstable_offsets(
    kafka: Emulator,
) -> None:
    aiokafka = pytest.importorskip("aiokafka")

    async def run() -> None:
        place = aiokafka.TopicPartition("orders", 0)
        servers = kafka.bootstrap_servers
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers, transactional_id="tx"
        ) as producer:
            kafka.on("Produce").once().fail("INVALID_RECORD")
            async with producer.transaction():
                refused = await producer.send("orders", b"lost")
                await asyncio.wait([refused], timeout=LIMIT_S)
                await producer.send("orders", b"kept")
            assert refused.exception() is not None
            async with producer.transaction():
                await producer.send_offsets_to_transaction({place: 1}, "g")
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({place: 2}, "g")
            async with aiokafka.AIOKafkaConsumer(
                bootstrap_servers=servers, group_id="g", isolation_level="read_committed"
            ) as consumer:
                assert await consumer.committed(place) == 1
            await producer.abort_transaction()

    asyncio.run(run())
    assert kafka.topic("orders").values() == [b"kept"]
    told = kafka.timeline()
    assert "was committed, though a record in it was refused (INVALID_RECORD)" in told
    assert "had a newer one pending" in told
