"""Journals replayed against another broker: the same comes of it, or it is said."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from odradek import Emulator
from odradek.compat.commands import main
from odradek.compat.replay.player import Order
from odradek.emulator.base.call import Call
from odradek.emulator.base.chain import Outcome, Step
from odradek.emulator.control.traffic.exchange import Address, Exchange
from odradek.emulator.control.traffic.traffic import Traffic
from odradek.wire import Error, Request
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from odradek.wire.api.metadata import MetadataRequest

from tests.requests.produce import batch, produce
from tests.support.connection import Connection

SOON = {"group.initial.rebalance.delay.ms": 0}


@pytest.fixture
def other() -> Iterator[Emulator]:
    """The broker that is asked again: its ids begin elsewhere."""
    with Emulator(SOON, topics={"earlier": 1}) as kafka:
        yield kafka


def replay(path: Path, kafka: Emulator, *options: str, status: int = 0) -> None:
    given = ["replay", str(path), "--to", kafka.bootstrap_servers, *options]
    assert main(given) == status


@pytest.mark.parametrize("ending", ["jsonl", "pcapng"])
def test_transactions_and_a_group_are_as_they_were(
    ending: str, other: Emulator, tmp_path: Path
) -> None:
    confluent = pytest.importorskip("confluent_kafka")
    with Emulator(SOON, topics={"orders": 2}, journal=True) as kafka:
        producer = confluent.Producer(
            {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "shop"}
        )
        producer.init_transactions()
        for word in ("kept", "aborted"):
            producer.begin_transaction()
            producer.produce("orders", word, partition=0)
            producer.produce("orders", word, partition=1)
            producer.flush()
            if word == "kept":
                producer.commit_transaction()
            else:
                producer.abort_transaction()
        consumer = confluent.Consumer(
            {
                "bootstrap.servers": kafka.bootstrap_servers,
                "group.id": "billing",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        consumer.subscribe(["orders"])
        seen = [consumer.poll(30) for _ in range(2)]
        assert all(seen)
        consumer.commit(asynchronous=False)
        consumer.close()
        path = kafka.journal.save(tmp_path / f"kept.{ending}")
        offsets = kafka.group("billing").committed()
    other.create_topic("orders", 2)
    with other.journal as journal:
        replay(path, other, "--speed", "max")
    orders = other.topic("orders")
    assert orders.values() == [b"kept", b"kept"]
    assert len(orders.records(isolation="read_uncommitted")) == 4
    assert other.group("billing").committed() == offsets
    assert not journal.of("Produce").of(where=lambda each: bool(each.errors))


def test_topics_that_are_created_again_have_ids_of_their_own(
    other: Emulator, tmp_path: Path
) -> None:
    topic = CreateTopicsRequest.Topic(
        name="new", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    with Emulator(journal=True) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 7)
            topic_id = kafka.run(lambda cluster: cluster.topic("new").id)
            asked = MetadataRequest(topics=[MetadataRequest.Topic(topic_id=topic_id, name=None)])
            assert client.ask(asked, 12).topics[0].name == "new"
        path = kafka.journal.save(tmp_path / "kept.jsonl")
    with other.journal as journal:
        replay(path, other)
    assert journal[-1].response.topics[0].name == "new"


def test_what_is_answered_otherwise_is_said(
    other: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Emulator(
        {"auto.create.topics.enable": False}, topics={"orders": 1}, journal=True
    ) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            produce(client, batch(b"x"), topic="orders")
            produce(client, batch(b"x"), topic="none")
        path = kafka.journal.save(tmp_path / "kept.jsonl")
    replay(path, other, status=1)
    out, errors = capsys.readouterr()
    error = "UNKNOWN_TOPIC_OR_PARTITION"
    assert out == f"#1 Produce v9 of orders from by hand: no error then, {error} for orders-0 now\n"
    assert errors == "2 requests, 1 answered as they were, 1 not\n"


def test_a_version_that_the_broker_does_not_serve(
    other: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Emulator(journal=True) as kafka:
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(MetadataRequest(topics=None), 13)
            client.ask(MetadataRequest(topics=None), 12)
        path = kafka.journal.save(tmp_path / "kept.jsonl")
    with Emulator(version="3.9") as older:
        replay(path, older, status=1)
    out, _ = capsys.readouterr()
    assert out == "#1 Metadata v13 from by hand: no answer now: the broker closed the connection\n"


class NotReady(Step):
    """Refuses the first two requests to begin a producer, as a coordinator that loads."""

    def __init__(self) -> None:
        self.refused = 0

    def before(self, call: Call, request: Request) -> Outcome:
        if not isinstance(request, InitProducerIdRequest) or self.refused == 2:
            return None
        self.refused += 1
        return InitProducerIdResponse(error_code=Error.COORDINATOR_LOAD_IN_PROGRESS)


def test_a_broker_that_is_not_ready_is_asked_again(other: Emulator, tmp_path: Path) -> None:
    asked = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1000)
    with Emulator() as kafka, Connection(kafka.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(key="x", key_type=1), 2)
        with kafka.journal as journal:
            client.ask(asked, 4)
        path = journal.save(tmp_path / "kept.jsonl")
    step = NotReady()
    with Connection(other.bootstrap_servers) as client:
        client.ask(FindCoordinatorRequest(key="x", key_type=1), 2)
    other.run(lambda cluster: cluster.chain.append(step))
    replay(path, other)
    assert step.refused == 2


def test_only_some_requests_and_those_that_were_cut(
    other: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Emulator(topics={"orders": 1}) as kafka:
        kafka.journal.start(frame_bytes=100)
        with Connection(kafka.bootstrap_servers) as client:
            client.ask(MetadataRequest(topics=None), 12)
            produce(client, batch(b"x" * 200), topic="orders")
        path = kafka.journal.save(tmp_path / "kept.jsonl")
    replay(path, other, status=1)
    assert "not sent: only its beginning was kept" in capsys.readouterr()[0]
    replay(path, other, "--api", "Metadata")


def test_a_journal_is_not_taken_for_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Emulator(journal=True) as kafka:
        path = kafka.journal.save(tmp_path / "kept.jsonl")
    assert main(["replay", str(path), "localhost:9092"]) == 2
    assert f"odradek replay {path} --to HOST:PORT" in capsys.readouterr()[1]


def test_no_broker_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Emulator(journal=True) as kafka:
        path = kafka.journal.save(tmp_path / "kept.jsonl")
    assert main(["replay", str(path), "--to", "127.0.0.1:1"]) == 1
    assert "no broker at 127.0.0.1:1" in capsys.readouterr()[1]


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf", "fast"])
def test_speeds_are_checked(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["replay", "x", "--to", "localhost", "--speed", speed])
    assert end.value.code == 2
    assert "neither a number above 0 nor max" in capsys.readouterr()[1]


def test_what_was_over_before_is_over_before_again() -> None:
    traffic = Traffic()
    peer = traffic.peer(Address("127.0.0.1", 1), Address("127.0.0.1", 2))

    def recorded(begin: float, duration: float) -> Exchange:
        exchange = traffic.begin(peer, b"")
        exchange.time_ms, exchange.duration_ms = begin, duration
        return exchange

    long, short, late = recorded(0, 100), recorded(10, 20), recorded(50, 10)

    async def played() -> list[int]:
        order, begun = Order([long, short, late]), []

        async def begin(exchange: Exchange) -> None:
            await order.begin(exchange)
            begun.append(exchange.number)

        tasks = [asyncio.create_task(begin(each)) for each in (late, long, short)]
        await asyncio.sleep(0.01)
        assert begun == [1, 2], "the late one waits for the short one, and not for the long one"
        await order.end(short)
        await asyncio.gather(*tasks)
        return begun

    assert asyncio.run(played()) == [1, 2, 3]
