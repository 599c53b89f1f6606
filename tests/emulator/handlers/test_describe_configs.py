"""DescribeConfigs, semantics I5: values, sources and synonyms of every kind of resource."""

from __future__ import annotations

import pytest
from odradek.compat.cli.serving.start import show_ignored
from odradek.emulator.base.call import INVALID_REQUEST_TEXT
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.configs import ALL_BROKERS
from odradek.emulator.metadata.image import BROKER_RESOURCE
from odradek.wire.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse

from tests.support.cluster import Client, client_of, open_cluster
from tests.support.configs import set_configs
from tests.support.versions import first_and_last

Result = DescribeConfigsResponse.Result
Config = tuple[str | None, int, list[tuple[str, str | None, int]]]
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
ILLEGAL = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"


def ask(
    client: Client,
    kind: int,
    name: str,
    keys: list[str] | None = None,
    *,
    synonyms: bool = True,
    documentation: bool = False,
    version: int = 4,
) -> Result:
    resource = DescribeConfigsRequest.Resource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(
        resources=[resource],
        include_synonyms=synonyms,
        include_documentation=documentation,
    )
    (result,) = client.ask(request, version).results
    assert (result.resource_type, result.resource_name) == (kind, name)
    found: Result = result
    return found


def describe(client: Client, kind: int, name: str, key: str) -> Config:
    """Value, source and synonyms of one config."""
    (config,) = ask(client, kind, name, [key]).configs
    assert config.name == key
    return (
        config.value,
        config.config_source,
        [(s.name, s.value, s.source) for s in config.synonyms],
    )


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.topics.create("t", configs={"retention.ms": " 05 ", "cleanup.policy": "compact"})


@pytest.mark.parametrize(("kind", "name"), [(2, "t"), (16, "m"), (32, "g")])
def test_every_config_says_what_it_is_for_if_asked(client: Client, kind: int, name: str) -> None:
    configs = ask(client, kind, name, documentation=True).configs
    assert configs
    assert all(config.documentation for config in configs)
    assert not any(config.documentation for config in ask(client, kind, name).configs)


def test_a_broker_says_it_of_what_topics_and_groups_take_from_it(client: Client) -> None:
    documented = {
        c.name for c in ask(client, 4, "1", documentation=True).configs if c.documentation
    }
    assert {
        "log.retention.ms",
        "message.max.bytes",
        "group.consumer.session.timeout.ms",
    } <= documented


# Topics


@pytest.mark.parametrize(
    ("key", "config"),
    [
        ("retention.ms", ("5", 1, [("retention.ms", "5", 1)])),
        (
            "cleanup.policy",
            (
                "compact",
                1,
                [("cleanup.policy", "compact", 1), ("log.cleanup.policy", "delete", 5)],
            ),
        ),
        ("segment.ms", ("604800000", 5, [])),
        ("flush.ms", ("9223372036854775807", 5, [])),
        ("segment.bytes", ("1073741824", 5, [("log.segment.bytes", "1073741824", 5)])),
        ("remote.storage.enable", ("false", 5, [])),
        (
            "min.insync.replicas",
            ("1", 3, [("min.insync.replicas", "1", 3), ("min.insync.replicas", "1", 5)]),
        ),
    ],
)
def test_a_topics_config_comes_from_the_topic_the_brokers_or_nowhere(
    client: Client, key: str, config: Config
) -> None:
    assert describe(client, TOPIC, "t", key) == config


def test_a_brokers_own_value_is_the_source_of_a_topics() -> None:
    cluster = open_cluster(message_max_bytes="02000000", log_retention_hours="24")
    cluster.topics.create("t")
    client = client_of(cluster)
    assert describe(client, TOPIC, "t", "max.message.bytes") == (
        "2000000",
        4,
        [("message.max.bytes", "02000000", 4), ("message.max.bytes", "1048588", 5)],
    )
    # Kafka looks no further than log.retention.ms for the synonyms, though .hours decides.
    assert describe(client, TOPIC, "t", "retention.ms") == ("86400000", 5, [])
    cluster.close()


