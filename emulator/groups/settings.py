"""The broker settings a group coordinator obeys, with Kafka's defaults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class GroupSettings:
    """Each field names its broker config. A change is obeyed from then on; time already granted
    stays granted."""

    initial_rebalance_delay_ms: int = 3000  # group.initial.rebalance.delay.ms
    max_size: int = 2**31 - 1  # group.max.size
    min_session_timeout_ms: int = 6000  # group.min.session.timeout.ms
    max_session_timeout_ms: int = 1_800_000  # group.max.session.timeout.ms
    new_member_join_timeout_ms: int = 300_000  # fixed in Kafka
    newcomers_leave_with_a_round: bool = True  # fixed in Kafka: since 4.0
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


class ConsumerTimes(NamedTuple):
    """What one consumer group obeys: its own configs, or else the broker's. Milliseconds."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


TimesOf = Callable[[str], ConsumerTimes]
"""The times of a group, by its id, as they are now."""


def times_of(settings: GroupSettings) -> TimesOf:
    """The times of groups that have no configs of their own."""
    return lambda group_id: ConsumerTimes(
        settings.consumer_session_timeout_ms,
        settings.consumer_heartbeat_interval_ms,
        settings.consumer_assignment_interval_ms,
    )
