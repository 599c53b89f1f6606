"""Section I14: every topic config, with good values and bad ones, by each of the three ways."""

from __future__ import annotations

from odradek.emulator.config.topic_table import topic_definitions
from odradek.wire.api.create_topics import CreateTopicsRequest

from ..ask.config_values import values_of
from ..ask.configs import TOPIC, alter, put_in, shown
from ..ask.topics import create
from ..engine.steps import Ask, Step, Steps
from . import case


def every_value() -> list[tuple[str, str]]:
    """Every topic config with every value to be tried."""
    return [
        (name, value)
        for name, definition in topic_definitions().items()
        for value in values_of(definition.kind.name, definition.rule)
    ]


def _many(made: list[Step]) -> Steps:
    return [create("~t"), *made, shown(TOPIC, "~t")]


@case("I14")
def every_value_of_topic_configs_by_incremental_alter() -> Steps:
    steps: list[Step] = []
    for name, value in every_value():
        steps += [put_in(TOPIC, "~t", (name, value)), shown(TOPIC, "~t", name)]
    return _many(steps)


@case("I14")
def every_value_of_topic_configs_by_alter() -> Steps:
    return _many([alter((TOPIC, "~t", [pair]), only=True) for pair in every_value()])


@case("I14")
def every_value_of_topic_configs_by_create() -> Steps:
    steps: Steps = []
    for number, (name, value) in enumerate(every_value()):
        topic = CreateTopicsRequest.Topic(
            name=f"~{number}",
            num_partitions=1,
            replication_factor=1,
            assignments=[],
            configs=[CreateTopicsRequest.Topic.Config(name=name, value=value)],
        )
        steps.append(Ask(CreateTopicsRequest(topics=[topic], validate_only=True)))
    return steps
