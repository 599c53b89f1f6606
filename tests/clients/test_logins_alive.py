"""Stock clients whose log-in changes while they work: sessions that end and are begun anew, rules
that are taken away and given again, users that are deleted."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from odradek import Emulator
from odradek.compat.clients.java_client import java_clients
from odradek.compat.clients.time_limits import wait_until
from odradek.compat.java.process import from_base64, to_base64

SESSION_MS = 1500
PATIENCE_S = 30
GROUP = {"group.id": "g", "auto.offset.reset": "earliest"}
TRIES = [pytest.param(8.0), pytest.param(60.0, marks=pytest.mark.long)]


@pytest.fixture
def short() -> Iterator[Emulator]:
    """A broker whose sessions end soon."""
    config = {"connections.max.reauth.ms": SESSION_MS, "group.initial.rebalance.delay.ms": 0}
    users = {"alice": "secret"}
    with Emulator(config, security="SASL_PLAINTEXT", users=users, topics={"t": 1}) as kafka:
        yield kafka


def again(kafka: Emulator) -> int:
    """How many log-ins there were on connections that were open."""
    return sum(event.count for event in kafka.events if event.kind == "logged in again")


def ended(kafka: Emulator) -> list[str]:
    """Connections that were closed since their sessions had ended."""
    reasons = [failure.reason for failure in kafka.log_in_failures]
    return [reason for reason in reasons if reason == "its session has ended"]


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Have something go on in a thread until the end of the block; raise what it raises."""
    ends, failed = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            work(ends)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()
    if failed:
        raise failed[0]


def produced(kafka: Emulator, seconds: float, send: Callable[[bytes], None]) -> list[bytes]:
    """What was sent for so long, record by record."""
    sent = []
    begin = time.monotonic()
    while time.monotonic() - begin < seconds or again(kafka) < 4:
        assert time.monotonic() - begin < seconds + PATIENCE_S, "no session was begun anew"
        sent.append(b"%d" % len(sent))
        send(sent[-1])
        time.sleep(0.01)
    return sent


@pytest.mark.slow
@pytest.mark.parametrize("seconds", TRIES)
def test_librdkafka_logs_in_again_and_loses_nothing(short: Emulator, seconds: float) -> None:
    config = short.client_config("confluent", user="alice", mechanism="SCRAM-SHA-256")
    got: list[bytes] = []

    def consume(ends: threading.Event) -> None:
        consumer = Consumer({**config, **GROUP})
        consumer.subscribe(["t"])
        while not ends.is_set() or len(got) < len(sent):
            message = consumer.poll(0.2)
            if message is not None:
                assert message.error() is None, message.error()
                got.append(message.value())
        consumer.close()

    sent: list[bytes] = []
    failed: list[KafkaError] = []
    producer = Producer(config)

    def send(value: bytes) -> None:
        producer.produce("t", value, on_delivery=lambda e, _: failed.append(e) if e else None)
        producer.poll(0)

    with beside(consume):
        sent += produced(short, seconds, send)
        assert producer.flush(PATIENCE_S) == 0
    assert not failed
    assert short.topic("t").values() == sent == got
    assert not short.log_in_failures


@pytest.mark.slow
@pytest.mark.parametrize("seconds", TRIES)
def test_java_logs_in_again_and_loses_nothing(short: Emulator, seconds: float) -> None:
    config = short.client_config("java", user="alice", mechanism="SCRAM-SHA-256")
    java = java_clients()
    producer = java.producer(config)
    got: list[bytes] = []
    sent: list[bytes] = []

    def consume(ends: threading.Event) -> None:
        consumer = java.consumer({**config, **GROUP})
        consumer.do("subscribe", topics=["t"])
        while not ends.is_set() or len(got) < len(sent):
            for record in consumer.do("poll", ms=200)["records"]:
                value = from_base64(record["value"])
                assert value is not None
                got.append(value)
        consumer.close()

    def send(value: bytes) -> None:
        row = {"key": None, "value": to_base64(value), "partition": 0, "headers": []}
        producer.do("send", topic="t", records=[row])

    with beside(consume):
        sent += produced(short, seconds, send)
    producer.close()
    assert short.topic("t").values() == sent == got
    assert not short.log_in_failures


