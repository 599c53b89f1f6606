"""kafka.events, kafka.timeline and kafka.advice, through the public face."""

from __future__ import annotations

from datetime import datetime

import pytest
from odradek.emulator import Emulator


def test_the_timeline_of_a_topic_and_of_a_group() -> None:
    with Emulator() as kafka:
        orders = kafka.create_topic("orders")
        kafka.create_topic("other")
        orders.produce_all(["a", "b"])
        kafka.group("billing").commit({("orders", 0): 1})
        kinds = [(event.kind, event.topic, event.group) for event in kafka.events]
        lines = kafka.timeline(topic="orders").splitlines()
        (line,) = kafka.timeline(group="billing").splitlines()
    assert kinds == [
        ("topic created", "orders", ""),
        ("topic created", "other", ""),
        ("appended", "orders", ""),
        ("committed", "orders", "billing"),
    ]
    assert [line.split("s  ", 1)[1] for line in lines] == [
        "the test created topic orders with 1 partition",
        "the test appended offsets 0 to 1 to orders-0",
        "the test committed offset 1 of orders-0 in group billing",
    ]
    assert line == lines[-1]


def test_whose_timeline_is_wanted_is_checked() -> None:
    with Emulator() as kafka:
        with pytest.raises(TypeError, match="topic is a str, not 5"):
            kafka.timeline(topic=5)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="group is a str, not <group g"):
            kafka.timeline(group=kafka.group("g"))  # type: ignore[arg-type]


def test_what_a_test_only_looks_at_is_not_told() -> None:
    with Emulator() as kafka:
        orders = kafka.create_topic("orders")
        group = kafka.group("g")
        group.commit({("orders", 0): 0})
        before = kafka.timeline()
        orders.records(), group.offsets(), kafka.transactions(), kafka.clients()
        (orders[0].log_end_offset, group.lag(), group.wait_consumed(), orders.since(datetime.now()))
        assert kafka.timeline() == before


def test_it_is_there_after_the_broker_has_stopped_and_started() -> None:
    kafka = Emulator()
    assert kafka.events == []
    for name in ("one", "two"):
        with kafka:
            kafka.create_topic(name)
    assert [event.topic for event in kafka.events] == ["one", "two"]
    assert kafka.advice == []


def test_how_many_are_kept() -> None:
    with Emulator(max_events=2) as kafka:
        for name in ("one", "two", "three"):
            kafka.create_topic(name)
        assert [event.topic for event in kafka.events] == ["two", "three"]
    with Emulator(max_events=0) as kafka:
        kafka.create_topic("one").produce("x")
        assert (kafka.events, kafka.timeline(), kafka.advice) == ([], "", [])


def test_max_events_is_checked() -> None:
    with pytest.raises(ValueError, match="max_events is at least 0"):
        Emulator(max_events=-1)
    with pytest.raises(TypeError, match="max_events is a number of events to keep"):
        Emulator(max_events="many")  # type: ignore[arg-type]
