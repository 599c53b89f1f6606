"""What scripts meet that ask with kafka-python's admin client, or a consumer that does not wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

BROKERS = 3
PARTITIONS = 6


def _list_group_offsets(bootstrap: str) -> object:
    return _admin(bootstrap).list_group_offsets({"g": None}) and "ok"


def _describe_groups(bootstrap: str) -> object:
    return _admin(bootstrap).describe_groups(["g"]) and "ok"


def _describe_topics(bootstrap: str) -> object:
    admin = _creating(bootstrap)
    (topic,) = admin.describe_topics(["t"])
    return f"{len(topic['partitions'])} partitions, error {topic['error_code']}"


def _list_partition_offsets(bootstrap: str) -> object:
    from kafka import TopicPartition

    return _creating(bootstrap).list_partition_offsets({TopicPartition("t", 0): -1}) and "ok"


def _partitions_for_topic(bootstrap: str) -> object:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    _creating(bootstrap)
    return f"{len(consumer.partitions_for_topic('t') or ())} partitions"


STEPS: dict[str, Callable[[str], object]] = {
    "list_group_offsets": _list_group_offsets,
    "describe_groups": _describe_groups,
    "create_topics, describe_topics": _describe_topics,
    "create_topics, list_partition_offsets": _list_partition_offsets,
    "create_topics, partitions_for_topic": _partitions_for_topic,
}


def of_new_brokers(start: Callable[[], AbstractContextManager[Any]], step: str) -> Counter[str]:
    """What the step ends with, as the first at a new broker."""
    from kafka.errors import KafkaError

    met: Counter[str] = Counter()
    for _ in range(BROKERS):
        with start() as broker:
            try:
                met[str(STEPS[step](broker.bootstrap_servers))] += 1
            except KafkaError as error:
                met[type(error).__name__] += 1
    return met


def _admin(bootstrap: str) -> Any:
    from kafka import KafkaAdminClient

    return KafkaAdminClient(bootstrap_servers=bootstrap)


def _creating(bootstrap: str) -> Any:
    """An admin client that has just created a topic t, while the broker makes the 50 logs of
    `__consumer_offsets`."""
    from kafka.admin import NewTopic
    from kafka.errors import KafkaError

    admin = _admin(bootstrap)
    with suppress(KafkaError):
        admin.list_group_offsets({"g": None})
    admin.create_topics([NewTopic("t", PARTITIONS, 1)])
    return admin
