"""The broker configs of the group coordinator, with Kafka's defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ..config.configs import BrokerConfig
    from ..config.group import GroupConfig

ConfigsOf: TypeAlias = Callable[[str], "GroupConfig"]
"""The configs of a group, by its id, as they are now."""


@dataclass
class GroupSettings:
    """Each field names its broker config. A change counts from then on; deadlines that are set
    already stay."""

    initial_rebalance_delay_ms: int = 3000  # group.initial.rebalance.delay.ms
    max_size: int = 2**31 - 1  # group.max.size
    min_session_timeout_ms: int = 6000  # group.min.session.timeout.ms
    max_session_timeout_ms: int = 1_800_000  # group.max.session.timeout.ms
    new_member_join_timeout_ms: int = 300_000  # fixed in Kafka
    newcomers_leave_with_a_round: bool = True  # fixed in Kafka: since 4.0, as the next four
    writes_new_groups: bool = True
    numbers_group_records: bool = True
    keeps_topic_ids_of_offsets: bool = True
    tells_commits_of_missing_groups: bool = True
    metadata_max_chars: int = 4096  # offset.metadata.max.bytes, which counts characters
    retention_ms: int = 7 * 24 * 60 * 60_000  # offsets.retention.minutes
    retention_check_interval_ms: int = 600_000  # offsets.retention.check.interval.ms
    partitions: int = 50  # offsets.topic.num.partitions
    consumer_session_timeout_ms: int = 45_000  # group.consumer.session.timeout.ms
    consumer_heartbeat_interval_ms: int = 5000  # group.consumer.heartbeat.interval.ms
    consumer_assignment_interval_ms: int = 1000  # group.consumer.assignment.interval.ms
    consumer_max_size: int = 2**31 - 1  # group.consumer.max.size
    consumer_assignors: tuple[str, ...] = ("uniform", "range")  # group.consumer.assignors
    consumer_migration_policy: str = "bidirectional"  # group.consumer.migration.policy
    consumer_regex_refresh_interval_ms: int = 600_000  # group.consumer.regex.refresh.interval.ms
    share_session_timeout_ms: int = 45_000  # group.share.session.timeout.ms
    share_heartbeat_interval_ms: int = 5000  # group.share.heartbeat.interval.ms
    share_assignment_interval_ms: int = 1000  # group.share.assignment.interval.ms
    share_max_size: int = 200  # group.share.max.size
    share_initialize_retry_interval_ms: int = 30_000  # group.share.initialize.retry.interval.ms
    streams_session_timeout_ms: int = 45_000  # group.streams.session.timeout.ms
    streams_heartbeat_interval_ms: int = 5000  # group.streams.heartbeat.interval.ms
    streams_assignment_interval_ms: int = 1000  # group.streams.assignment.interval.ms
    streams_initial_rebalance_delay_ms: int = 3000  # group.streams.initial.rebalance.delay.ms
    streams_standbys: int = 0  # group.streams.num.standby.replicas
    streams_max_size: int = 2**31 - 1  # group.streams.max.size


def settings_of(config: BrokerConfig) -> GroupSettings:
    """The settings in a broker's configs."""
    return GroupSettings(
        initial_rebalance_delay_ms=config.get("group.initial.rebalance.delay.ms"),
        max_size=config.get("group.max.size"),
        min_session_timeout_ms=config.get("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.get("group.max.session.timeout.ms"),
        newcomers_leave_with_a_round=config.release.newcomers_leave_with_a_round,
        writes_new_groups=config.release.writes_new_groups,
        numbers_group_records=config.release.numbers_group_records,
        keeps_topic_ids_of_offsets=config.release.keeps_topic_ids_of_offsets,
        tells_commits_of_missing_groups=config.release.tells_commits_of_missing_groups,
        metadata_max_chars=config.get("offset.metadata.max.bytes"),
        retention_ms=config.get("offsets.retention.minutes") * 60_000,
        retention_check_interval_ms=config.get("offsets.retention.check.interval.ms"),
        partitions=config.get("offsets.topic.num.partitions"),
        consumer_session_timeout_ms=config.get("group.consumer.session.timeout.ms"),
        consumer_heartbeat_interval_ms=config.get("group.consumer.heartbeat.interval.ms"),
        consumer_assignment_interval_ms=config.get("group.consumer.assignment.interval.ms"),
        consumer_max_size=config.get("group.consumer.max.size"),
        consumer_assignors=tuple(config.get("group.consumer.assignors")),
        consumer_migration_policy=config.get("group.consumer.migration.policy"),
        consumer_regex_refresh_interval_ms=config.get("group.consumer.regex.refresh.interval.ms"),
        **_share_settings(config),
        **_streams_settings(config),
    )


def _share_settings(config: BrokerConfig) -> dict[str, int]:
    """Those of share groups, which old releases have as a preview, or not at all."""
    if not config.release.has_share_coordinator:
        return {}
    return {
        "share_session_timeout_ms": config.get("group.share.session.timeout.ms"),
        "share_heartbeat_interval_ms": config.get("group.share.heartbeat.interval.ms"),
        "share_assignment_interval_ms": config.get("group.share.assignment.interval.ms"),
        "share_max_size": config.get("group.share.max.size"),
        "share_initialize_retry_interval_ms": config.get(
            "group.share.initialize.retry.interval.ms"
        ),
    }


def _streams_settings(config: BrokerConfig) -> dict[str, int]:
    """Those of streams groups, which old releases do not have."""
    if not config.release.has_streams_groups:
        return {}
    return {
        "streams_session_timeout_ms": config.get("group.streams.session.timeout.ms"),
        "streams_heartbeat_interval_ms": config.get("group.streams.heartbeat.interval.ms"),
        "streams_assignment_interval_ms": config.get("group.streams.assignment.interval.ms"),
        "streams_initial_rebalance_delay_ms": config.get(
            "group.streams.initial.rebalance.delay.ms"
        ),
        "streams_standbys": config.get("group.streams.num.standby.replicas"),
        "streams_max_size": config.get("group.streams.max.size"),
    }
