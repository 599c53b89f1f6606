"""IncrementalAlterConfigs, semantics I6 and I15: single changes, and how they are refused."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from odradek.emulator.cluster import Cluster
from odradek.storage import MemoryDisk
from odradek.wire.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from odradek.wire.api.update_features import UpdateFeaturesRequest
from odradek.wire.records import NewRecord, build_batch

from tests.requests.configs import Change, change_request
from tests.requests.produce import produce
from tests.support.clock import NOW
from tests.support.cluster import Client, client_of, open_cluster
from tests.support.versions import first_and_last

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
Answer = tuple[int, str | None]
DYNAMIC = "for configuration Invalid dynamic configuration"


def alter(
    client: Client,
    *resources: tuple[int, str, list[Change]],
    validate_only: bool = False,
    version: int = 1,
) -> list[Answer]:
    answer = client.ask(change_request(*resources, validate_only=validate_only), version)
    assert [(r.resource_type, r.resource_name) for r in answer.responses] == [
        (kind, name) for kind, name, _ in resources
    ]
    return [(r.error_code, r.error_message) for r in answer.responses]


def of_topic(client: Client, *changes: Change) -> Answer:
    (answer,) = alter(client, (TOPIC, "t", list(changes)))
    return answer


def of_broker(client: Client, name: str, *changes: Change) -> Answer:
    (answer,) = alter(client, (BROKER, name, list(changes)))
    return answer


OK: Answer = (0, None)


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.topics.create("t", configs={"retention.ms": "9"})


# Topics


def test_a_change_leaves_the_other_configs_as_they_are(client: Client, cluster: Cluster) -> None:
    assert of_topic(client, ("flush.ms", SET, " 05 "), ("nonsense", DELETE, None)) == OK
    config = cluster.topic("t").config
    assert config.overrides == {"retention.ms": "9", "flush.ms": " 05 "}
    assert (config.get("retention.ms"), config.get("flush.ms")) == (9, 5)

    assert of_topic(client, ("retention.ms", DELETE, None)) == OK
    assert cluster.topic("t").config.overrides == {"flush.ms": " 05 "}


def test_lists_are_spliced_as_text_beginning_with_the_default(
    client: Client, cluster: Cluster
) -> None:
    def policy() -> str:
        return cluster.topic("t").config.overrides["cleanup.policy"]

    assert of_topic(client, ("cleanup.policy", APPEND, "compact,delete")) == OK
    assert policy() == "delete,compact"
    assert of_topic(client, ("cleanup.policy", SUBTRACT, " compact,nothing")) == OK
    assert policy() == "delete,compact"
    assert of_topic(client, ("cleanup.policy", SUBTRACT, "compact,delete")) == OK
    assert policy() == ""
    assert of_topic(client, ("cleanup.policy", APPEND, " compact,,")) == OK
    assert policy() == " compact"
    assert cluster.topic("t").config.is_compacted


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ([("nope", SET, "1")], 40, "Unknown topic config name: nope"),
        (
            [("retention.ms", SET, "x"), ("segment.bytes", SET, "y")],
            40,
            "Invalid value y for configuration segment.bytes: Not a number of type INT",
        ),
        ([("retention.ms", SET, None)], 42, "Null value not supported for : retention.ms"),
        ([("a", SET, "1"), ("a", DELETE, None)], 42, "Error due to duplicate config keys"),
        (
            [("retention.ms", APPEND, "1")],
            40,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        ([("nope", SUBTRACT, "1")], 40, "Can't SUBTRACT to key nope because its type is not LIST."),
        (
            [("cleanup.policy", APPEND, "")],
            40,
            "Configuration 'cleanup.policy' values must not be empty.",
        ),
        ([("retention.ms", 4, "1")], -1, None),
    ],
)
def test_a_bad_change_is_refused_and_changes_nothing(
    client: Client, cluster: Cluster, changes: list[Change], error: int, message: str | None
) -> None:
    before = cluster.metadata.end_offset
    assert of_topic(client, *changes) == (error, message)
    assert cluster.topic("t").config.overrides == {"retention.ms": "9"}
    assert cluster.metadata.end_offset == before


def test_one_resource_that_is_refused_spares_the_others(client: Client, cluster: Cluster) -> None:
    cluster.topics.create("s")
    five: list[Change] = [("flush.ms", SET, "5")]
    assert alter(
        client, (TOPIC, "t", [("x", SET, "1")]), (TOPIC, "none", five), (TOPIC, "s", five)
    ) == [
        (40, "Unknown topic config name: x"),
        (3, "The topic 'none' does not exist."),
        OK,
    ]
    assert cluster.topic("s").config.get("flush.ms") == 5


def test_an_operation_that_does_not_exist_fails_all_that_reach_the_controller(
    client: Client, cluster: Cluster
) -> None:
    cluster.topics.create("s")
    assert alter(
        client,
        (TOPIC, "t", [("flush.ms", 9, "1")]),
        (TOPIC, "s", [("flush.ms", SET, "5")]),
        (TOPIC, "none", [("flush.ms", SET, None)]),
    ) == [(-1, None), (-1, None), (42, "Null value not supported for : flush.ms")]
    assert cluster.topic("s").config.overrides == {}


def test_a_resource_named_twice_is_refused_each_time(client: Client) -> None:
    twice = (42, "Each resource must appear at most once.")
    assert alter(client, (TOPIC, "t", []), (GROUP, "t", []), (TOPIC, "t", [])) == [twice, OK, twice]


def test_nothing_changes_when_a_change_is_only_to_be_judged(
    client: Client, cluster: Cluster
) -> None:
    for kind, name, key, value in (
        (TOPIC, "t", "flush.ms", "5"),
        (BROKER, "", "log.retention.ms", "5"),
        (GROUP, "g", "consumer.session.timeout.ms", "46000"),
        (METRICS, "m", "interval.ms", "200"),
        (LOGGER, "1", "root", "TRACE"),
    ):
        (answer,) = alter(client, (kind, name, [(key, SET, value)]), validate_only=True)
        assert answer == OK
    assert cluster.topic("t").config.overrides == {"retention.ms": "9"}
    assert cluster.config.get("log.retention.ms") is None
    assert {kind for kind, _ in cluster.metadata.image.configs} == {TOPIC, BROKER}
    assert cluster.loggers.levels() == {"root": "WARN"}


@pytest.mark.parametrize(
    ("kind", "name", "error", "message"),
    [
        (TOPIC, "", 42, "Default topic resources are not allowed."),
        (TOPIC, "..", 17, "Topic name is invalid: '..' is not allowed"),
        (TOPIC, "none", 3, "The topic 'none' does not exist."),
        (BROKER, "2", 42, "Unexpected broker id, expected 1, but received 2"),
        (BROKER, "x", 42, "Node id must be an integer, but it is: x"),
        (LOGGER, "2", 42, "Unexpected node id. Expected 1, but received 2"),
        (LOGGER, "", 42, "Node id must be an integer, but it is: "),
        (GROUP, "", 42, "Default group resources are not allowed."),
        (METRICS, "", 42, "Subscription name can't be empty"),
        (3, "x", 42, "Unknown resource type 3"),
    ],
)
def test_a_resource_is_refused_by_its_name(
    client: Client, kind: int, name: str, error: int, message: str
) -> None:
    assert alter(client, (kind, name, [])) == [(error, message)]


# A config that is accepted acts


def record(size: int, time: int = NOW) -> bytes:
    return bytes(build_batch([NewRecord(time, b"k", b"x" * size)]))


def test_the_next_batch_is_judged_by_the_new_configs(client: Client, cluster: Cluster) -> None:
    assert produce(client, record(300)).error_code == 0
    assert of_topic(client, ("max.message.bytes", SET, "200")) == OK
    assert produce(client, record(300)).error_code == 10
    assert of_topic(client, ("max.message.bytes", DELETE, None)) == OK
    assert of_broker(client, "", ("message.max.bytes", SET, "200")) == OK
    assert produce(client, record(300)).error_code == 10
    assert of_broker(client, "1", ("message.max.bytes", SET, "400")) == OK
    assert produce(client, record(300)).error_code == 0


# Brokers


def test_topics_follow_the_broker_its_own_before_all_brokers(
    client: Client, cluster: Cluster
) -> None:
    plain = cluster.topics.create("plain")
    of_broker(client, "", ("log.retention.ms", SET, "600"), ("log.flush.interval.ms", SET, "7"))
    of_broker(client, "1", ("log.retention.ms", SET, "500"))
    assert (plain.config.get("retention.ms"), plain.config.get("flush.ms")) == (500, 7)
    assert plain.partitions[0].log.config.retention_ms == 500
    assert cluster.topic("t").config.get("retention.ms") == 9

    of_broker(client, "1", ("log.retention.ms", DELETE, None))
    assert plain.config.get("retention.ms") == 600


@pytest.mark.parametrize(
    ("name", "key", "value", "error", "message"),
    [
        (
            "1",
            "num.partitions",
            "5",
            42,
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        (
            "",
            "log.retention.ms",
            "x",
            42,
            "Invalid value x for configuration log.retention.ms: Not a number of type LONG",
        ),
        (
            "",
            "num.io.threads",
            "20",
            42,
            "Invalid value org.apache.kafka.common.config.ConfigException: Dynamic thread count "
            "update validation failed for num.io.threads=20, value should not be greater than "
            f"double the current value 8 {DYNAMIC}",
        ),
        (
            "",
            "ssl.protocol",
            "x",
            42,
            "Cannot update these configs at default cluster level, broker id must be specified: "
            "[ssl.protocol]",
        ),
        (
            "1",
            "ssl.keystore.type",
            "x",
            42,
            "These security configs can be dynamically updated only per-listener using the "
            "listener prefix: [ssl.keystore.type]",
        ),
        (
            "1",
            "min.insync.replicas",
            "1",
            40,
            "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
        ),
        ("", "log.cleaner.threads", "0", 42, "/ by zero"),
        (
            "1",
            "listeners",
            "PLAINTEXT://:1",
            42,
            "listeners cannot be set: "
            "it follows from the address that the emulator is started with",
        ),
    ],
)
def test_what_a_broker_cannot_take_over_is_refused(
    client: Client, cluster: Cluster, name: str, key: str, value: str, error: int, message: str
) -> None:
    before = {name: dict(texts) for name, texts in cluster.config.dynamic.items()}
    assert of_broker(client, name, (key, SET, value)) == (error, message)
    assert cluster.config.dynamic == before


def test_the_least_number_of_replicas_in_sync_stays_set_for_all_brokers(client: Client) -> None:
    message = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
    assert of_broker(client, "", ("min.insync.replicas", DELETE, None)) == (40, message)
    assert of_broker(client, "", ("min.insync.replicas", SET, "2")) == OK


def test_of_one_broker_it_is_not_even_taken_away(client: Client, cluster: Cluster) -> None:
    message = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
    other, gone = ("log.retention.ms", SET, "9"), ("min.insync.replicas", DELETE, None)
    assert of_broker(client, "1", gone) == (40, message)
    assert of_broker(client, "1", other, gone) == (40, message)
    assert of_broker(client, "1", other) == OK
    update = UpdateFeaturesRequest.FeatureUpdate(
        feature="eligible.leader.replicas.version", max_version_level=0, upgrade_type=2
    )
    client.ask(UpdateFeaturesRequest(timeout_ms=1000, feature_updates=[update]), 1)
    assert of_broker(client, "1", gone) == OK
    assert cluster.config.dynamic["1"] == {"log.retention.ms": "9"}


def test_a_name_that_nobody_knows_is_kept_for_a_broker(client: Client, cluster: Cluster) -> None:
    assert of_broker(client, "1", ("my.plugin", SET, "x")) == OK
    assert cluster.config.dynamic["1"] == {"my.plugin": "x"}
    message = "Unknown config name: my.plugin"
    assert of_broker(client, "1", ("my.plugin", APPEND, "x")) == (40, message)


def test_configs_of_brokers_survive_a_restart() -> None:
    disk = MemoryDisk()
    cluster = open_cluster(disk)
    client = client_of(cluster)
    of_broker(client, "", ("log.retention.ms", SET, "600"))
    of_broker(client, "1", ("log.roll.ms", SET, "500"))
    cluster.close()

    cluster = open_cluster(disk)

    assert cluster.config.get("log.retention.ms") == 600
    assert cluster.config.get("log.roll.ms") == 500
    cluster.close()


# Groups, metrics, loggers


def test_a_group_keeps_within_the_bounds_of_the_brokers(client: Client) -> None:
    key = "consumer.session.timeout.ms"
    assert alter(client, (GROUP, "g", [(key, SET, "44999")])) == [
        (40, f"{key} must be greater than or equal to group.consumer.min.session.timeout.ms")
    ]
    assert alter(client, (GROUP, "g", [(key, SET, "60001")])) == [
        (40, f"{key} must be less than or equal to group.consumer.max.session.timeout.ms")
    ]
    assert alter(client, (GROUP, "g", [(key, SET, "60000")])) == [OK]


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        ("earliest", True),
        ("by_duration:PT1H-2M", True),
        ("by_duration:P1DT0.5S", True),
        ("by_duration:-PT-1S", True),
        ("by_duration:-PT1S", False),
        ("by_duration:PT", False),
        ("EARLIEST", False),
        ("none", False),
    ],
)
def test_a_share_group_begins_at_an_end_or_some_time_ago(
    client: Client, text: str, is_valid: bool
) -> None:
    ((error, _),) = alter(client, (GROUP, "g", [("share.auto.offset.reset", SET, text)]))
    assert error == (0 if is_valid else 40)


def test_of_two_unknown_configs_of_metrics_the_first_of_a_hash_map_is_named(client: Client) -> None:
    changes: list[Change] = [("share.isolation.level", SET, ""), ("", SET, "")]
    refused = [(42, "Unknown client metrics configuration: ")]
    assert alter(client, (METRICS, "m", changes)) == refused


@pytest.mark.parametrize(
    ("key", "value", "error", "message"),
    [
        ("a", "1", 42, "Unknown client metrics configuration: a"),
        (
            "interval.ms",
            "99",
            42,
            "Invalid value 99 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        ),
        ("match", "client_id", 40, "Illegal client matching pattern: client_id"),
        ("match", "client_id=(", 40, "Illegal client matching pattern: client_id=("),
        ("match", "client_id = a.*, client_source_port=9", 0, None),
        ("metrics", "", 0, None),
    ],
)
def test_a_subscription_is_judged_by_what_it_selects(
    client: Client, key: str, value: str, error: int, message: str | None
) -> None:
    assert alter(client, (METRICS, "m", [(key, SET, value)])) == [(error, message)]


@pytest.fixture
def _quiet() -> Iterator[None]:
    logger = logging.getLogger("odradek")
    before = logger.level
    yield
    assert logger.level == before


@pytest.mark.usefixtures("_quiet")
def test_the_root_loggers_level_is_that_of_the_brokers_log_until_it_is_closed() -> None:
    cluster = open_cluster()
    assert alter(client_of(cluster), (LOGGER, "1", [("root", SET, "DEBUG")])) == [OK]
    assert logging.getLogger("odradek").level == logging.DEBUG
    assert cluster.loggers.levels() == {"root": "DEBUG"}
    cluster.close()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("nope", SET, "INFO"), 40, "Logger nope does not exist!"),
        (("root", DELETE, None), 42, "Removing the log level of the root logger is not allowed"),
        (
            ("root", APPEND, "INFO"),
            42,
            "APPEND operation is not allowed for the BROKER_LOGGER resource",
        ),
        (
            ("root", SET, "info"),
            40,
            "Cannot set the log level of root to info as it is not a supported log level. "
            "Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN",
        ),
        (("root", 9, "INFO"), -1, None),
    ],
)
def test_a_bad_change_of_a_logger_is_refused(
    client: Client, change: Change, error: int, message: str | None
) -> None:
    assert alter(client, (LOGGER, "1", [change])) == [(error, message)]


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
def test_a_list_that_has_to_be_given_is_what_a_real_broker_stumbles_over(
    client: Client, operation: int
) -> None:
    changes: list[Change] = [("process.roles", operation, "broker")]
    assert alter(client, (BROKER, "", changes)) == [(-1, None)]
    changes = [("early.start.listeners", operation, "broker")]
    assert [code for code, _ in alter(client, (BROKER, "", changes))] == [42]


@pytest.mark.parametrize("version", first_and_last(IncrementalAlterConfigsRequest))
def test_a_config_is_set_in_every_version(client: Client, cluster: Cluster, version: int) -> None:
    changes: list[Change] = [("flush.ms", SET, "5")]
    assert alter(client, (TOPIC, "t", changes), version=version) == [(0, None)]
    assert cluster.topic("t").config.overrides["flush.ms"] == "5"
