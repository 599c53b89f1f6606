"""The configs of topics, groups and metrics subscriptions; how they follow from the broker's.

definition.py says how a row is read. Also here: where this emulator's broker defaults are
not Kafka's, and which broker configs are not for the user to set. Tables are Kafka 4.3.1's.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from .definition import Definition, parse_table

# Broker defaults that differ from Kafka's. Shown as if set in server.properties.
OUR_DEFAULTS = {
    # Kafka has no default: every node must say who it is.
    "node.id": "1",
    # Kafka waits 3 s for more consumers before it starts a new group; a test would wait with it.
    "group.initial.rebalance.delay.ms": "0",
    # Kafka's 3 (and 2 in sync) ask for three brokers before a consumer or a transaction can start.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}

# Follows from how the emulator is started (host, port, data directory, brokers).
NOT_SETTABLE = {
    "authorizer.class.name": "the emulator has no authorizer",
    "advertised.listeners": "it follows from the address that the emulator is started with",
    "broker.id": "set node.id instead",
    "controller.listener.names": "the emulator has no controller listener",
    "controller.quorum.bootstrap.servers": "the emulator has no quorum",
    "controller.quorum.voters": "the emulator has no quorum",
    "listeners": "it follows from the address that the emulator is started with",
    "log.dir": "it is the data directory that the emulator is started with",
    "log.dirs": "it is the data directory that the emulator is started with",
    "metadata.log.dir": "it is the data directory that the emulator is started with",
    "process.roles": "the emulator is broker and controller at once",
}


class BrokerName(NamedTuple):
    """A broker config that gives a topic config its default, and by what its unit is larger."""

    name: str
    factor: int = 1


_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000

# The first of these that is not null counts.
TOPIC_DEFAULTS: dict[str, tuple[BrokerName, ...]] = {
    "cleanup.policy": (BrokerName("log.cleanup.policy"),),
    "compression.gzip.level": (BrokerName("compression.gzip.level"),),
    "compression.lz4.level": (BrokerName("compression.lz4.level"),),
    "compression.type": (BrokerName("compression.type"),),
    "compression.zstd.level": (BrokerName("compression.zstd.level"),),
    "delete.retention.ms": (BrokerName("log.cleaner.delete.retention.ms"),),
    "file.delete.delay.ms": (BrokerName("log.segment.delete.delay.ms"),),
    "flush.messages": (BrokerName("log.flush.interval.messages"),),
    "flush.ms": (
        BrokerName("log.flush.interval.ms"),
        BrokerName("log.flush.scheduler.interval.ms"),
    ),
    "index.interval.bytes": (BrokerName("log.index.interval.bytes"),),
    "local.retention.bytes": (BrokerName("log.local.retention.bytes"),),
    "local.retention.ms": (BrokerName("log.local.retention.ms"),),
    "max.compaction.lag.ms": (BrokerName("log.cleaner.max.compaction.lag.ms"),),
    "max.message.bytes": (BrokerName("message.max.bytes"),),
    "message.timestamp.after.max.ms": (BrokerName("log.message.timestamp.after.max.ms"),),
    "message.timestamp.before.max.ms": (BrokerName("log.message.timestamp.before.max.ms"),),
    "message.timestamp.type": (BrokerName("log.message.timestamp.type"),),
    "min.cleanable.dirty.ratio": (BrokerName("log.cleaner.min.cleanable.ratio"),),
    "min.compaction.lag.ms": (BrokerName("log.cleaner.min.compaction.lag.ms"),),
    "min.insync.replicas": (BrokerName("min.insync.replicas"),),
    "preallocate": (BrokerName("log.preallocate"),),
    "retention.bytes": (BrokerName("log.retention.bytes"),),
    "retention.ms": (
        BrokerName("log.retention.ms"),
        BrokerName("log.retention.minutes", _MINUTE_MS),
        BrokerName("log.retention.hours", _HOUR_MS),
    ),
    "segment.bytes": (BrokerName("log.segment.bytes"),),
    "segment.index.bytes": (BrokerName("log.index.size.max.bytes"),),
    "segment.jitter.ms": (
        BrokerName("log.roll.jitter.ms"),
        BrokerName("log.roll.jitter.hours", _HOUR_MS),
    ),
    "segment.ms": (BrokerName("log.roll.ms"), BrokerName("log.roll.hours", _HOUR_MS)),
    "unclean.leader.election.enable": (BrokerName("unclean.leader.election.enable"),),
}

# Those of configs that Kafka 4 no longer has (kafka_3_9.py).
OLD_TOPIC_DEFAULTS = {
    name: (BrokerName(f"log.{name}"),)
    for name in (
        "message.downconversion.enable",
        "message.format.version",
        "message.timestamp.difference.max.ms",
    )
}

# Broker configs of which the first that is set counts; DescribeConfigs shows all of them.
BROKER_SYNONYMS = {
    name: names
    for names in (
        ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
        ("log.roll.ms", "log.roll.hours"),
        ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    )
    for name in names
} | {"log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")}

# Pairs of which the first must not exceed the second.
ORDERED = (
    ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
    ("group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms"),
    ("group.consumer.session.timeout.ms", "group.consumer.max.session.timeout.ms"),
    ("group.consumer.min.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms"),
    ("group.consumer.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"),
    ("group.consumer.min.assignment.interval.ms", "group.consumer.assignment.interval.ms"),
    ("group.consumer.assignment.interval.ms", "group.consumer.max.assignment.interval.ms"),
    ("group.share.min.session.timeout.ms", "group.share.session.timeout.ms"),
    ("group.share.session.timeout.ms", "group.share.max.session.timeout.ms"),
    ("group.share.min.heartbeat.interval.ms", "group.share.heartbeat.interval.ms"),
    ("group.share.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"),
    ("group.share.min.assignment.interval.ms", "group.share.assignment.interval.ms"),
    ("group.share.assignment.interval.ms", "group.share.max.assignment.interval.ms"),
    ("group.streams.min.session.timeout.ms", "group.streams.session.timeout.ms"),
    ("group.streams.session.timeout.ms", "group.streams.max.session.timeout.ms"),
    ("group.streams.min.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms"),
    ("group.streams.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"),
    ("group.streams.min.assignment.interval.ms", "group.streams.assignment.interval.ms"),
    ("group.streams.assignment.interval.ms", "group.streams.max.assignment.interval.ms"),
)


@cache
def topic_definitions() -> dict[str, Definition]:
    """The configs of a topic, by name, in the order in which Kafka looks at them."""
    return parse_table(_TOPIC)


@cache
def group_definitions() -> dict[str, Definition]:
    """The configs of a group, by name, in the order in which Kafka looks at them."""
    return parse_table(_GROUP)


@cache
def client_metrics_definitions() -> dict[str, Definition]:
    """The configs of a metrics subscription, by name."""
    return parse_table(_CLIENT_METRICS)


def group_synonym(name: str) -> str | None:
    """The broker config that gives a group's config its default."""
    bare = ("share.auto.offset.reset", "share.isolation.level", "share.renew.acknowledge.enable")
    return None if name in bare else f"group.{name}"