def test_all_of_a_topics_configs_are_reported(client: Client) -> None:
    configs = ask(client, TOPIC, "t").configs
    assert len(configs) == 33
    assert not any(config.read_only or config.is_sensitive for config in configs)


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (["retention.ms", "nosuch"], ["retention.ms"]),
        (["nosuch"], []),
        (["segment.ms", "flush.ms"], ["flush.ms", "segment.ms"]),
    ],
)
def test_keys_choose_and_unknown_ones_are_ignored(
    client: Client, keys: list[str], names: list[str]
) -> None:
    assert [config.name for config in ask(client, TOPIC, "t", keys).configs] == names


def test_no_keys_are_all_keys(client: Client) -> None:
    assert len(ask(client, TOPIC, "t", []).configs) == 33


def test_without_synonyms_the_source_stays(client: Client) -> None:
    (config,) = ask(client, TOPIC, "t", ["cleanup.policy"], synonyms=False).configs
    assert (config.synonyms, config.config_source) == ([], 1)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("preallocate", 1),
        ("compression.type", 2),
        ("segment.bytes", 3),
        ("retention.ms", 5),
        ("min.cleanable.dirty.ratio", 6),
        ("cleanup.policy", 7),
    ],
)
def test_the_type_is_reported_since_v3(client: Client, key: str, kind: int) -> None:
    assert ask(client, TOPIC, "t", [key]).configs[0].config_type == kind
    assert ask(client, TOPIC, "t", [key], version=2).configs[0].config_type == 0


def test_a_resource_asked_twice_is_answered_twice(client: Client) -> None:
    resource = DescribeConfigsRequest.Resource(
        resource_type=TOPIC, resource_name="t", configuration_keys=["flush.ms"]
    )
    answer = client.ask(DescribeConfigsRequest(resources=[resource, resource]), 4)
    assert [len(result.configs) for result in answer.results] == [1, 1]


# Brokers


def test_all_of_a_brokers_configs_are_reported_but_internal_ones(client: Client) -> None:
    configs = {config.name: config for config in ask(client, BROKER, "1").configs}
    assert len(configs) == 340
    assert "log.initial.task.delay.ms" not in configs


@pytest.mark.parametrize(
    ("key", "config"),
    [
        ("num.partitions", ("1", 5, [("num.partitions", "1", 5)])),
        ("node.id", ("1", 4, [("node.id", "1", 4)])),
        ("log.retention.ms", (None, 5, [])),
        ("log.retention.hours", ("168", 5, [("log.retention.hours", "168", 5)])),
        ("log.flush.interval.ms", (None, 5, [])),
        (
            "group.initial.rebalance.delay.ms",
            (
                "0",
                4,
                [
                    ("group.initial.rebalance.delay.ms", "0", 4),
                    ("group.initial.rebalance.delay.ms", "3000", 5),
                ],
            ),
        ),
        (
            "min.insync.replicas",
            ("1", 3, [("min.insync.replicas", "1", 3), ("min.insync.replicas", "1", 5)]),
        ),
        ("process.roles", ("broker,controller", 4, [("process.roles", "broker,controller", 4)])),
        (
            "advertised.listeners",
            (
                "PLAINTEXT://localhost:9092",
                4,
                [("advertised.listeners", "PLAINTEXT://localhost:9092", 4)],
            ),
        ),
    ],
)
def test_a_brokers_config_is_set_at_the_start_or_a_default(
    client: Client, key: str, config: Config
) -> None:
    assert describe(client, BROKER, "1", key) == config


def test_a_synonym_that_is_set_is_shown() -> None:
    cluster = open_cluster(log_retention_minutes="60", log_retention_hours="24")
    assert describe(client_of(cluster), BROKER, "1", "log.retention.minutes") == (
        "60",
        4,
        [
            ("log.retention.minutes", "60", 4),
            ("log.retention.hours", "24", 4),
            ("log.retention.hours", "168", 5),
        ],
    )
    cluster.close()


