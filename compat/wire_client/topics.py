"""What is done to a topic of any Kafka: it is created, partitions are added, records produced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...emulator.base.words import number_of
from ...wire import Error, Refused
from ...wire.api.create_partitions import CreatePartitionsRequest
from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.describe_configs import DescribeConfigsRequest
from .configuring import TOPIC
from .produced import Producing, listed, new_record
from .reading import partition_count
from .source import Source, check

# Versions that all of these releases serve.
_CREATE_TOPICS, _CREATE_PARTITIONS, _DESCRIBE_CONFIGS = 5, 3, 4
_TIMEOUT_MS = 30_000
BROKERS_DEFAULT = -1


def create_topic(
    source: Source,
    name: str,
    partitions: int,
    configs: Mapping[str, str],
    replicas: int = BROKERS_DEFAULT,
) -> None:
    """Create a topic. Raises Refused as CreateTopics would answer."""
    entry = CreateTopicsRequest.Topic
    asked = entry(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[],
        configs=[entry.Config(name=key, value=value) for key, value in configs.items()],
    )
    request = CreateTopicsRequest(topics=[asked], timeout_ms=_TIMEOUT_MS)
    (answer,) = source.ask(request, _CREATE_TOPICS).topics
    if answer.error_code:
        raise Refused(Error(answer.error_code), answer.error_message)


def add_partitions(source: Source, topic: str, count: int) -> int:
    """Add this many partitions; return how many there are then. Raises Refused as CreatePartitions
    would answer."""
    total = partition_count(source, topic) + count
    asked = CreatePartitionsRequest.Topic(name=topic, count=total, assignments=None)
    request = CreatePartitionsRequest(topics=[asked], timeout_ms=_TIMEOUT_MS, validate_only=False)
    (result,) = source.ask(request, _CREATE_PARTITIONS).results
    what = f"adding {number_of(count, 'partition')} to {topic}"
    check(result.error_code, what, result.error_message)
    return total


def produce_all(source: Source, topic: str, records: Iterable[Any]) -> list[tuple[int, int]]:
    """Produce records, each a NewRecord or a value; those without key and partition go to the
    partitions in turn. Returns partition and offset of each. Raises Refused, TypeError."""
    given = [new_record(each) for each in listed("records", records)]
    if not given:
        return []
    count = partition_count(source, topic)
    return Producing(source, topic, count, largest_batch(source, topic)).send(given)


def largest_batch(source: Source, topic: str) -> int:
    """The topic's `max.message.bytes`."""
    asked = DescribeConfigsRequest.Resource(
        resource_type=TOPIC, resource_name=topic, configuration_keys=["max.message.bytes"]
    )
    request = DescribeConfigsRequest(resources=[asked])
    (found,) = source.ask(request, _DESCRIBE_CONFIGS).results
    check(found.error_code, f"the configs of {topic}", found.error_message)
    return int(found.configs[0].value)
