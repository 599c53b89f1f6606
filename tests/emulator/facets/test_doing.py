"""What a test does without a client: creating topics."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from odradek.emulator import Emulator, Refused
from odradek.storage import MemoryDisk
from odradek.wire import Error


@pytest.fixture
def kafka() -> Iterator[Emulator]:
    with Emulator(disk=MemoryDisk()) as kafka:
        yield kafka


def test_configs_of_a_topic_in_either_spelling(kafka: Emulator) -> None:
    given = {"retention.ms": 5}
    kafka.create_topic("a", 1, given)
    kafka.create_topic("b", config=given)
    kafka.create_topic("c", configs=given)
    d = kafka.unique_topic("d", config=given).name
    e = kafka.unique_topic("e", configs=given).name
    for name in ("a", "b", "c", d, e):
        own = kafka.run(lambda cluster, name=name: cluster.topic(name).config.overrides)  # type: ignore[misc]
        assert own == {"retention.ms": "5"}
    with pytest.raises(TypeError, match="config and configs are two names of one argument"):
        kafka.create_topic("f", config=given, configs=given)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"retention.msx": 1}, "Unknown topic config name: retention.msx; is retention.ms meant?"),
        ({"zzz": 1}, "Unknown topic config name: zzz"),
        (
            {"num.partitions": 1},
            "Unknown topic config name: num.partitions; the broker has it: "
            "Emulator({'num.partitions': ...})",
        ),
    ],
)
def test_a_config_that_topics_do_not_have(
    kafka: Emulator, config: dict[str, int], told: str
) -> None:
    with pytest.raises(Refused) as refused:
        kafka.create_topic("orders", config=config)
    assert (refused.value.error, str(refused.value)) == (
        Error.INVALID_CONFIG,
        f"INVALID_CONFIG: {told}",
    )
    assert kafka.topics() == []


def test_configs_of_all_brokers_while_they_run(kafka: Emulator) -> None:
    kafka.set_config({"log.retention.ms": 5})
    assert kafka.run(lambda cluster: cluster.config.get("log.retention.ms")) == 5
    kafka.set_config({"log.retention.ms": None})
    assert kafka.run(lambda cluster: cluster.config.get("log.retention.ms")) is None
    with pytest.raises(Refused) as refused:
        kafka.set_config({"log.retention.mss": 5})
    assert str(refused.value) == (
        "INVALID_CONFIG: Unknown broker config name: log.retention.mss; is log.retention.ms meant?"
    )
    with pytest.raises(Refused, match="Cannot update these configs dynamically") as refused:
        kafka.set_config({"node.id": 4})
    assert refused.value.error is Error.INVALID_REQUEST
