"""ListConfigResources (semantics I17): what has configs, by type."""

from __future__ import annotations

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire.api.list_config_resources import ListConfigResourcesRequest

from tests.support.cluster import Client
from tests.support.configs import set_configs
from tests.support.versions import first_and_last

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32


@pytest.fixture(autouse=True)
def _topic(cluster: Cluster) -> None:
    cluster.topics.create("t")


def listed(client: Client, *kinds: int, version: int = 1) -> tuple[int, list[tuple[int, str]]]:
    answer = client.ask(ListConfigResourcesRequest(resource_types=list(kinds)), version)
    return answer.error_code, [(r.resource_type, r.resource_name) for r in answer.config_resources]


def test_resources_are_listed_by_type(client: Client, cluster: Cluster) -> None:
    set_configs(cluster, GROUP, "g", {"consumer.session.timeout.ms": "46000"})
    set_configs(cluster, METRICS, "m", {"interval.ms": "200"})
    group, metrics = (GROUP, "g"), (METRICS, "m")
    rest = [(LOGGER, "1"), (BROKER, "1"), (TOPIC, "t")]
    assert listed(client) == (0, [group, metrics, *rest])
    assert listed(client, TOPIC, TOPIC) == (0, [(TOPIC, "t")])
    assert listed(client, METRICS, GROUP) == (0, [group, metrics])
    assert listed(client, version=0) == (0, [(16, "m")])


@pytest.mark.parametrize("kind", [0, 1, 3, 64, -1])
def test_a_type_that_is_not_known_is_no_version_of_ours(client: Client, kind: int) -> None:
    assert listed(client, TOPIC, kind) == (35, [])


@pytest.mark.parametrize("version", first_and_last(ListConfigResourcesRequest))
def test_client_metrics_are_listed_in_every_version(
    client: Client, cluster: Cluster, version: int
) -> None:
    set_configs(cluster, METRICS, "m", {"interval.ms": "200"})
    error, found = listed(client, version=version)
    assert error == 0
    assert (METRICS, "m") in found
