"""Section I6: configs of topics are changed, one by one or all at once."""

from __future__ import annotations

from itertools import permutations

from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest

from ..ask.configs import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    LOGGER,
    METRICS,
    SET,
    SUBTRACT,
    TOPIC,
    alter,
    change,
    put_in,
    reset,
    shown,
)
from ..ask.topics import create
from ..engine.steps import Steps
from . import case


@case("I6", each=IncrementalAlterConfigsRequest)
def changing_configs_of_a_topic() -> Steps:
    policy = shown(TOPIC, "~t", "cleanup.policy")
    steps: Steps = [create("~t"), create("~s")]
    for changes in (
        [("retention.ms", SET, "5")],
        [("retention.ms", SET, "x"), ("segment.bytes", SET, "x")],
        [("nope", SET, "1"), ("retention.ms", SET, "x")],
        [("b", SET, "1"), ("a", SET, "1"), ("quite.another.name", SET, "1")],
        [("retention.ms", SET, "6"), ("retention.ms", SET, None)],
        [("segment.ms", SET, None), ("retention.ms", APPEND, None)],
        [("retention.ms", APPEND, "1")],
        [("retention.ms", SUBTRACT, "1")],
        [("nope", APPEND, "1")],
        [("cleanup.policy", APPEND, "compact")],
        [("cleanup.policy", APPEND, "compact,delete")],
        [("cleanup.policy", SUBTRACT, " compact")],
        [("cleanup.policy", SUBTRACT, "compact,nothing")],
        [("cleanup.policy", SUBTRACT, "delete")],
        [("cleanup.policy", APPEND, "")],
        [("cleanup.policy", APPEND, ",")],
        [("cleanup.policy", APPEND, " delete , compact ")],
        [("cleanup.policy", APPEND, "compact,,")],
        [("leader.replication.throttled.replicas", APPEND, "0:1")],
        [("leader.replication.throttled.replicas", APPEND, "*")],
        [("retention.ms", DELETE, None), ("nope", DELETE, "x")],
        [("retention.ms", DELETE, "x")],
        [],
        [("", SET, "x")],
        [(" retention.ms", SET, "5")],
        [("min.compaction.lag.ms", SET, "10"), ("max.compaction.lag.ms", SET, "5")],
        [("min.compaction.lag.ms", SET, "10")],
        [("max.compaction.lag.ms", SET, "5")],
        [("remote.storage.enable", SET, "true")],
        [("internal.segment.bytes", SET, "100")],
        [("min.insync.replicas", SET, "3")],
        [("min.insync.replicas", DELETE, None)],
    ):
        steps += [change((TOPIC, "~t", changes)), policy]
    return [*steps, shown(TOPIC, "~t"), shown(TOPIC, "~s")]


@case("I6", each=IncrementalAlterConfigsRequest)
def operations_that_do_not_exist() -> Steps:
    return [
        create("~t"),
        create("~s"),
        *(change((TOPIC, "~t", [("retention.ms", op, "1")])) for op in (4, -1, 127)),
        change((TOPIC, "~t", [("retention.ms", 4, None)])),
        change((TOPIC, "~t", [("retention.ms", 4, "1")]), (TOPIC, "~s", [("flush.ms", SET, "1")])),
        change((TOPIC, "~t", [("retention.ms", 4, "1")]), (TOPIC, "~none", [])),
        change((TOPIC, "~t", [("retention.ms", 4, "1")]), (TOPIC, "~s", [("a", SET, None)])),
        change((BROKER, "", [("log.retention.ms", 9, "1")]), (TOPIC, "~s", [("a", SET, "1")])),
        change((LOGGER, "1", [("root", 9, "1")]), (TOPIC, "~s", [("a", SET, "1")])),
        *(change((kind, "~x", [("a", 9, "1")])) for kind in (METRICS, GROUP)),
        shown(TOPIC, "~s"),
    ]


