"""Which topics there are, by names and patterns; their configs; new ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from .....wire.api.create_partitions import CreatePartitionsRequest
from .....wire.api.create_topics import CreateTopicsRequest
from .....wire.api.describe_configs import DescribeConfigsRequest
from .....wire.api.metadata import MetadataResponse
from ....cli.console.client import check
from .cluster import BrokerError, Cluster, Place, refuse

_TOPIC = 2
_SET_FOR_THE_TOPIC = 1
_NAMED = 5
"""How many topics a message names."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as a cluster has it."""

    name: str
    partitions: tuple[int, ...]
    replicas: int
    is_internal: bool = False

    @property
    def places(self) -> list[Place]:
        return [(self.name, index) for index in self.partitions]


def find_topics(
    cluster: Cluster, patterns: Sequence[str] = ("*",), *, none: bool = False
) -> list[Topic]:
    """The topics with these names, or that match these patterns (* and ?), by name.

    Internal topics only by their whole names. Raises BrokerError, with names that are alike, for a
    name or pattern that no topic has, unless there may be `none`.
    """
    there = {each.name or "": each for each in cluster.repeated(cluster.brokers.topics, "topics")}
    found: dict[str, Topic] = {}
    for pattern in patterns:
        names = [
            name
            for name, topic in there.items()
            if name == pattern or (fnmatchcase(name, pattern) and not topic.is_internal)
        ]
        if not names and not none:
            raise BrokerError(_no_topic(pattern, cluster.addresses, there))
        found |= {name: _topic(there[name]) for name in names}
    return [found[name] for name in sorted(found)]


def _topic(topic: MetadataResponse.Topic) -> Topic:
    return Topic(
        topic.name or "",
        tuple(sorted(part.partition_index for part in topic.partitions)),
        max((len(part.replica_nodes) for part in topic.partitions), default=1),
        topic.is_internal,
    )


def _no_topic(pattern: str, addresses: str, there: Iterable[str]) -> str:
    is_pattern = any(sign in pattern for sign in "*?[")
    what = f"no topic matches {pattern!r}" if is_pattern else f"there is no topic {pattern}"
    names = [name for name in sorted(there) if not name.startswith("__")]
    like = difflib.get_close_matches(pattern, names, n=1)
    if like and not is_pattern:
        return f"{what} at {addresses}: did you mean {like[0]}?"
    if not names:
        return f"{what} at {addresses}, which has no topics"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{what} at {addresses}, which has {', '.join(names[:_NAMED])}{more}"


def topic_configs(cluster: Cluster, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The configs that were set for these topics themselves."""
    return {
        name: {
            config.name: config.value
            for config in configs
            if config.config_source == _SET_FOR_THE_TOPIC and config.value is not None
        }
        for name, configs in _described(cluster, names).items()
    }


def all_topic_configs(cluster: Cluster, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The configs of these topics, with what they have from their brokers."""
    return {
        name: {config.name: config.value for config in configs if config.value is not None}
        for name, configs in _described(cluster, names).items()
    }


def _described(cluster: Cluster, names: Iterable[str]) -> dict[str, list[Any]]:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsRequest.Resource(
                resource_type=_TOPIC, resource_name=name, configuration_keys=None
            )
            for name in names
        ]
    )
    found: dict[str, list[Any]] = {}
    for result in cluster.repeated(lambda: cluster.ask_any(request), "configs").results:
        check(result.error_code, f"configs of topic {result.resource_name}", result.error_message)
        found[result.resource_name] = result.configs
    return found


def create_topic(
    cluster: Cluster,
    name: str,
    partitions: int = -1,
    *,
    configs: Mapping[str, str] | None = None,
    replicas: int = -1,
) -> None:
    """Create a topic, and wait until each partition has a leader. -1 is the broker's default."""
    made = CreateTopicsRequest.Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[],
        configs=[
            CreateTopicsRequest.Topic.Config(name=key, value=value)
            for key, value in (configs or {}).items()
        ],
    )
    request = CreateTopicsRequest(topics=[made])

    def ask() -> None:
        answer = cluster.brokers.ask_controller(request)
        refuse(answer.topics[0].error_code, name, answer.topics[0].error_message)

    cluster.repeated(ask, f"topic {name} cannot be created")
    cluster.brokers.topic(name, is_new=True)


def add_partitions(cluster: Cluster, name: str, partitions: int) -> None:
    wanted = CreatePartitionsRequest.Topic(name=name, count=partitions, assignments=None)
    request = CreatePartitionsRequest(topics=[wanted], timeout_ms=30_000, validate_only=False)

    def ask() -> None:
        (result,) = cluster.brokers.ask_controller(request).results
        refuse(result.error_code, name, result.error_message)

    cluster.repeated(ask, f"partitions cannot be added to topic {name}")
    cluster.brokers.topic(name, is_new=True)
