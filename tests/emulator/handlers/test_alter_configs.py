"""AlterConfigs (semantics I6, I15): what is not named has its default again."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.alter_configs import AlterConfigsRequest

from tests.requests.configs import Pair, alter_request
from tests.support.cluster import Client
from tests.support.versions import first_and_last

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32


def alter(
    client: Client,
    *resources: tuple[int, str, list[Pair]],
    validate_only: bool = False,
    version: int = 2,
) -> list[tuple[int, str | None]]:
    request = alter_request(*resources, validate_only=validate_only)
    return [(r.error_code, r.error_message) for r in client.ask(request, version).responses]


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.topics.create("t", configs={"retention.ms": "9"})


def test_what_is_not_named_has_its_default_again(client: Client, cluster: Cluster) -> None:
    assert alter(client, (TOPIC, "t", [("flush.ms", "5")])) == [(0, None)]
    assert cluster.topic("t").config.overrides == {"flush.ms": "5"}
    assert alter(client, (TOPIC, "t", [])) == [(0, None)]
    assert cluster.topic("t").config.overrides == {}


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([("a", None), ("b", None)], 42, "Null value not supported for : a, b"),
        ([("a", "1"), ("a", None)], 42, "Error due to duplicate config keys"),
        ([("a", "1")], 40, "Unknown topic config name: a"),
    ],
)
def test_a_bad_replacement_is_refused(
    client: Client, cluster: Cluster, pairs: list[Pair], error: int, message: str
) -> None:
    assert alter(client, (TOPIC, "t", pairs)) == [(error, message)]
    assert cluster.topic("t").config.overrides == {"retention.ms": "9"}


def test_a_resource_named_twice_is_refused_where_a_real_broker_is_silent(client: Client) -> None:
    twice = (42, "Each resource must appear at most once.")
    assert alter(client, (TOPIC, "t", []), (TOPIC, "t", [])) == [twice, twice]


def test_loggers_are_not_altered_this_way(client: Client) -> None:
    assert alter(client, (LOGGER, "1", [])) == [(42, "Unknown resource type 8")]


def test_replacing_what_all_brokers_have_must_keep_the_replicas_in_sync(
    client: Client, cluster: Cluster
) -> None:
    message = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
    assert alter(client, (BROKER, "", [("log.retention.ms", "7")])) == [(40, message)]
    both: list[Pair] = [("min.insync.replicas", "1"), ("log.retention.ms", "7")]
    assert alter(client, (BROKER, "", both)) == [(0, None)]
    assert cluster.config.get("log.retention.ms") == 7


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (["retention.ms", "nonsense"], "nonsense"),
        (["nonsense", "cleanup.policy"], "nonsense"),
        (["b", "cleanup.policy", "zz"], "zz"),
        (["q2", "a", "foo"], "q2"),
    ],
)
def test_of_two_unknown_configs_of_a_group_the_one_that_kafka_names_is_named(
    client: Client, names: list[str], first: str
) -> None:
    answer = alter(client, (GROUP, "g", [(name, "1") for name in names]))
    assert answer == [(40, f"Unknown group config name: {first}")]


@pytest.mark.parametrize("version", first_and_last(AlterConfigsRequest))
def test_configs_are_replaced_in_every_version(
    client: Client, cluster: Cluster, version: int
) -> None:
    assert alter(client, (TOPIC, "t", [("flush.ms", "5")]), version=version) == [(0, None)]
    assert cluster.topic("t").config.overrides == {"flush.ms": "5"}


def test_only_checking_changes_nothing(client: Client, cluster: Cluster) -> None:
    dry = alter(client, (TOPIC, "t", [("flush.ms", "5")]), validate_only=True)
    assert dry == [(0, None)]
    assert cluster.topic("t").config.overrides == {"retention.ms": "9"}