@case("I6", each=IncrementalAlterConfigsRequest)
def resources_side_by_side() -> Steps:
    five = [("retention.ms", SET, "5")]
    return [
        create("~t"),
        create("~s"),
        change((TOPIC, "~t", five), (TOPIC, "~s", five), (TOPIC, "~t", [])),
        change((TOPIC, "~none", five), (TOPIC, "~s", five), (TOPIC, "~t", [("x", SET, "1")])),
        change((TOPIC, "~s", five), (GROUP, "~s", five), (METRICS, "~s", five), (BROKER, "", [])),
        change((TOPIC, "~t", [("flush.ms", SET, "9")]), only=True),
        change((TOPIC, "~t", [("flush.ms", SET, "x")]), only=True),
        change((TOPIC, "~none", [("flush.ms", SET, "9")]), only=True),
        change(),
        shown(TOPIC, "~t", "retention.ms", "flush.ms"),
        shown(TOPIC, "~s", "retention.ms"),
    ]


@case("I6")
def names_of_resources() -> Steps:
    steps: Steps = []
    names = ("~none", "", "a b", ".", "x" * 250, "__cluster_metadata", "__transaction_state")
    for name in names:
        steps += [
            change((TOPIC, name, [("retention.ms", SET, "1")])),
            change((TOPIC, name, [("retention.ms", SET, "x")])),
            change((TOPIC, name, [("retention.ms", SET, None)])),
            change((TOPIC, name, [])),
            alter((TOPIC, name, [("retention.ms", "1")])),
            alter((TOPIC, name, [("retention.ms", "x")])),
            alter((TOPIC, name, [("retention.ms", None)])),
            alter((TOPIC, name, [])),
        ]
    for kind in (0, 1, 3, 5, 64, -1, 127):
        steps += [
            change((kind, "x", [("a", SET, "1")])),
            change((kind, "x", [("a", SET, None)])),
            alter((kind, "x", [("a", "1")])),
        ]
    return steps


@case("I6, I16")
def configs_of_an_internal_topic_change() -> Steps:
    return [
        put_in(TOPIC, "__consumer_offsets", ("retention.ms", "600000000")),
        shown(TOPIC, "__consumer_offsets"),
        put_in(TOPIC, "__consumer_offsets", ("cleanup.policy", "delete")),
        put_in(TOPIC, "__consumer_offsets", ("cleanup.policy", "compact")),
        reset(TOPIC, "__consumer_offsets", "retention.ms"),
    ]


@case("I6", each=AlterConfigsRequest)
def replacing_configs() -> Steps:
    steps: Steps = [create("~t", retention_ms="5", flush_ms="7"), create("~s")]
    for pairs in (
        [("retention.ms", "x")],
        [("nope", "x")],
        [("segment.ms", None), ("retention.ms", None)],
        [("retention.ms", "6"), ("retention.ms", "7")],
        [("retention.ms", "6"), ("retention.ms", None)],
        [("min.compaction.lag.ms", "6"), ("max.compaction.lag.ms", "5")],
        [("segment.ms", "6")],
        [("cleanup.policy", ""), ("segment.ms", " 06 ")],
        [],
    ):
        steps += [alter((TOPIC, "~t", pairs)), shown(TOPIC, "~t")]
    return [
        *steps,
        alter((TOPIC, "~none", []), (TOPIC, "~s", [("flush.ms", "5")]), (TOPIC, "~t", [("x", "")])),
        alter((TOPIC, "~s", [("retention.ms", "4")]), only=True),
        alter(),
        shown(TOPIC, "~s"),
    ]


@case("I6")
def which_bad_config_of_a_subscription_is_named() -> Steps:
    bad = [("interval.ms", "x"), ("metrics", "a,,b"), ("match", "a,,b")]
    return [
        alter((METRICS, "~m", list(pairs))) for n in (1, 2, 3) for pairs in permutations(bad, n)
    ]
