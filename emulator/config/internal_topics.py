"""The topics that Kafka creates for itself, on demand, and their configs."""

from __future__ import annotations

from typing import NamedTuple

from .configs import BrokerConfig

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
INTERNAL_TOPICS = (CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE)

METADATA_TOPIC = "__cluster_metadata"
"""The metadata log, which clients do not see as a topic."""


class InternalTopic(NamedTuple):
    partitions: int
    replication_factor: int
    configs: dict[str, str]


def internal_topic(name: str, config: BrokerConfig) -> InternalTopic:
    """The settings of an internal topic by the broker's configs. Raises KeyError for any other."""
    prefix, configs = {
        CONSUMER_OFFSETS: (
            "offsets.topic",
            {"compression.type": "producer", "cleanup.policy": "compact"},
        ),
        TRANSACTION_STATE: (
            "transaction.state.log",
            {
                "compression.type": "uncompressed",
                "cleanup.policy": "compact",
                "min.insync.replicas": str(config.get("transaction.state.log.min.isr")),
                "unclean.leader.election.enable": "false",
            },
        ),
        SHARE_GROUP_STATE: (
            "share.coordinator.state.topic",
            {
                "compression.type": "producer",
                "cleanup.policy": "delete",
                "min.insync.replicas": str(config.get("share.coordinator.state.topic.min.isr")),
                "retention.ms": "-1",
            },
        ),
    }[name]
    configs["segment.bytes"] = str(config.get(f"{prefix}.segment.bytes"))
    return InternalTopic(
        config.get(f"{prefix}.num.partitions"),
        config.get(f"{prefix}.replication.factor"),
        {name: text for name, text in configs.items() if name in config.topic_definitions},
    )
