"""The configs of a group: its own where it has one, else the brokers' (`group.` + name).

`group_config` is what coordinators ask; a group need not exist to have configs.
`check_group` judges what a group is to have: each value by itself (the table below), then within
the bounds that the brokers set for all groups. Source: KIP-1240 and before; Kafka 4.3.1's answers.

The rows of every config of a group, and of a metrics subscription, are here, too.

Not emulated: adjusting the configs of a group when the brokers' bounds change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ..base.java_order import hash_map_order
from .broker_table import broker_definitions
from .configs import BrokerConfig
from .definition import ConfigError, Definition, parse_table

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
        of_streams = name.startswith("streams.") and self._overrides
        if of_streams and not self._broker.release.shows_brokers_values_of_groups:
            return definition.default
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


@cache
def group_definitions() -> dict[str, Definition]:
    return parse_table(_GROUP)


@cache
def client_metrics_definitions() -> dict[str, Definition]:
    return parse_table(_CLIENT_METRICS)


_GROUP = """
consumer.session.timeout.ms              INT      45000 1.. cluster
    from group.consumer.session.timeout.ms
    Time without a heartbeat after which a member is removed.
consumer.heartbeat.interval.ms           INT      5000 1.. cluster
    from group.consumer.heartbeat.interval.ms
    Interval at which members are to send heartbeats.
consumer.assignment.interval.ms          INT      1000 0.. cluster
    from group.consumer.assignment.interval.ms
    Minimum time between two assignments of a group.
share.session.timeout.ms                 INT      45000 1.. cluster
    from group.share.session.timeout.ms
    Time without a heartbeat after which a member of a share group is removed.
share.heartbeat.interval.ms              INT      5000 1.. cluster
    from group.share.heartbeat.interval.ms
    Interval at which members of a share group are to send heartbeats.
share.record.lock.duration.ms            INT      30000 1000.. cluster
    from group.share.record.lock.duration.ms
    Time for which a record stays with the member that acquired it.
share.delivery.count.limit               INT      5 2.. cluster
    from group.share.delivery.count.limit
    Maximum number of times that a record is delivered.
share.partition.max.record.locks         INT      2000 100.. cluster
    from group.share.partition.max.record.locks
    Maximum number of a partition's records that are acquired at a time.
share.auto.offset.reset                  STRING   latest offsets cluster
    Where a share group without an offset begins.
share.isolation.level                    STRING   read_uncommitted @isolation cluster
    Whether a share group reads records of open transactions.
share.renew.acknowledge.enable           BOOLEAN  true * cluster
    Whether members may extend the time for which they hold a record.
share.assignment.interval.ms             INT      1000 0.. cluster
    from group.share.assignment.interval.ms
    Minimum time between two assignments of a share group.
streams.session.timeout.ms               INT      45000 1.. cluster
    from group.streams.session.timeout.ms
    Time without a heartbeat after which a member of a streams group is removed.
streams.heartbeat.interval.ms            INT      5000 1.. cluster
    from group.streams.heartbeat.interval.ms
    Interval at which members of a streams group are to send heartbeats.
streams.num.standby.replicas             INT      0 0.. cluster
    from group.streams.num.standby.replicas
    Number of standby copies of each task's state.
streams.initial.rebalance.delay.ms       INT      3000 0.. cluster
    from group.streams.initial.rebalance.delay.ms
    Time for which a new streams group waits for members before it is assigned tasks.
streams.assignment.interval.ms           INT      1000 0.. cluster
    from group.streams.assignment.interval.ms
    Minimum time between two assignments of a streams group.
""".replace("@isolation", "read_committed|read_uncommitted")

_CLIENT_METRICS = """
metrics                                  LIST     "" unique cluster
    Which metrics are asked for: a list of prefixes of names, or * for all.
interval.ms                              INT      300000 * cluster
    Interval at which a client sends the metrics that are asked for.
match                                    LIST     "" unique cluster
    Which clients are asked: a list of selector=expression.
"""
