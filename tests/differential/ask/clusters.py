"""Requests to the brokers of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from odradek.wire import Request
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.describe_cluster import DescribeClusterRequest
from odradek.wire.api.describe_topic_partitions import DescribeTopicPartitionsRequest
from odradek.wire.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_for_leader_epoch import OffsetForLeaderEpochRequest

from tests.requests.configs import change_request

from ..engine.steps import Act, Ask, Settled, Step, Steps
from .records import produce

NODES = (1, 2, 3)
CONTROLLER = 0
"""Stands for the controller, which is no broker: without it there is no quorum."""
NO_REPLICA = -1
_SET = 0
_OF_A_TOPIC = 2


def topic_on(*replicas: list[int], name: str = "~t", at: int = 1, **configs: str) -> Ask:
    """Create a topic, each of its partitions on these brokers; configs with _ for dots."""
    made = CreateTopicsRequest.Topic
    topic = made(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            made.Assignment(partition_index=index, broker_ids=each)
            for index, each in enumerate(replicas)
        ],
        configs=[
            made.Config(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ],
    )
    return Ask(CreateTopicsRequest(topics=[topic]), 7, at=at)


def at_each(
    request: Request, version: int | None = None, nodes: Iterable[int] = NODES, **more: Any
) -> Steps:
    return [Ask(request, version, at=node, **more) for node in nodes]


def in_versions(request: Request, *versions: int, nodes: Iterable[int] = NODES) -> Steps:
    """The same request to each of these brokers in each of these versions."""
    return [Ask(request, version, at=node) for version in versions for node in nodes]


def stop(node: int) -> Act:
    return Act("stop", node)


def kill(node: int) -> Act:
    return Act("kill", node)


def start(node: int) -> Act:
    return Act("start", node)


def pause(node: int) -> Act:
    return Act("pause", node)


def resume(node: int) -> Act:
    return Act("resume", node)


LOSE_QUORUM = Act("kill", CONTROLLER)
REGAIN_QUORUM = Act("start", CONTROLLER)
SETTLED = Settled()


def wrote(
    records: Any, at: int = 1, says: Mapping[str, Any] | None = None, version: int = 12, **more: Any
) -> Ask:
    """Produce one batch to partition 0 of `~t` at a broker; `says` are values of the partition."""
    return Ask(produce(records, **more), version, at=at, says=of_produced(**(says or {})))


def of_produced(**values: Any) -> dict[str, Any]:
    """Values of the one partition in an answer to Produce."""
    return {f"responses.0.partition_responses.0.{name}": each for name, each in values.items()}


def of_fetched(**values: Any) -> dict[str, Any]:
    """Values of the one partition in an answer to Fetch."""
    return {f"responses.0.{name}": each for name, each in values.items()}


def of_listed(**values: Any) -> dict[str, Any]:
    """Values of the one partition in an answer to most other APIs."""
    return {f"topics.0.partitions.0.{name}": each for name, each in values.items()}


def about(*names: str) -> MetadataRequest:
    wanted = [MetadataRequest.Topic(name=name) for name in names]
    return MetadataRequest(topics=wanted, allow_auto_topic_creation=False)


def described(*names: str) -> DescribeTopicPartitionsRequest:
    made = DescribeTopicPartitionsRequest
    return made(topics=[made.Topic(name=name) for name in names])


def cluster(*, is_fenced_too: bool = False, endpoint_type: int = 1) -> DescribeClusterRequest:
    return DescribeClusterRequest(
        include_cluster_authorized_operations=False,
        endpoint_type=endpoint_type,
        include_fenced_brokers=is_fenced_too,
    )


def moves() -> ListPartitionReassignmentsRequest:
    """The reassignments of `~t`-0."""
    made = ListPartitionReassignmentsRequest
    return made(topics=[made.Topic(name="~t", partition_indexes=[0])])


def epoch_end(
    epoch: int, current: int = -1, name: str = "~t", replica: int = -1
) -> OffsetForLeaderEpochRequest:
    """Where an epoch ends in partition 0."""
    made = OffsetForLeaderEpochRequest
    part = made.Topic.Partition(partition=0, current_leader_epoch=current, leader_epoch=epoch)
    return made(replica_id=replica, topics=[made.Topic(topic=name, partitions=[part])])


def set_config(name: str, value: str, topic: str = "~t", at: int = 1) -> Ask:
    return Ask(change_request((_OF_A_TOPIC, topic, [(name, _SET, value)])), 1, at=at)


def view(name: str = "~t", nodes: Iterable[int] = NODES) -> Steps:
    steps: list[Step] = []
    for node in nodes:
        steps += [Ask(about(name), 13, at=node), Ask(described(name), 0, at=node)]
    return steps