@pytest.mark.slow
def test_aiokafka_connects_anew_when_its_session_ends(short: Emulator) -> None:
    """It does not log in again on its connection (KIP-368), which the broker then closes."""
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    config = short.client_config("aiokafka", user="alice", mechanism="SCRAM-SHA-256")
    sent, got = list[bytes](), list[bytes | None]()

    async def run() -> None:
        async with (
            AIOKafkaProducer(**config) as producer,
            AIOKafkaConsumer("t", **config, auto_offset_reset="earliest") as consumer,
        ):
            while len(ended(short)) < 4:
                sent.append(b"%d" % len(sent))
                await producer.send_and_wait("t", sent[-1])
                await asyncio.sleep(0.01)
            while len(got) < len(sent):
                got.append((await asyncio.wait_for(consumer.getone(), PATIENCE_S)).value)

    asyncio.run(asyncio.wait_for(run(), 2 * PATIENCE_S))
    assert short.topic("t").values() == sent == got
    assert again(short) == 0


@pytest.mark.slow
def test_kafka_python_connects_anew_when_its_session_ends(short: Emulator) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    config = short.client_config("kafka-python", user="alice", mechanism="SCRAM-SHA-256")
    producer = KafkaProducer(**config)
    sent, got = list[bytes](), list[bytes]()
    deadline = time.monotonic() + PATIENCE_S
    while len(ended(short)) + again(short) < 4:
        assert time.monotonic() < deadline, "no session ended"
        sent.append(b"%d" % len(sent))
        producer.send("t", sent[-1]).get(PATIENCE_S)
        time.sleep(0.01)
    producer.close()
    consumer = KafkaConsumer(
        "t", **config, auto_offset_reset="earliest", consumer_timeout_ms=PATIENCE_S * 1000
    )
    while len(got) < len(sent):
        got.append(next(consumer).value)
    consumer.close()
    assert short.topic("t").values() == sent == got


# Rules


