"""Configs: which texts are values, what follows from what, and what is said of a wrong one."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.config.broker_rules import ORDERED
from odradek.emulator.config.broker_table import (
    BROKER_SYNONYMS,
    NOT_SETTABLE,
    OUR_DEFAULTS,
    UNLISTED,
    broker_definitions,
)
from odradek.emulator.config.client_metrics import check_client_metrics
from odradek.emulator.config.configs import ALL_BROKERS, BrokerConfig, TopicConfig
from odradek.emulator.config.definition import ConfigError, Kind, seconds_before, show
from odradek.emulator.config.group import group_definitions
from odradek.emulator.config.rows import describe_broker
from odradek.emulator.config.topic_table import topic_definitions
from odradek.wire import Refused

NEVER = 2**63 - 1
MUST_BE_REPLICAS = (
    "leader.replication.throttled.replicas must be the literal '*' or a list of replicas in the "
    "following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
)


def topic(**texts: str) -> TopicConfig:
    """The configs of a topic over the defaults; names with _ for dots."""
    return BrokerConfig().topic({name.replace("_", "."): text for name, text in texts.items()})


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("retention.ms", " 05 ", 5),
        ("retention.ms", "+7", 7),
        ("retention.ms", "-1", -1),
        ("retention.bytes", "-5", -5),
        ("preallocate", "TRUE ", True),
        ("min.cleanable.dirty.ratio", "1e-1", 0.1),
        ("min.cleanable.dirty.ratio", "1d", 1.0),
        ("compression.type", " gzip ", "gzip"),
        ("compression.gzip.level", "-1", -1),
        ("cleanup.policy", "", []),
        ("cleanup.policy", "compact , delete", ["compact", "delete"]),
        ("cleanup.policy", "delete,delete", ["delete"]),
        ("leader.replication.throttled.replicas", "*", ["*"]),
        ("leader.replication.throttled.replicas", "0:1,1:2", ["0:1", "1:2"]),
        ("local.retention.ms", "604800001", 604800001),
        ("segment.jitter.ms", "604800001", 604800001),
    ],
)
def test_a_text_is_read_as_kafka_reads_it(name: str, text: str, value: Any) -> None:
    assert BrokerConfig().topic({name: text}).get(name) == value


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("retention.ms", "abc", "Not a number of type LONG"),
        ("retention.ms", "", "Not a number of type LONG"),
        ("retention.ms", "1_000", "Not a number of type LONG"),
        ("retention.ms", "9223372036854775808", "Not a number of type LONG"),
        ("retention.ms", "-2", "Value must be at least -1"),
        ("segment.bytes", "1048575", "Value must be at least 1048576"),
        ("segment.bytes", "1e6", "Not a number of type INT"),
        ("segment.bytes", "2147483648", "Not a number of type INT"),
        ("compression.lz4.level", "18", "Value must be no more than 17"),
        ("compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        ("preallocate", "yes", "Expected value to be either true or false"),
        ("min.cleanable.dirty.ratio", "1.5", "Value must be no more than 1"),
        ("min.cleanable.dirty.ratio", "x", "Not a number of type DOUBLE"),
        ("min.cleanable.dirty.ratio", "inf", "Not a number of type DOUBLE"),
        (
            "message.timestamp.type",
            "createtime",
            "String must be one of: CreateTime, LogAppendTime",
        ),
        ("cleanup.policy", "bogus", "String must be one of: compact, delete"),
    ],
)
def test_a_bad_value_is_refused_with_kafkas_sentence(name: str, text: str, reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        BrokerConfig().topic({name: text})
    assert str(caught.value) == f"Invalid value {text} for configuration {name}: {reason}"
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"nosuch": "1"}, "Unknown topic config name: nosuch"),
        (
            {"cleanup.policy": "compact,"},
            "Configuration 'cleanup.policy' values must not be empty.",
        ),
        (
            {"leader.replication.throttled.replicas": "0:,1"},
            "Invalid value [0:, 1] for configuration leader.replication.throttled.replicas: "
            + MUST_BE_REPLICAS,
        ),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "9"},
            "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (9)",
        ),
        (
            {"remote.storage.enable": "true"},
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
        ),
    ],
)
def test_other_refusals_have_a_sentence_of_their_own(texts: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        BrokerConfig().topic(texts).check()
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        (
            {"num.partition": "1"},
            "Unknown broker config name: num.partition; is num.partitions meant?",
        ),
        ({"zzz": "1"}, "Unknown broker config name: zzz"),
        (
            {"retention.ms": "1"},
            "Unknown broker config name: retention.ms; a topic has it, the broker's default for it "
            "is log.retention.ms, log.retention.minutes, log.retention.hours",
        ),
        (
            {"num.partitions": "0"},
            "Invalid value 0 for configuration num.partitions: Value must be at least 1",
        ),
        (
            {"auto.create.topics.enable": "1"},
            "Invalid value 1 for configuration auto.create.topics.enable: "
            "Expected value to be either true or false",
        ),
        (
            {"offsets.topic.replication.factor": "40000"},
            "Invalid value 40000 for configuration offsets.topic.replication.factor: "
            "Not a number of type SHORT",
        ),
        (
            {"group.coordinator.rebalance.protocols": "classic,classic"},
            "Configuration 'group.coordinator.rebalance.protocols' values must not be duplicated.",
        ),
        (
            {"group.coordinator.rebalance.protocols": ""},
            "Configuration 'group.coordinator.rebalance.protocols' must not be empty. "
            "Valid values include: [consumer, classic, share, streams]",
        ),
        (
            {"group.consumer.migration.policy": "x"},
            "Invalid value x for configuration group.consumer.migration.policy: "
            "String must be one of (case insensitive): DISABLED, DOWNGRADE, UPGRADE, BIDIRECTIONAL",
        ),
        (
            {"group.min.session.timeout.ms": "2000000"},
            "group.min.session.timeout.ms must be less than or equal to "
            "group.max.session.timeout.ms",
        ),
        (
            {"log.retention.ms": "0"},
            "requirement failed: "
            "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        ),
        (
            {"log.dirs": "/tmp"},
            "log.dirs cannot be set: it is the data directory that the emulator is started with",
        ),
    ],
)
def test_a_broker_config_is_refused_by_name(overrides: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        BrokerConfig(overrides)
    assert str(caught.value) == sentence
    assert caught.value.name in overrides


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num.partitions", 1),
        ("default.replication.factor", 1),
        ("auto.create.topics.enable", True),
        ("offsets.topic.num.partitions", 50),
        ("message.max.bytes", 1048588),
        ("socket.request.max.bytes", 104857600),
        ("fetch.max.bytes", 57671680),
        ("connections.max.idle.ms", 600000),
        ("group.consumer.assignors", ["uniform", "range"]),
        ("log.cleaner.io.max.bytes.per.second", 1.7976931348623157e308),
        ("log.retention.ms", None),
        ("node.id", 1),
        ("group.initial.rebalance.delay.ms", 0),
        ("group.streams.initial.rebalance.delay.ms", 0),
        ("offsets.topic.replication.factor", 1),
    ],
)
def test_what_is_not_set_has_its_default(name: str, value: Any) -> None:
    assert BrokerConfig().get(name) == value


@pytest.mark.parametrize(
    ("overrides", "name", "value"),
    [
        ({}, "retention.ms", 604800000),
        ({"log.retention.hours": "2"}, "retention.ms", 7200000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, "retention.ms", 180000),
        (
            {"log.retention.hours": "2", "log.retention.minutes": "3", "log.retention.ms": "4"},
            "retention.ms",
            4,
        ),
        ({"log.retention.minutes": "-1"}, "retention.ms", -1),
        ({"log.roll.hours": "1"}, "segment.ms", 3600000),
        ({"log.roll.jitter.hours": "1"}, "segment.jitter.ms", 3600000),
        ({}, "flush.ms", NEVER),
        ({"log.flush.scheduler.interval.ms": "5"}, "flush.ms", 5),
        ({"message.max.bytes": "100"}, "max.message.bytes", 100),
        ({"log.cleanup.policy": "compact"}, "cleanup.policy", ["compact"]),
    ],
)
def test_a_topics_default_is_the_brokers(overrides: dict[str, str], name: str, value: Any) -> None:
    assert BrokerConfig(overrides).topic({}).get(name) == value


def test_what_produce_needs_are_plain_attributes() -> None:
    config = topic(
        cleanup_policy="compact,delete",
        message_timestamp_type="LogAppendTime",
        max_message_bytes="10",
        compression_type="zstd",
        min_insync_replicas="2",
        message_timestamp_before_max_ms="3",
        message_timestamp_after_max_ms="4",
    )

    assert config.is_compacted
    assert config.cleanup_policy == {"compact", "delete"}
    assert config.log_append_time
    assert config.max_message_bytes == 10
    assert config.compression_type == "zstd"
    assert config.min_insync_replicas == 2
    assert (config.timestamp_before_max_ms, config.timestamp_after_max_ms) == (3, 4)


@pytest.mark.parametrize(("codec", "level"), [(0, None), (1, -1), (2, None), (3, 9), (4, 3)])
def test_a_codec_has_the_topics_level(codec: int, level: int | None) -> None:
    assert topic().compression_level(codec) == level


def test_a_log_obeys_the_topics_configs() -> None:
    log = topic(
        segment_bytes="1048576", retention_ms="-1", cleanup_policy="compact", flush_ms="9"
    ).log_config()

    assert (log.segment_bytes, log.retention_ms, log.flush_ms) == (1048576, -1, 9)
    assert log.cleanup_policy == {"compact"}
    assert log.index_interval_bytes == 4096


def test_segments_can_be_smaller_than_kafka_allows_by_its_own_back_door() -> None:
    assert topic(internal_segment_bytes="100").log_config().segment_bytes == 100


def test_ten_thousand_plain_topics_share_one_object() -> None:
    config = BrokerConfig()
    assert config.topic({}) is config.topic({})


def test_what_is_set_for_all_brokers_at_run_time_comes_before_what_was_set_at_the_start() -> None:
    config = BrokerConfig({"log.retention.ms": "5"})
    before = config.topic({})

    config.set_dynamic({ALL_BROKERS: {"log.retention.ms": "7"}})

    assert config.get("log.retention.ms") == 7
    assert config.topic({}).get("retention.ms") == 7
    assert before.get("retention.ms") == 5


def test_a_bad_value_at_run_time_changes_nothing() -> None:
    config = BrokerConfig()
    with pytest.raises(ConfigError):
        config.set_dynamic({ALL_BROKERS: {"log.retention.ms": "x"}})
    with pytest.raises(ConfigError):
        config.set_dynamic({"1": {"log.retention.ms": "x"}})
    assert config.dynamic == {}
    assert config.get("log.retention.ms") is None


def test_of_two_bad_values_that_is_named_which_kafka_looks_at_first() -> None:
    bad = {"log.cleaner.max.compaction.lag.ms": "", "group.share.assignment.interval.ms": ""}
    with pytest.raises(ConfigError, match=r"group\.share\.assignment"):
        BrokerConfig().check_dynamic(ALL_BROKERS, bad)
    with pytest.raises(ConfigError, match=r"group\.share\.assignment"):
        BrokerConfig().set_dynamic({ALL_BROKERS: bad})


def test_what_the_authorizer_reads_when_it_starts_is_unknown_at_run_time() -> None:
    config = BrokerConfig({"super.users": "User:a", "allow.everyone.if.no.acl.found": "true"})
    texts = {"super.users": "User:z", "allow.everyone.if.no.acl.found": "x"}
    with pytest.raises(ConfigError, match=r"dynamically: \[node\.id\]"):
        config.check_dynamic("1", {**texts, "node.id": "7"})
    config.check_dynamic("1", texts)
    config.set_dynamic({"1": texts})
    assert config.get("super.users") == "User:a"
    assert config.get("allow.everyone.if.no.acl.found") is True
    shown = {row.name: row for row in describe_broker(config, 1, {})}
    for name in texts:
        assert (shown[name].value, shown[name].is_sensitive) == (None, True)


def test_the_tables_fit_together() -> None:
    brokers, topics = broker_definitions(), topic_definitions()
    assert len(brokers.keys() - set(UNLISTED)) == 360
    assert len(topics) == 34
    named = {
        *OUR_DEFAULTS,
        *NOT_SETTABLE,
        *BROKER_SYNONYMS,
        *(name for pair in ORDERED for name in pair),
        *(broker.name for row in topics.values() for broker in row.brokers),
        *(broker.name for row in group_definitions().values() for broker in row.brokers),
    }
    assert named <= set(brokers)


def test_a_default_is_the_same_for_topic_group_and_broker() -> None:
    config = BrokerConfig()
    for name, definition in topic_definitions().items():
        assert config.topic({}).get(name) == definition.default, name
    for name, definition in group_definitions().items():
        for broker in definition.brokers:
            is_ours = broker.name in OUR_DEFAULTS
            assert is_ours or config.get(broker.name) == definition.default, name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (5, "5"),
        (["a", "b"], "a,b"),
        ([], ""),
        (None, None),
        (0.5, "0.5"),
        (1e9, "1.0E9"),
        (1e-5, "1.0E-5"),
        (9999999.0, "9999999.0"),
        (9.9999999999e22, "9.9999999999E22"),
        (-1.5e-7, "-1.5E-7"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
    ],
)
def test_a_value_is_shown_as_java_shows_it(value: Any, text: str | None) -> None:
    assert show(value) == text


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("by_duration:P1DT2H3M4.5S", 93_784.5),
        ("by_duration:pt1m", 60),
        ("by_duration:-PT1H", -3600),
        ("by_duration:PT-1S", -1),
        ("by_duration:PT", None),
        ("latest", None),
    ],
)
def test_a_share_group_begins_a_duration_before_now(value: str, seconds: float | None) -> None:
    assert seconds_before(value) == seconds


@pytest.mark.slow
@given(st.sampled_from(sorted(topic_definitions())), st.text())
def test_any_text_is_a_value_or_a_config_error(name: str, text: str) -> None:
    definition = topic_definitions()[name]
    try:
        value = definition.parse(text)
    except ConfigError:
        return
    assert definition.parse(show(value)) == value or value != value


@given(st.floats())
def test_a_shown_double_reads_back(value: float) -> None:
    definition = topic_definitions()["min.cleanable.dirty.ratio"]._replace(rule="")
    assert definition.kind is Kind.DOUBLE
    text = show(value)
    assert show(definition.parse(text)) == text


@pytest.mark.parametrize("names", list(permutations(["match", "metrics", "interval.ms"])))
def test_of_bad_configs_of_a_subscription_kafka_s_first_is_named(names: tuple[str, ...]) -> None:
    bad = {"interval.ms": "x", "metrics": "a,,b", "match": "a,,b"}
    with pytest.raises(Refused, match="Configuration 'metrics' values must not be empty"):
        check_client_metrics({name: bad[name] for name in names})
    with pytest.raises(Refused, match=r"interval\.ms: Not a number"):
        check_client_metrics({name: bad[name] for name in names if name != "metrics"})
