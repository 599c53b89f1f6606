"""What views of groups of all types have in common: configs, and topics that are mistyped."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator import Emulator, Refused
from odradek.wire.api.describe_configs import DescribeConfigsRequest

from tests.support.connection import Connection

CASES = [
    ("group", "consumer.session.timeout.ms", 46_000),
    ("share_group", "share.auto.offset.reset", "earliest"),
    ("streams_group", "streams.num.standby.replicas", 1),
]


def config_of(kafka: Emulator, group_id: str, name: str) -> str | None:
    made = DescribeConfigsRequest.Resource
    asked = made(resource_type=32, resource_name=group_id, configuration_keys=[name])
    with Connection(kafka.bootstrap_servers) as client:
        (found,) = client.ask(DescribeConfigsRequest(resources=[asked]), 4).results
    return found.configs[0].value


@pytest.mark.parametrize(("view", "name", "value"), CASES)
def test_a_config_is_set_and_goes_back_to_the_default(view: str, name: str, value: Any) -> None:
    with Emulator() as kafka:
        before = config_of(kafka, "g", name)
        group = getattr(kafka, view)("g")
        group.set_config({name: value})
        assert config_of(kafka, "g", name) == str(value) != before
        group.set_config({name: None})
        assert config_of(kafka, "g", name) == before


@pytest.mark.parametrize(("view", "name", "value"), CASES)
def test_what_kafka_refuses_is_refused(view: str, name: str, value: Any) -> None:
    with Emulator() as kafka:
        group = getattr(kafka, view)("g")
        with pytest.raises(Refused, match="the configs of g"):
            group.set_config({name: "nonsense"})
        with pytest.raises(Refused, match=r"retention\.ms"):
            group.set_config({"retention.ms": 1})
        with pytest.raises(TypeError, match="configs"):
            group.set_config(name)


@pytest.mark.parametrize("view", ["group", "share_group", "streams_group"])
def test_a_mistyped_topic_has_no_lag(view: str) -> None:
    with Emulator(topics={"orders": 1}) as kafka:
        group = getattr(kafka, view)("g")
        with pytest.raises(Refused, match="group 'g' has no offsets of topic orders"):
            group.lag("orders")
        with pytest.raises(Refused, match="there is no topic 'order'"):
            group.lag("order")
