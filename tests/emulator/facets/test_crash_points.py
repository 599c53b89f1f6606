"""A crash at every step of a scenario, and what is there afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from odradek.emulator import Emulator, TopicView
from odradek.storage import MemoryDisk
from odradek.wire import WireError

from tests.requests.produce import batch, produce
from tests.support.connection import Connection

GONE = (OSError, EOFError, WireError)


@pytest.fixture(params=["directory", "memory"])
def kafka(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    disk = MemoryDisk() if request.param == "memory" else None
    with Emulator(disk=disk, topics={"orders": 1}) as kafka:
        yield kafka


class Shop:
    """A producer without retries: it knows which of its records were acknowledged."""

    def __init__(self) -> None:
        self.acknowledged: list[bytes] = []
        self.sent: list[bytes] = []

    def __call__(self, kafka: Emulator) -> None:
        self.acknowledged, self.sent = [], []
        for number in range(3):
            value = b"%d" % number
            self.sent.append(value)
            with suppress(*GONE), Connection(kafka.bootstrap_servers) as client:
                answer = produce(client, batch(value, time=kafka.now), topic="orders")
                if answer.error_code == 0:
                    self.acknowledged.append(value)


def ordered(kafka: Emulator) -> list[bytes | None]:
    return kafka.topic("orders").values()


def test_it_crashes_once_at_each_step(kafka: Emulator) -> None:
    shop, points = Shop(), []
    for crash in kafka.crash_points(shop):
        points.append(str(crash.point))
        assert crash.happened
        assert crash.error is None
        assert set(shop.acknowledged) <= set(ordered(kafka)) <= set(shop.sent)
        assert f"the broker was killed ({crash.point})" in kafka.timeline()
    assert points == [
        f"before the {nth} {what}"
        for nth in ("1st", "2nd", "3rd")
        for what in ("Produce was carried out", "append to orders", "Produce was answered")
    ]
    assert ordered(kafka) == []


def test_what_a_scenario_asks_while_the_broker_comes_back_waits(kafka: Emulator) -> None:
    """It is never told to start a broker that starts anyway."""
    refused: list[Exception] = []

    def scenario(kafka: Emulator) -> None:
        is_over = threading.Event()

        def look() -> None:
            while not is_over.is_set():
                try:
                    ordered(kafka)
                except Exception as error:
                    refused.append(error)

        threads = [threading.Thread(target=look) for _ in range(3)]
        for each in threads:
            each.start()
        with suppress(*GONE), Connection(kafka.bootstrap_servers) as client:
            produce(client, batch(b"x", time=kafka.now), topic="orders")
        is_over.set()
        for each in threads:
            each.join()

    for crash in kafka.crash_points(scenario):
        assert crash.happened
    assert refused == []


def test_what_a_crash_leaves_depends_on_the_step(kafka: Emulator) -> None:
    shop = Shop()
    kinds = {
        crash.point.kind: len(ordered(kafka))
        for crash in kafka.crash_points(shop)
        if crash.point.number == 3
    }
    assert kinds == {"request": 2, "append": 2, "answer": 3}


def test_syncs_are_steps(kafka: Emulator) -> None:
    kafka.create_topic("safe", configs={"flush.messages": 1})

    def scenario(kafka: Emulator) -> None:
        with suppress(*GONE), Connection(kafka.bootstrap_servers) as client:
            produce(client, batch(b"x", time=kafka.now), topic="safe")

    points = []
    for crash in kafka.crash_points(scenario, steps=["sync"], power=True, seed=3):
        assert crash.happened
        assert kafka.topic("safe").values() in ([], [b"x"])
        points.append(crash.point)
    assert {each.name for each in points} >= {"safe"}
    assert {each.kind for each in points} == {"sync"}


@pytest.mark.parametrize("power", [False, True])
def test_what_was_acknowledged_and_synced_survives_every_crash(
    kafka: Emulator, power: bool
) -> None:
    kafka.create_topic("safe", configs={"flush.messages": 1})
    acknowledged: list[bytes] = []

    def scenario(kafka: Emulator) -> None:
        acknowledged.clear()
        for value in (b"a", b"b"):
            with suppress(*GONE), Connection(kafka.bootstrap_servers) as client:
                if not produce(client, batch(value, time=kafka.now), topic="safe").error_code:
                    acknowledged.append(value)

    count = 0
    for crash in kafka.crash_points(scenario, power=power):
        with crash:
            assert set(acknowledged) <= set(kafka.topic("safe").values())
        count += 1
    assert count >= 8


@pytest.mark.slow
def test_a_sample_is_chosen_by_its_seed(kafka: Emulator) -> None:
    def points(seed: int) -> list[Any]:
        return [crash.point for crash in kafka.crash_points(Shop(), sample=3, seed=seed)]

    assert len(points(1)) == 3
    assert points(1) == points(1)
    assert points(1) != points(2)


def test_each_run_begins_as_it_was(kafka: Emulator) -> None:
    kafka.topic("orders").produce(b"before")
    for _ in kafka.crash_points(Shop(), sample=3):
        assert ordered(kafka)[0] == b"before"
        assert len(ordered(kafka)) <= 4
        kafka.topic("orders").produce(b"by the loop")
    assert ordered(kafka) == [b"before"]


def test_a_failure_names_the_step(kafka: Emulator) -> None:
    _, second, _ = kafka.crash_points(Shop(), steps=["append"])
    with pytest.raises(ZeroDivisionError) as failed, second:
        _ = 1 / 0
    assert failed.value.__notes__ == ["crash before the 2nd append to orders"]


def test_one_crash_so_far_within_the_scenario(kafka: Emulator) -> None:
    points = [crash.point for crash in kafka.crash_points(Shop())]
    assert [kafka.crash_at(Shop(), part).point for part in (0, 0.5, 0.99)] == [
        points[0],
        points[4],
        points[8],
    ]
    with pytest.raises(ValueError, match="below 1"):
        kafka.crash_at(Shop(), 1)
    with pytest.raises(ValueError, match="no step"):
        kafka.crash_at(lambda _: None, 0)


def test_what_the_scenario_raises_after_a_crash_is_kept(kafka: Emulator) -> None:
    def scenario(kafka: Emulator) -> None:
        with Connection(kafka.bootstrap_servers) as client:
            produce(client, batch(b"x", time=kafka.now), topic="orders")

    errors = [crash.error for crash in kafka.crash_points(scenario)]
    assert len(errors) == 3
    assert all(isinstance(each, GONE) for each in errors)


def test_what_the_test_itself_does_is_not_acknowledged_by_a_broker_that_crashed(
    kafka: Emulator,
) -> None:
    kafka.create_topic("safe", configs={"flush.messages": 1})
    for topic in ("orders", "safe"):
        orders = kafka.topic(topic)
        for crash in kafka.crash_points(partial(_produce_to, orders)):
            assert isinstance(crash.error, ConnectionError)
            kept = crash.point.kind == "sync"  # it is written, and the process alone has ended
            assert orders.values() == [b"x"] * kept


def _produce_to(topic: TopicView, _: Emulator) -> None:
    topic.produce(b"x")


def test_what_it_raises_without_a_crash_is_raised(kafka: Emulator) -> None:
    with pytest.raises(ZeroDivisionError):
        next(kafka.crash_points(lambda _: 1 / 0))


def test_a_step_that_does_not_come_again_is_told(kafka: Emulator) -> None:
    runs = iter([3, 0])

    def scenario(kafka: Emulator) -> None:
        for _ in range(next(runs, 0)):
            kafka.topic("orders").produce(b"x")

    crashes = list(kafka.crash_points(scenario, steps=["append"], sample=1))
    assert [crash.happened for crash in crashes] == [False]


def test_what_cannot_be_meant_is_refused(kafka: Emulator) -> None:
    with pytest.raises(ValueError, match="steps are of request, append, sync, answer"):
        next(kafka.crash_points(Shop(), steps=["appends"]))
    with pytest.raises(ValueError, match="sample is how many"):
        next(kafka.crash_points(Shop(), sample=0))


def test_it_leaves_nothing(kafka: Emulator) -> None:
    for _ in kafka.crash_points(Shop(), sample=2):
        time.sleep(0)
    assert kafka.run(lambda cluster: cluster.chain) == []
    assert kafka._disk_rules.watch.told is None


def test_topics_that_were_created_are_there_after_a_power_cut(kafka: Emulator) -> None:
    def scenario(kafka: Emulator) -> None:
        kafka.create_topic("created", configs={"flush.messages": 1}).produce(b"x")

    points = []
    for crash in kafka.crash_points(scenario, steps=["append", "sync"], power=True, seed=5):
        points.append(crash.point)
        if crash.point.name == "created":
            assert "created" in kafka.topics()
    assert {each.name for each in points} == {"__cluster_metadata", "created"}
