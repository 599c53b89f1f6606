"""Sections I15, I5: configs of brokers and loggers are changed, and reset at the end of a case.

All sequences share the two brokers: a case that ends early may leave them changed.
"""

from __future__ import annotations

from tests.requests.configs import Change

from ..ask.configs import (
    APPEND,
    BROKER,
    DELETE,
    LOGGER,
    SET,
    SUBTRACT,
    TOPIC,
    alter,
    change,
    put_in,
    reset,
    shown,
)
from ..ask.records import put
from ..ask.topics import create
from ..engine.steps import Steps
from . import case


@case("I15")
def configs_of_a_broker_change() -> Steps:
    kept = ["log.retention.ms", "log.retention.hours", "log.retention.minutes"]
    kept.append("log.cleanup.policy")
    steps: Steps = [create("~t"), create("~own", retention_ms="9")]
    for name in ("1", ""):
        steps += [
            put_in(BROKER, name, ("log.retention.ms", "700000")),
            shown(BROKER, "1", *kept),
            shown(BROKER, ""),
            shown(TOPIC, "~t", "retention.ms"),
            shown(TOPIC, "~own", "retention.ms"),
            change((BROKER, name, [("log.cleanup.policy", APPEND, "compact")])),
            shown(TOPIC, "~t", "cleanup.policy"),
            change((BROKER, name, [("log.cleanup.policy", SUBTRACT, "compact,delete")])),
            shown(BROKER, "1", *kept),
        ]
    return [
        *steps,
        create("~later"),
        reset(BROKER, "1", "log.retention.ms", "log.cleanup.policy"),
        shown(TOPIC, "~t", "retention.ms"),
        reset(BROKER, "", "log.retention.ms", "log.cleanup.policy", "num.partitions", "nope"),
        shown(TOPIC, "~t", "retention.ms"),
        shown(BROKER, ""),
    ]


@case("I15")
def rates_that_only_a_running_broker_has() -> Steps:
    names = ["leader.replication.throttled.rate", "follower.replication.throttled.rate"]
    names += ["replica.alter.log.dirs.io.max.bytes.per.second"]
    steps: Steps = [shown(BROKER, "1", *names)]
    for name in names:
        for broker in ("1", ""):
            steps += [
                *(put_in(BROKER, broker, (name, value)) for value in ("-1", "x", "", "0", " 05 ")),
                change((BROKER, broker, [("nonsense", APPEND, "1")])),
                change((BROKER, broker, [(name, APPEND, "1")])),
                shown(BROKER, broker, name),
                shown(BROKER, "1", name),
            ]
        steps += [reset(BROKER, broker, name) for broker in ("1", "")]
        steps.append(shown(BROKER, "1", name))
    return steps


@case("I15")
def lists_without_a_default() -> Steps:
    names = ["early.start.listeners", "advertised.listeners", "log.dirs"]
    names += ["process.roles", "controller.listener.names"]
    return [
        change((BROKER, broker, [(name, operation, "")]), only=True)
        for name in names
        for operation in (APPEND, SUBTRACT)
        for broker in ("1", "")
    ]


@case("I15")
def two_bad_values() -> Steps:
    """Which of them is named follows Kafka's own order."""
    names = ["log.cleaner.max.compaction.lag.ms", "group.share.assignment.interval.ms"]
    names += ["num.io.threads", "message.max.bytes"]
    return [
        change((BROKER, "", [(one, SET, ""), (other, SET, "")]), only=True)
        for one in names
        for other in names
        if one != other
    ]


@case("I15")
def names_of_brokers() -> Steps:
    steps: Steps = []
    for name in ("2", "x", " 1", "+1", "01", "1.0", "-1", "99999999999", "\u0661"):
        steps += [
            change((BROKER, name, [("log.retention.ms", SET, "700000")]), only=True),
            change((BROKER, name, [("a", SET, None)])),
            alter((BROKER, name, [("log.retention.ms", "700000")]), only=True),
            change((LOGGER, name, [])),
        ]
    return steps


# Most of these are refused, for all brokers, for one, or for both.
_REFUSED = [
    ("num.partitions", "5"),
    ("log.retention.ms", "x"),
    ("log.retention.ms", "0"),
    ("log.retention.ms", "-2"),
    ("log.segment.bytes", "5"),
    ("foo.bar", "x"),
    ("ssl.keystore.type", "JKS"),
    ("ssl.engine.factory.class", "x"),
    ("ssl.protocol", "x"),
    ("principal.builder.class", "x"),
    ("listener.name.plaintext.ssl.keystore.type", "JKS"),
    ("listener.name.foo.bar", "x"),
    ("min.insync.replicas", "0"),
    ("min.insync.replicas", "2"),
    ("log.cleaner.threads", "0"),
    ("log.cleaner.threads", "2"),
    ("log.cleaner.threads", "3"),
    ("log.cleaner.threads", "4"),
    ("log.cleaner.dedupe.buffer.size", "1048576"),
    ("log.cleaner.dedupe.buffer.size", "1048577"),
    ("log.local.retention.ms", "-1"),
    ("log.local.retention.ms", "604800001"),
    ("log.local.retention.bytes", "-1"),
    ("log.roll.ms", "0"),
    ("log.roll.jitter.ms", "-1"),
    ("max.connections", "0"),
    ("max.connection.creation.rate", "0"),
    ("max.connections.per.ip", "0"),
    ("max.connections.per.ip.overrides", "x"),
    ("max.connections.per.ip.overrides", "h:x"),
    ("max.connections.per.ip.overrides", "h:1,g:2"),
    ("metric.reporters", "x"),
    ("cordoned.log.dirs", "x"),
    ("config.providers", "a,a"),
    ("group.consumer.assignment.interval.ms", "20000"),
    ("num.replica.fetchers", "20"),
    ("num.io.threads", "1"),
    ("remote.log.reader.threads", "1"),
    ("unstable.api.versions.enable", "true"),
    ("log.message.timestamp.type", "x"),
]