def test_a_password_is_never_reported() -> None:
    cluster = open_cluster(ssl_key_password="secret")
    (config,) = ask(client_of(cluster), BROKER, "1", ["ssl.key.password"]).configs
    assert (config.value, config.is_sensitive, config.config_source) == (None, True, 4)
    assert [(s.value, s.source) for s in config.synonyms] == [(None, 4)]
    cluster.close()


@pytest.mark.parametrize(("key", "read_only"), [("num.partitions", True), ("listeners", False)])
def test_what_cannot_change_at_run_time_is_read_only(
    client: Client, key: str, read_only: bool
) -> None:
    assert ask(client, BROKER, "1", [key]).configs[0].read_only == read_only


def test_what_is_set_at_run_time_comes_first_the_brokers_own_before_all_brokers(
    client: Client, cluster: Cluster
) -> None:
    set_configs(cluster, BROKER_RESOURCE, ALL_BROKERS, {"log.retention.ms": "7"})
    set_configs(cluster, BROKER_RESOURCE, "1", {"log.retention.ms": "8"})

    assert describe(client, BROKER, "1", "log.retention.ms") == (
        "8",
        2,
        [
            ("log.retention.ms", "8", 2),
            ("log.retention.ms", "7", 3),
            ("log.retention.hours", "168", 5),
        ],
    )


def test_an_unknown_name_that_was_set_is_shown_without_its_value(
    client: Client, cluster: Cluster
) -> None:
    set_configs(cluster, BROKER_RESOURCE, "1", {"my.plugin.secret": "x"})
    (config,) = ask(client, BROKER, "1", ["my.plugin.secret"]).configs
    assert (config.value, config.config_source, config.is_sensitive) == (None, 2, True)


SHOWN = {
    # name: value, type, whether it is a secret, synonyms; what 4.3.1 answered.
    "foo.bar": (None, 0, True, [("foo.bar", None, 4)]),
    "foo.baz": (None, 0, True, [("foo.baz", None, 2), ("foo.baz", None, 4)]),
    "listener.name.plaintext.max.connections": (
        *("5", 3, False),
        [
            ("listener.name.plaintext.max.connections", "5", 4),
            ("max.connections", "2147483647", 5),
        ],
    ),
    "listener.name.other.ssl.keystore.location": (
        *("/x", 2, False),
        [("listener.name.other.ssl.keystore.location", "/x", 4)],
    ),
}


def test_what_a_broker_was_started_with_and_does_not_know_is_shown(
    client: Client, cluster: Cluster
) -> None:
    configs = {"foo.bar": "x", "foo.baz": "", "num.partitions": "x", "broker.id": "7"}
    configs |= {"listener.name.other.ssl.keystore.location": "/x"}
    show_ignored(cluster, configs | {"listener.name.plaintext.max.connections": "5"})
    set_configs(cluster, BROKER_RESOURCE, "1", {"foo.baz": "x"})
    found = {each.name: each for each in ask(client, BROKER, "1").configs}
    assert found.keys() >= SHOWN.keys()
    asked = ask(client, BROKER, "1", [*SHOWN, "foo.nope"]).configs
    assert {
        each.name: (
            *(each.value, each.config_type, each.is_sensitive),
            [(s.name, s.value, s.source) for s in each.synonyms],
        )
        for each in asked
    } == SHOWN
    assert all(each.read_only and each == found[each.name] for each in asked)
    assert [each.config_source for each in asked if each.name == "foo.baz"] == [2]
    assert (found["num.partitions"].value, found["broker.id"].value) == ("1", "1")
    assert not SHOWN.keys() & {each.name for each in ask(client, BROKER, "").configs}


