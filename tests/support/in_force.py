"""What of the metadata is in force: what the live objects have, and what clients are told."""

from __future__ import annotations

from typing import Any

from odradek.emulator.base.node import alive
from odradek.emulator.cluster import Cluster
from odradek.emulator.config.group import (
    GROUP_RESOURCE,
    GroupConfig,
    group_config,
    group_definitions,
)
from odradek.emulator.partitions.partition import Partition, Topic
from odradek.wire.api.describe_client_quotas import DescribeClientQuotasRequest
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from odradek.wire.api.list_config_resources import ListConfigResourcesRequest

from tests.support.cluster import Client, client_of

CLIENT_METRICS = 16


def in_force(cluster: Cluster) -> dict[str, Any]:
    """All of it but the leaders and their epochs."""
    client = client_of(cluster)
    config, image = cluster.config, cluster.metadata.image
    groups = sorted(name for kind, name in image.configs if kind == GROUP_RESOURCE)
    return {
        "topics": {topic.name: _topic(topic) for topic in cluster.topics},
        "logs": sorted(cluster.log_dir.logs),
        "set for brokers": config.dynamic,
        "brokers": {name: config.get(name) for name in config.definitions},
        "groups": {name: _group(group_config(image.configs_of, name, config)) for name in groups},
        "client metrics": _client_metrics(client),
        "quotas": client.ask(DescribeClientQuotasRequest(components=[], strict=False), 1),
        "credentials": client.ask(DescribeUserScramCredentialsRequest(users=None), 0),
        "features": dict(cluster.features.finalized),
        "alive": list(alive(cluster.nodes)),
        "producer ids": image.next_producer_id,
    }


def _topic(topic: Topic) -> dict[str, Any]:
    config = topic.config
    return {
        "id": topic.id,
        "set": config.overrides,
        "configs": {name: config.get(name) for name in config.broker.topic_definitions},
        "logs obey": [
            partition.log.config == config.log_config() for partition in topic.partitions
        ],
        "replicas": [(each.replicas, sorted(each.isr)) for each in topic.partitions],
    }


def _group(config: GroupConfig) -> dict[str, Any]:
    return {name: config.get(name) for name in group_definitions()}


def _client_metrics(client: Client) -> dict[str, Any]:
    kinds = ListConfigResourcesRequest(resource_types=[CLIENT_METRICS])
    names = [each.resource_name for each in client.ask(kinds, 1).config_resources]
    resources = [
        DescribeConfigsRequest.Resource(
            resource_type=CLIENT_METRICS, resource_name=name, configuration_keys=None
        )
        for name in names
    ]
    results = client.ask(DescribeConfigsRequest(resources=resources), 4).results
    return {each.resource_name: [(c.name, c.value) for c in each.configs] for each in results}


def partitions(cluster: Cluster) -> dict[str, Partition]:
    """Every partition, by topic and index."""
    return {
        f"{topic.name}-{partition.index}": partition
        for topic in cluster.topics
        for partition in topic.partitions
    }


def leaders(cluster: Cluster) -> dict[str, tuple[int, int]]:
    """Who leads every partition, and in which leader epoch."""
    return {name: (each.leader, each.leader_epoch) for name, each in partitions(cluster).items()}