@case("I15")
def configs_that_a_broker_does_not_take() -> Steps:
    steps: Steps = []
    for pair in _REFUSED:
        steps += [put_in(BROKER, name, pair, only=True) for name in ("1", "")]
    many = ["num.partitions", "broker.rack", "node.id", "log.dirs", "fetch.max.bytes"]
    return [
        *steps,
        put_in(BROKER, "", *((name, "1") for name in many)),
        put_in(BROKER, "", ("log.retention.bytes", "9"), ("log.local.retention.bytes", "10")),
        put_in(BROKER, "", ("log.retention.bytes", "9"), ("log.local.retention.bytes", "-1")),
        change((BROKER, "", [("log.retention.ms", APPEND, "5")])),
        change((BROKER, "", [("log.retention.ms", SUBTRACT, "5")])),
        change((BROKER, "", [("abc", APPEND, "5")])),
        change((BROKER, "", [("abc", SUBTRACT, "5")])),
        *(change((BROKER, name, [("min.insync.replicas", DELETE, None)])) for name in ("", "1")),
        change((BROKER, "1", [("log.retention.ms", SET, "9"), ("min.insync.replicas", SET, "1")])),
        change(
            (BROKER, "1", [("log.retention.ms", SET, "9"), ("min.insync.replicas", DELETE, None)])
        ),
        alter((BROKER, "", [])),
        alter((BROKER, "", [("num.partitions", "1")])),
        alter((BROKER, "1", [("min.insync.replicas", "1")])),
    ]


@case("I15")
def unknown_configs_of_brokers_are_kept_in_secret() -> Steps:
    return [
        put_in(BROKER, "1", ("foo.bar", "x")),
        put_in(BROKER, "", ("foo.baz", "x")),
        shown(BROKER, "1", "foo.bar", "foo.baz"),
        shown(BROKER, ""),
        reset(BROKER, "1", "foo.bar"),
        reset(BROKER, "", "foo.baz"),
    ]


@case("I15, I5")
def topics_follow_the_brokers_defaults() -> Steps:
    pairs = [
        ("log.retention.ms", "600000"),
        ("message.max.bytes", "200"),
        ("log.roll.ms", "700000"),
        ("log.roll.jitter.ms", "3"),
        ("log.flush.interval.ms", "9000"),
        ("unclean.leader.election.enable", "true"),
        ("compression.type", "gzip"),
        ("log.message.timestamp.type", "LogAppendTime"),
        ("min.insync.replicas", "1"),
    ]
    keys = [name for name, _ in pairs if name != "min.insync.replicas"]
    of_topics = ("retention.ms", "max.message.bytes", "segment.ms", "segment.jitter.ms", "flush.ms")
    return [
        create("~t"),
        put(b"before"),
        put_in(BROKER, "", *pairs),
        shown(TOPIC, "~t", *of_topics, "unclean.leader.election.enable", "compression.type"),
        shown(BROKER, "1", *keys, "log.roll.hours", "log.flush.scheduler.interval.ms"),
        create("~later"),
        put(b"x" * 300, name="~later"),
        put(b"x" * 20, name="~later"),
        put(b"x" * 300),
        reset(BROKER, "", *keys),
        put(b"x" * 300),
        put(b"x" * 300, name="~later"),
        shown(TOPIC, "~later"),
    ]


@case("I14, I15")
def defaults_at_odds_with_each_other() -> Steps:
    pairs = [
        ("log.cleaner.min.compaction.lag.ms", "100"),
        ("log.cleaner.max.compaction.lag.ms", "10"),
    ]
    return [
        create("~before"),
        put_in(BROKER, "", *pairs),
        create("~t"),
        create("~s", retention_ms="5"),
        create("~r", min_compaction_lag_ms="5"),
        put_in(TOPIC, "~t", ("retention.ms", "5")),
        reset(TOPIC, "~t", "retention.ms"),
        alter((TOPIC, "~t", [])),
        shown(TOPIC, "~t", "min.compaction.lag.ms", "max.compaction.lag.ms"),
        reset(BROKER, "", *(name for name, _ in pairs)),
        shown(TOPIC, "~r"),
    ]


@case("I15")
def loggers() -> Steps:
    changes: list[Change] = [
        ("root", SET, "info"),
        ("root", SET, ""),
        ("root", DELETE, None),
        ("root", APPEND, "x"),
        ("root", SUBTRACT, "x"),
        ("root", 9, "x"),
        ("nope", SET, "INFO"),
        ("nope", DELETE, "INFO"),
        ("nope", APPEND, "INFO"),
        ("", SET, "INFO"),
        ("root", SET, None),
    ]
    return [
        *(change((LOGGER, "1", [each])) for each in changes),
        change((LOGGER, "1", [("root", SET, "INFO"), ("root", SET, "INFO")])),
        change((LOGGER, "1", [("nope", SET, "INFO"), ("root", SET, "INFO")])),
        change((LOGGER, "1", [("root", SET, "TRACE")]), only=True),
        change((LOGGER, "", []), (LOGGER, "2", [])),
        put_in(LOGGER, "1", ("root", "FATAL")),
        shown(LOGGER, "1", "root"),
        put_in(LOGGER, "1", ("root", "WARN")),
        shown(LOGGER, "1", "root"),
        *(alter((LOGGER, name, [("root", "INFO")])) for name in ("1", "", "x")),
    ]
