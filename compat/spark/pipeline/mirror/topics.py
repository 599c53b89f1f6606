"""The source's topics in the target: created with their partitions and configs, and grown."""

from __future__ import annotations

from collections.abc import Iterable

from ..broker import Cluster, Topic, create_topic, find_topics, topic_configs
from ..broker.topics import add_partitions

TIMESTAMP_TYPE = "message.timestamp.type"
_MIN_ISR = "min.insync.replicas"
# Of the source's brokers, or of where its replicas are.
NOT_COPIED = (
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "message.downconversion.enable",
    "message.format.version",
    "remote.storage.enable",
)


def copied_configs(configs: dict[str, str], replicas: int) -> dict[str, str]:
    """What a topic of the target is created with.

    Times are always those of the records: with LogAppendTime the target would give its own.
    """
    found = {name: value for name, value in configs.items() if name not in NOT_COPIED}
    found.pop(TIMESTAMP_TYPE, None)
    if int(found.get(_MIN_ISR, 1)) > replicas:
        del found[_MIN_ISR]
    return found


def ensure_topics(source: Cluster, target: Cluster, topics: Iterable[Topic]) -> list[str]:
    """Make the target have these topics of the source. The names of those that are new."""
    wanted = list(topics)
    there = {
        topic.name: topic for topic in find_topics(target, [t.name for t in wanted], none=True)
    }
    missing = [topic for topic in wanted if topic.name not in there]
    configs = topic_configs(source, [topic.name for topic in missing]) if missing else {}
    for topic in missing:
        replicas = max(1, min(topic.replicas, len(target.brokers.nodes)))
        create_topic(
            target,
            topic.name,
            len(topic.partitions),
            configs=copied_configs(configs[topic.name], replicas),
            replicas=replicas,
        )
    for topic in wanted:
        known = there.get(topic.name)
        if known is not None and len(known.partitions) < len(topic.partitions):
            add_partitions(target, topic.name, len(topic.partitions))
    return [topic.name for topic in missing]
