"""Misfortunes that an application has to do something about; and clients that are spared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import pytest
from odradek.emulator import Emulator, Error
from odradek.emulator.blocking_connection import Connection
from odradek.emulator.schedules import KINDS, MORE_KINDS, Horizon, Misfortune, Schedule, draw, watch
from odradek.storage import MemoryDisk

from tests.requests.fetch import asked, fetch_request
from tests.requests.produce import batch, produce

HORIZON = Horizon({"Produce": 4, "Fetch": 30, "OffsetCommit": 3, "EndTxn": 2})
SEEDS = range(200)


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(disk=MemoryDisk(), topics={"orders": 2}) as kafka:
        yield kafka


def errors(kafka: Emulator, client_id: str = "app") -> list[Error]:
    """What a client is told of each partition."""
    request = fetch_request(asked(0), asked(1), topic="orders")
    with closing(Connection(kafka.host, kafka.port, 30, client_id)) as client:
        (topic,) = client.ask(request, 12).responses
        return [Error(each.error_code) for each in topic.partitions]


def test_they_are_drawn_where_they_are_asked_for_alone() -> None:
    assert not set(KINDS) & set(MORE_KINDS)
    drawn = Counter(e.kind for seed in SEEDS for e in draw(seed, HORIZON).misfortunes)
    assert not set(drawn) & set(MORE_KINDS)
    for kind in MORE_KINDS:
        found = [e for s in SEEDS for e in draw(s, HORIZON, kinds=[kind]).misfortunes]
        assert {each.kind for each in found} == {kind}
        schedule = Schedule(tuple(found[:5]))
        assert Schedule.parse(str(schedule)) == schedule


@pytest.mark.parametrize("kind", MORE_KINDS)
def test_each_is_what_its_code_says(kafka: Emulator, kind: str) -> None:
    for seed in range(20):
        schedule = draw(seed, HORIZON, kinds=[kind])
        begun = schedule.begin(kafka)
        assert [str(each) for each in begun.rules] == [
            f"{each.code}.optional()" if "optional" in str(rule) else each.code
            for each, rule in zip(schedule.misfortunes, begun.rules, strict=True)
        ]


def test_an_error_that_no_client_tries_again(kafka: Emulator) -> None:
    schedule = Schedule((Misfortune("Fetch", 2, "fail", error="TOPIC_AUTHORIZATION_FAILED"),))
    with schedule.on(kafka):
        assert set(errors(kafka)) == {Error.NONE}
        assert set(errors(kafka)) == {Error.TOPIC_AUTHORIZATION_FAILED}


def test_a_partition_that_is_slower_than_its_sisters(kafka: Emulator) -> None:
    schedule = Schedule((Misfortune("Fetch", 1, "lag", partition=1, times=2),))
    with schedule.on(kafka):
        found = [errors(kafka) for _ in range(3)]
    behind = [Error.NONE, Error.NOT_LEADER_OR_FOLLOWER]
    assert found == [behind, behind, [Error.NONE, Error.NONE]]


def test_retention_overtakes_and_topics_grow(kafka: Emulator) -> None:
    kafka.topic("orders").produce_all([b"x"] * 4)
    schedule = Schedule((Misfortune("Fetch", 1, "overtake"), Misfortune("Fetch", 2, "grow")))
    with schedule.on(kafka) as begun:
        assert set(errors(kafka)) == {Error.OFFSET_OUT_OF_RANGE}
        assert len(kafka.topic("orders")) == 2
        errors(kafka)
    assert len(kafka.topic("orders")) == 3
    assert begun.happened == schedule.misfortunes


def test_other_clients_are_spared(kafka: Emulator) -> None:
    schedule = Schedule((Misfortune("Fetch", 1, "fail", error="NOT_LEADER_OR_FOLLOWER"),))
    with schedule.on(kafka, client_id="app") as begun:
        assert set(errors(kafka, "test-reader")) == {Error.NONE}
        assert set(errors(kafka, "app")) == {Error.NOT_LEADER_OR_FOLLOWER}
    assert begun.happened


def test_other_clients_are_not_counted(kafka: Emulator) -> None:
    with watch(kafka, client_id="app") as horizon:
        with closing(Connection(kafka.host, kafka.port, 30, "test-feeder")) as client:
            produce(client, batch(b"x", time=kafka.now), topic="orders")
        errors(kafka)
    assert horizon.requests.get("Fetch") == 1
    assert "Produce" not in horizon.requests