_TOPIC = """
segment.bytes                            INT      1073741824 1048576.. cluster
segment.ms                               LONG     604800000 1.. cluster
segment.jitter.ms                        LONG     0 0.. cluster
segment.index.bytes                      INT      10485760 4.. cluster
flush.messages                           LONG     9223372036854775807 1.. cluster
flush.ms                                 LONG     9223372036854775807 0.. cluster
retention.bytes                          LONG     -1 * cluster
retention.ms                             LONG     604800000 -1.. cluster
max.message.bytes                        INT      1048588 0.. cluster
index.interval.bytes                     INT      4096 0.. cluster
delete.retention.ms                      LONG     86400000 0.. cluster
min.compaction.lag.ms                    LONG     0 0.. cluster
max.compaction.lag.ms                    LONG     9223372036854775807 1.. cluster
file.delete.delay.ms                     LONG     60000 0.. cluster
min.cleanable.dirty.ratio                DOUBLE   0.5 0..1 cluster
cleanup.policy                           LIST     delete unique:compact|delete cluster
unclean.leader.election.enable           BOOLEAN  false * cluster
min.insync.replicas                      INT      1 1.. cluster
compression.type                         STRING   producer @codec cluster
compression.gzip.level                   INT      -1 -1,1..9 cluster
compression.lz4.level                    INT      9 1..17 cluster
compression.zstd.level                   INT      3 -131072..22 cluster
preallocate                              BOOLEAN  false * cluster
message.timestamp.type                   STRING   CreateTime CreateTime|LogAppendTime cluster
message.timestamp.before.max.ms          LONG     9223372036854775807 0.. cluster
message.timestamp.after.max.ms           LONG     3600000 0.. cluster
leader.replication.throttled.replicas    LIST     "" replicas cluster
follower.replication.throttled.replicas  LIST     "" replicas cluster
remote.storage.enable                    BOOLEAN  false * cluster
local.retention.ms                       LONG     -2 -2.. cluster
local.retention.bytes                    LONG     -2 -2.. cluster
remote.log.copy.disable                  BOOLEAN  false * cluster
remote.log.delete.on.disable             BOOLEAN  false * cluster
internal.segment.bytes                   INT      - * internal
""".replace("@codec", "uncompressed|zstd|lz4|snappy|gzip|producer")

_GROUP = """
consumer.session.timeout.ms              INT      45000 1.. cluster
consumer.heartbeat.interval.ms           INT      5000 1.. cluster
consumer.assignment.interval.ms          INT      1000 0.. cluster
share.session.timeout.ms                 INT      45000 1.. cluster
share.heartbeat.interval.ms              INT      5000 1.. cluster
share.record.lock.duration.ms            INT      30000 1000.. cluster
share.delivery.count.limit               INT      5 2.. cluster
share.partition.max.record.locks         INT      2000 100.. cluster
share.auto.offset.reset                  STRING   latest offsets cluster
share.isolation.level                    STRING   read_uncommitted @isolation cluster
share.renew.acknowledge.enable           BOOLEAN  true * cluster
share.assignment.interval.ms             INT      1000 0.. cluster
streams.session.timeout.ms               INT      45000 1.. cluster
streams.heartbeat.interval.ms            INT      5000 1.. cluster
streams.num.standby.replicas             INT      0 0.. cluster
streams.initial.rebalance.delay.ms       INT      3000 0.. cluster
streams.assignment.interval.ms           INT      1000 0.. cluster
""".replace("@isolation", "read_committed|read_uncommitted")

_CLIENT_METRICS = """
metrics                                  LIST     "" unique cluster
interval.ms                              INT      300000 * cluster
match                                    LIST     "" unique cluster
"""