def test_an_empty_name_means_what_is_set_for_all_brokers(client: Client, cluster: Cluster) -> None:
    set_configs(cluster, BROKER_RESOURCE, ALL_BROKERS, {"log.retention.ms": "7"})
    (config,) = ask(client, BROKER, "").configs
    assert (config.name, config.value, config.config_source) == ("log.retention.ms", "7", 3)
    assert [(s.name, s.value, s.source) for s in config.synonyms] == [("log.retention.ms", "7", 3)]


# Groups, metrics, loggers


def test_a_group_that_nobody_knows_has_the_brokers_values() -> None:
    cluster = open_cluster(group_consumer_session_timeout_ms="050000")
    client = client_of(cluster)
    assert len(ask(client, GROUP, "g").configs) == 17
    assert describe(client, GROUP, "g", "consumer.session.timeout.ms") == (
        "50000",
        4,
        [
            ("group.consumer.session.timeout.ms", "050000", 4),
            ("group.consumer.session.timeout.ms", "45000", 5),
        ],
    )
    assert describe(client, GROUP, "g", "share.auto.offset.reset") == (
        "latest",
        5,
        [("share.auto.offset.reset", "latest", 5)],
    )
    cluster.close()


def test_stored_configs_of_groups_and_subscriptions_are_shown(
    client: Client, cluster: Cluster
) -> None:
    set_configs(cluster, GROUP, "g", {"share.isolation.level": "read_committed"})
    set_configs(cluster, METRICS, "m", {"interval.ms": "500"})
    assert describe(client, GROUP, "g", "share.isolation.level")[:2] == ("read_committed", 8)
    assert describe(client, METRICS, "m", "interval.ms")[:2] == ("500", 7)
    assert describe(client, METRICS, "other", "interval.ms") == ("300000", 5, [])


def test_the_root_logger_is_reported(client: Client) -> None:
    assert describe(client, LOGGER, "1", "root") == ("WARN", 6, [])


# Refusals


@pytest.mark.parametrize(
    ("kind", "name", "error", "message"),
    [
        (TOPIC, "x", 3, ""),
        (TOPIC, "a b", 17, f"Topic name is invalid: 'a b' {ILLEGAL}"),
        (TOPIC, "", 17, "Topic name is invalid: the empty string is not allowed"),
        (BROKER, "9", 42, "Unexpected broker id, expected 1 or empty string, but received 9"),
        (BROKER, "x", 42, "Broker id must be an integer, but it is: x"),
        (LOGGER, "2", 42, "Unexpected broker id, expected 1 but received 2"),
        (LOGGER, "x", 42, "Broker id must be an integer, but it is: x"),
        (LOGGER, "", 42, "Broker id must not be empty"),
        (GROUP, "", 42, "Group name must not be empty"),
        (METRICS, "", 42, "Client metrics subscription name must not be empty"),
        (3, "x", 42, INVALID_REQUEST_TEXT),
    ],
)
def test_a_resource_is_refused_with_error_and_sentence(
    client: Client, kind: int, name: str, error: int, message: str
) -> None:
    result = ask(client, kind, name)
    assert (result.error_code, result.error_message, result.configs) == (error, message, [])


@pytest.mark.parametrize("version", first_and_last(DescribeConfigsRequest))
def test_a_value_and_its_source_are_reported_in_every_version(client: Client, version: int) -> None:
    (config,) = ask(client, TOPIC, "t", ["cleanup.policy"], version=version).configs
    assert (config.name, config.value, config.config_source) == ("cleanup.policy", "compact", 1)
    assert [each.source for each in config.synonyms] == [1, 5]


def test_one_unknown_kind_of_resource_refuses_the_whole_description(client: Client) -> None:
    resource = DescribeConfigsRequest.Resource
    resources = [
        resource(resource_type=kind, resource_name="t", configuration_keys=None) for kind in (2, 3)
    ]
    answer = client.ask(DescribeConfigsRequest(resources=resources), 4)
    assert [result.error_code for result in answer.results] == [42, 42]
