"""The configs of a group: its own where it has one, else the brokers' (`group.` + name).

`group_config` is what coordinators ask; a group need not exist to have configs.
`check_group` judges what a group is to have: each value by itself (group_table.py), then within
the bounds that the brokers set for all groups. Source: KIP-1240 and before; Kafka 4.3.1's answers.

Not emulated: adjusting the configs of a group when the brokers' bounds change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..base.java_order import hash_map_order
from .broker_table import broker_definitions
from .configs import BrokerConfig
from .definition import ConfigError
from .group_table import group_definitions

GROUP_RESOURCE = 32

# Configs of groups with bounds that the brokers set, in the order in which Kafka checks them.
_BOUNDED = (
    "consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms",
    "consumer.assignment.interval.ms",
    "share.heartbeat.interval.ms",
    "share.session.timeout.ms",
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
    "share.assignment.interval.ms",
    "streams.heartbeat.interval.ms",
    "streams.session.timeout.ms",
    "streams.num.standby.replicas",
    "streams.assignment.interval.ms",
)
_BROKERS_OWN = 11  # are in one map with what a group is to have
_ENDS = ("min", "max")
_PROTOCOLS = ("consumer", "share", "streams")


class GroupConfig:
    __slots__ = ("_broker", "_overrides")

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        self._broker = broker
        self._overrides = overrides

    def get(self, name: str) -> Any:
        """The value in force, parsed, e.g. of `consumer.session.timeout.ms`.

        Raises KeyError for a name that Kafka does not have.
        """
        definition = group_definitions()[name]
        if name in self._overrides:
            return definition.parse(self._overrides[name])
        return self._broker.default_of(definition)


def group_config(
    configs_of: Callable[[int, str], Mapping[str, str]], group_id: str, broker: BrokerConfig
) -> GroupConfig:
    """The configs of a group, over those of a broker, now: `configs_of` is that of the metadata's
    image. Ask again each time they are needed: they may change."""
    return GroupConfig(broker, configs_of(GROUP_RESOURCE, group_id))


def check_group(broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
    """Judge what a group is to have. Raises ConfigError."""
    definitions = group_definitions()
    known = definitions.keys() - broker.gone_group
    unknown = [name for name in overrides if name not in known]
    for name in hash_map_order(unknown, beside=_BROKERS_OWN):
        raise ConfigError(name, f"Unknown group config name: {name}")
    config = GroupConfig(broker, overrides)
    values = {name: config.get(name) for name in definitions}
    for name in _BOUNDED:
        protocol, _, rest = name.partition(".")
        least, most = (f"group.{protocol}.{end}.{rest.removeprefix('num.')}" for end in _ENDS)
        if least in broker_definitions() and values[name] < broker.get(least):
            raise ConfigError(name, f"{name} must be greater than or equal to {least}")
        if values[name] > broker.get(most):
            raise ConfigError(name, f"{name} must be less than or equal to {most}")
    for protocol in _PROTOCOLS:
        session, beat = f"{protocol}.session.timeout.ms", f"{protocol}.heartbeat.interval.ms"
        if values[session] <= values[beat]:
            raise ConfigError(session, f"{session} must be greater than {beat}")