def refused_and_back(kafka: Emulator, poll: Callable[[], tuple[list[bytes], str]]) -> None:
    """A consumer reads, is refused when its rule is removed, and reads on when it is back."""
    got: list[bytes] = []
    errors: list[str] = []

    def look() -> None:
        values, error = poll()
        got.extend(values)
        errors.extend([error] if error else [])

    def until(is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < deadline, (got, errors)
            look()

    kafka.topic("t").produce("first")
    until(lambda: got == [b"first"])
    kafka.remove_acl(topic="t")
    until(lambda: bool(errors))
    assert "TOPIC_AUTHORIZATION_FAILED" in errors[0] or "TopicAuthorization" in errors[0]
    kafka.topic("t").produce("second")  # a fetch that waited may have brought it before
    kafka.allow("alice", "READ", topic="t")
    until(lambda: got == [b"first", b"second"])
    assert any(event.kind == "denied" for event in kafka.events), kafka.timeline()


@pytest.fixture
def ruled() -> Iterator[Emulator]:
    """A broker with rules, and alice, who may read."""
    config = {"group.initial.rebalance.delay.ms": 0}
    users = {"alice": "secret", "root": "secret"}
    with Emulator(
        {**config, "super.users": "User:root"},
        security="SASL_PLAINTEXT",
        users=users,
        acls=True,
        topics={"t": 1},
    ) as kafka:
        kafka.allow("alice", "READ", topic="t", group="g")
        yield kafka


@pytest.mark.slow
def test_librdkafka_learns_that_it_may_not_read_any_more(ruled: Emulator) -> None:
    config = ruled.client_config("confluent", user="alice")
    consumer = Consumer({**config, **GROUP, "topic.metadata.refresh.interval.ms": 300})
    consumer.subscribe(["t"])

    def poll() -> tuple[list[bytes], str]:
        message = consumer.poll(0.2)
        if message is None:
            return [], ""
        error = message.error()
        return ([message.value()], "") if error is None else ([], error.name())

    refused_and_back(ruled, poll)
    consumer.close()


@pytest.mark.slow
def test_java_learns_that_it_may_not_read_any_more(ruled: Emulator) -> None:
    from odradek.compat.java.client import JavaError

    config = ruled.client_config("java", user="alice")
    consumer = java_clients().consumer({**config, **GROUP})
    consumer.do("subscribe", topics=["t"])

    def poll() -> tuple[list[bytes], str]:
        try:
            records = consumer.do("poll", ms=200)["records"]
        except JavaError as error:
            return [], error.kind
        return [from_base64(record["value"]) or b"" for record in records], ""

    refused_and_back(ruled, poll)
    consumer.close()


@pytest.mark.slow
def test_kafka_python_learns_that_it_may_not_read_any_more(ruled: Emulator) -> None:
    from kafka import KafkaConsumer
    from kafka.errors import KafkaError as Told

    config = ruled.client_config("kafka-python", user="alice", mechanism="SCRAM-SHA-256")
    consumer = KafkaConsumer("t", **config, group_id="g", auto_offset_reset="earliest")

    def poll() -> tuple[list[bytes], str]:
        try:
            found = consumer.poll(timeout_ms=200)
        except Told as error:
            return [], type(error).__name__
        return [record.value for records in found.values() for record in records], ""

    refused_and_back(ruled, poll)
    consumer.close()


@pytest.mark.slow
def test_aiokafka_learns_that_it_may_not_read_any_more(ruled: Emulator) -> None:
    from aiokafka import AIOKafkaConsumer
    from aiokafka.errors import KafkaError as Told

    config = ruled.client_config("aiokafka", user="alice", mechanism="SCRAM-SHA-256")

    async def made() -> AIOKafkaConsumer:
        consumer = AIOKafkaConsumer("t", **config, group_id="g", auto_offset_reset="earliest")
        await consumer.start()
        return consumer

    with asyncio.Runner() as runner:
        consumer = runner.run(made())

        def poll() -> tuple[list[bytes], str]:
            try:
                found = runner.run(consumer.getmany(timeout_ms=200))
            except Told as error:
                return [], type(error).__name__
            return [record.value for records in found.values() for record in records], ""

        try:
            refused_and_back(ruled, poll)
        finally:
            runner.run(consumer.stop())


# Users


@pytest.mark.slow
def test_a_deleted_user_goes_on_until_its_session_ends(ruled: Emulator) -> None:
    ruled.allow("alice", "WRITE", topic="t")
    mechanism = "SCRAM-SHA-256"
    alice = ruled.client_config("confluent", user="alice", mechanism=mechanism)
    root = AdminClient(ruled.client_config("confluent", user="root", mechanism=mechanism))
    producer = Producer(alice)
    failed: list[KafkaError] = []

    def send(value: bytes) -> None:
        producer.produce("t", value, on_delivery=lambda e, _: failed.append(e) if e else None)
        assert producer.flush(PATIENCE_S) == 0

    def alter(change: Any) -> None:
        for future in root.alter_user_scram_credentials([change]).values():
            future.result(PATIENCE_S)

    send(b"before")
    alter(UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_256))
    send(b"after")  # on the connection that is open
    assert not failed
    assert ruled.topic("t").values() == [b"before", b"after"]

    errors: list[str] = []
    late = AdminClient({**alice, "error_cb": lambda error: errors.append(error.str())})
    with pytest.raises(KafkaException):
        late.list_topics(timeout=2)
    wait_until(lambda: late.poll(0.1) >= 0 and bool(errors), "what the client says")
    assert "due to invalid credentials" in errors[0]
    failure = ruled.log_in_failures[-1]
    assert (failure.user, failure.reason) == ("alice", "unknown user")

    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    alter(UserScramCredentialUpsertion("alice", info, b"secret"))
    assert AdminClient(alice).list_topics(timeout=PATIENCE_S).brokers


@pytest.mark.slow
def test_a_deleted_user_does_not_log_in_again(short: Emulator) -> None:
    mechanism = "SCRAM-SHA-256"
    config = short.client_config("confluent", user="alice", mechanism=mechanism)
    admin = AdminClient(short.client_config("confluent", user="alice", mechanism="SCRAM-SHA-512"))
    producer = Producer({**config, "message.timeout.ms": 3000})
    failed: list[KafkaError] = []

    def send(value: bytes) -> None:
        producer.produce("t", value, on_delivery=lambda e, _: failed.append(e) if e else None)
        assert producer.flush(PATIENCE_S) == 0

    send(b"before")
    deletion = UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_256)
    for future in admin.alter_user_scram_credentials([deletion]).values():
        future.result(PATIENCE_S)
    wait_until(lambda: bool(short.log_in_failures), "the log-in that fails")
    assert short.log_in_failures[0].reason == "unknown user"
    send(b"after")
    assert failed
    assert short.topic("t").values() == [b"before"]
