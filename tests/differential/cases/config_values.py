"""Section I14: every topic config, with good values and bad ones, by each of the three ways."""

from __future__ import annotations

from odradek.emulator.config.tables import topic_definitions
from odradek.wire.api.create_topics import CreateTopicsRequest

from ..ask.asks import create
from ..engine.steps import Ask, Step, Steps
from . import case
from .admin import TOPIC
from .configs import alter, put_in, shown

FAR_MS = "9223372036854775807"

_TEXTS = ("", " ", ",", "a", "a,a", "compact", "COMPACT", "delete,compact", "compact,", "*")
_LISTS = (*_TEXTS, "0:1", "0:1,0:1", "*,0:1", "0:-1", " 0:1 , 1:1 ")
VALUES: dict[str, tuple[str, ...]] = {
    "BOOLEAN": ("true", "TRUE", " false ", "yes", "1", ""),
    "INT": (
        "2147483647",
        "2147483648",
        "-2147483648",
        "1.0",
        "0x10",
        "+5",
        " 7 ",
        "",
        "1e3",
        "\u0663",
    ),
    "LONG": (FAR_MS, "9223372036854775808", "-1", "-2", "-3", "1.0", "+5", " 7 ", "", "1_0"),
    "DOUBLE": ("0", "1", "1.0000001", "-0.0001", "1e-1", " .5 ", "0.5d", "NaN", "Infinity", ""),
    "LIST": _LISTS,
    "STRING": ("", " ", "x", "gzip", "GZIP", "none", "CreateTime", "logappendtime", " producer "),
}


def values_of(kind: str, rule: str) -> list[str]:
    """Values to try of a topic config: those of its type, and around the ends of its range."""
    values = list(VALUES[kind])
    for end in rule.replace(",", "..").split(".."):
        if end.lstrip("-").isdigit():
            values += [str(int(end) + shift) for shift in (-1, 0, 1)]
    return list(dict.fromkeys(values))


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
