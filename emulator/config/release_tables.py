"""Which configs the brokers and topics of a release of Kafka have.

A release names its tables (`configs`, base/release.py). Those of 4.3 are the base; a release whose
configs differ has a module of its own, as kafka_3_9.py, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ..base.release import Release
from . import kafka_3_9
from .broker_table import broker_definitions
from .definition import Definition
from .topic_table import topic_definitions


class ConfigTables(NamedTuple):
    """The configs of a release."""

    broker: dict[str, Definition]
    topic: dict[str, Definition]
    is_settable: Callable[[str], bool]
    """Whether a broker has a config of this name for its users."""


def _kafka_4_3() -> ConfigTables:
    broker = broker_definitions()
    return ConfigTables(broker, topic_definitions(), broker.__contains__)


def _kafka_3_9() -> ConfigTables:
    return ConfigTables(
        kafka_3_9.old_broker_definitions(),
        kafka_3_9.old_topic_definitions(),
        kafka_3_9.is_settable,
    )


_TABLES: dict[str, Callable[[], ConfigTables]] = {"4.3": _kafka_4_3, "3.9": _kafka_3_9}


def config_tables(release: Release) -> ConfigTables:
    """The configs that a release has."""
    return _made(release.configs)


@cache
def _made(name: str) -> ConfigTables:
    return _TABLES[name]()
