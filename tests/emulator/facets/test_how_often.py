"""Sentences without a verb: nothing was set, and the end of the test says so."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from odradek.emulator import Emulator, Error, NeverMatched
from odradek.emulator.cluster import Cluster

from tests.support.cluster import Client
from tests.support.ruled import Ruled


@pytest.fixture
def kafka(cluster: Cluster) -> Ruled:
    return Ruled(cluster)


def told(kafka: Any) -> list[str]:
    with pytest.raises(NeverMatched) as raised:
        kafka.check_faults()
    kafka.check_faults()  # each is told once
    return str(raised.value).splitlines()


def test_a_sentence_without_a_verb_is_told(kafka: Ruled) -> None:
    kafka.on("Produce")
    kafka.on("Fetch", topic="t").once().after(2).optional()
    assert told(kafka) == [
        "kafka.on('Produce') has no verb: nothing was set.",
        "kafka.on('Fetch', topic='t').once().after(2).optional() has no verb: nothing was set.",
    ]


def test_beside_rules_that_never_took_effect(kafka: Ruled) -> None:
    kafka.on("Produce").drop_reply()
    kafka.on("Fetch")
    assert told(kafka)[:2] == [
        "kafka.on('Fetch') has no verb: nothing was set.",
        "kafka.on('Produce').drop_reply() never took effect.",
    ]


def test_one_that_is_kept_may_be_used_several_times_or_later(kafka: Ruled) -> None:
    produced = kafka.on("Produce")
    kafka.check_faults()
    twice = produced.times(2).optional()
    twice.fail(Error.NOT_LEADER_OR_FOLLOWER)
    twice.delay(1)
    produced.optional().drop_reply()
    del produced, twice
    kafka.check_faults()
    assert len(kafka.rules) == 3


def test_one_branch_of_it_without_a_verb(kafka: Ruled) -> None:
    produced = kafka.on("Produce")
    produced.optional().drop_reply()
    produced.once()
    assert told(kafka) == ["kafka.on('Produce').once() has no verb: nothing was set."]


def test_an_argument_that_is_refused_is_told_where_it_is(kafka: Ruled) -> None:
    with pytest.raises(ValueError, match="from 1 on"):
        kafka.on("Produce").times(0)
    with pytest.raises(ValueError, match="there is no error"):
        kafka.on("Produce").once().fail("WRONG")
    kafka.check_faults()


def test_it_is_forgotten_with_the_others(kafka: Ruled) -> None:
    kafka.on("Produce")
    kafka.forget_faults()
    kafka.check_faults()
    kafka.on("Produce")
    kafka.excuse_faults()
    kafka.check_faults()


def test_operations_on_the_disk() -> None:
    with Emulator() as kafka:
        kafka.disk.on("append", topic="t").once()
        assert told(kafka) == [
            "kafka.disk.on('append', topic='t').once() has no verb: nothing was set."
        ]
        with pytest.raises(ValueError, match="only an append or a write is torn"):
            kafka.disk.on("sync").torn()
        kafka.disk.on("sync")
        kafka.excuse_faults()
        kafka.disk.on("sync")
        kafka.reset()


def test_until_and_during_on_the_disk() -> None:
    """As of requests: an event, a function, or the broker's clock."""
    with Emulator(clock="manual", topics={"t": 1}) as kafka:
        topic, healed = kafka.topic("t"), threading.Event()

        def is_refused() -> bool:
            try:
                topic.produce(b"x")
            except Exception:
                return True
            return False

        kafka.disk.on("append", topic="t").until(healed).fail()
        assert is_refused()
        healed.set()
        assert not is_refused()
        kafka.disk.on("append", topic="t").during(60).fail()
        assert is_refused()
        kafka.advance(seconds=60)
        assert not is_refused()


def test_a_function_that_fails_is_told_at_the_end() -> None:
    def broken() -> bool:
        raise LookupError("of the test's own")

    with Emulator(topics={"t": 1}) as kafka:
        kafka.disk.on("append").until(broken).fail()
        kafka.topic("t").produce(b"x")
        with pytest.raises(LookupError, match="of the test's own") as raised:
            kafka.check_faults()
    assert raised.value.__notes__ == ["raised within kafka.disk.on('append').until(broken).fail()"]


def test_a_probability_without_a_seed_has_one_that_is_told(kafka: Ruled, client: Client) -> None:
    assert "seed=" in repr(kafka.on("Produce").with_probability(0.5).optional().drop_reply())
