"""Names that people type first are refused with the one that is meant."""

from __future__ import annotations

import re
from typing import Any

import pytest
from odradek import (
    Emulator,
    Error,
    GroupView,
    PartitionView,
    Refused,
    ShareGroupView,
    StreamsGroupView,
    TopicView,
)
from odradek.emulator.base.guesses import meant, missing
from odradek.emulator.base.words import Guessable
from odradek.fixtures.kafka.disk import Disk
from odradek.fixtures.kafka.network import Network
from odradek.fixtures.kafka.rule_builder import RuleBuilder
from odradek.fixtures.remote.kafka import RemoteKafka

CLASSES: list[type] = [
    *(Emulator, RemoteKafka, TopicView, PartitionView, GroupView, ShareGroupView),
    *(StreamsGroupView, RuleBuilder, Network, Disk),
]


def test_each_guess_names_what_is_there_and_is_not_there_itself() -> None:
    assert set(meant()) == {each.__name__ for each in CLASSES}
    for kind in CLASSES:
        there = {*dir(kind), *(dir(Emulator) if kind is RemoteKafka else ())}
        for guess, name in meant()[kind.__name__].items():
            assert guess not in there, (kind.__name__, guess)
            word = re.match(r"(?:len\(topic\.)?(\w+)", name.replace("topic[0]", "__getitem__"))
            assert word is not None
            assert word[1] in there, (kind.__name__, name)


def test_what_is_missing_is_refused_by_name() -> None:
    with Emulator(topics=["orders"]) as running:
        kafka: Any = running
        for find, sentence in (
            (lambda: kafka.address, "Emulator has no attribute 'address'; use .bootstrap_servers"),
            (lambda: kafka["orders"].send, r"TopicView has .* 'send'; use .produce(...)"),
            (lambda: kafka["orders"].partition(0), r"TopicView has .*; use topic\[0\]"),
            (lambda: kafka["orders"].count, r"TopicView has .*; use len\(topic.records()\)"),
            (lambda: kafka.kill_broker(1), r"Emulator has .*; use .brokers\[1\].kill()"),
            (lambda: kafka["orders"][0].consume, r"PartitionView has .*; use .records()"),
            (lambda: kafka.group("g").assert_lag, r"GroupView has .*; use .lag()"),
            (lambda: kafka.advnce, "Emulator has no attribute 'advnce'; use .advance"),
            (lambda: kafka.xyzzy, "Emulator has no attribute 'xyzzy'"),
            (lambda: kafka._nothing, "Emulator has no attribute '_nothing'"),
        ):
            with pytest.raises(AttributeError) as raised:
                find()
            assert re.fullmatch(
                sentence.replace("()", r"\(\)").replace("(...)", ".*"), str(raised.value)
            )
        assert not hasattr(kafka, "address")
    assert (
        str(missing(RemoteKafka, "pause")) == "RemoteKafka has no attribute 'pause'; use .paused()"
    )


def test_a_property_that_raises_says_why() -> None:
    class Broken(Guessable):
        @property
        def value(self) -> int:
            raise AttributeError("from within")

    with pytest.raises(AttributeError, match="from within"):
        _ = Broken().value


def test_a_wrong_argument_is_refused_in_the_name_of_the_class_that_people_know() -> None:
    with Emulator() as kafka, pytest.raises(TypeError, match=r"^Emulator\.advance\(\) got an"):
        kafka.advance(day=1)  # type: ignore[call-arg]


def test_groups_are_listed_and_deleted() -> None:
    with Emulator(topics=["orders"]) as kafka:
        assert kafka.groups() == []
        with pytest.raises(Refused, match="GROUP_ID_NOT_FOUND: deleting group 'billing'"):
            kafka.group("billing").delete()
        for name in ("billing", "audit"):
            kafka.group(name).commit({("orders", 0): 0})
        assert kafka.groups() == ["audit", "billing"]
        kafka.group("billing").delete()
        assert kafka.groups() == ["audit"]
        with pytest.raises(Refused) as raised:
            kafka.group("billing").delete()
        assert raised.value.error == Error.GROUP_ID_NOT_FOUND


def test_waits_and_assertions_speak_one_vocabulary() -> None:
    with Emulator(topics=["orders"]) as kafka:
        orders = kafka["orders"]
        orders.produce_all(["x", "y", "y"])
        assert orders.wait_for(b"x").offset == orders.wait_for("x", timeout=1).offset == 0
        assert orders.assert_produced("x").offset == orders.assert_produced(b"x", within=1).offset
        assert len(orders.wait_for("y", times=2, within=1)) == len(orders.wait_for(2, value="y"))
        assert orders.assert_produced("y", count=2, timeout=1) == orders.wait_for("y")
        for wrong in (
            lambda: orders.wait_for("x", value="y"),
            lambda: orders.assert_produced("x", value="y"),
            lambda: orders.wait_for(1, times=1),  # type: ignore[call-overload]
            lambda: orders.wait_for("x", timeout=1, within=1),
            lambda: orders.assert_produced("x", times=1, count=1),
        ):
            with pytest.raises(TypeError, match=r"given twice|are the same: give one of them"):
                wrong()


def test_a_type_error_names_the_class_that_people_have() -> None:
    with Emulator(topics=["t"]) as kafka:
        topic, group = kafka.topic("t"), kafka.group("g")
        called: tuple[tuple[Any, str], ...] = (
            (topic.wait_for, "TopicView.wait_for"),
            (topic[0].truncate, "PartitionView.truncate"),
            (topic.values, "TopicView.values"),
            (group.lag, "GroupView.lag"),
            (kafka.share_group("s").wait_stable, "ShareGroupView.wait_stable"),
            (kafka.stop, "Emulator.stop"),
            (kafka.create_topic, "Emulator.create_topic"),
        )
        for verb, name in called:
            with pytest.raises(TypeError, match=rf"^{re.escape(name)}\(\) "):
                verb(1, 2, 3, 4, 5, nothing=6)
