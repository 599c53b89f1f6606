"""The broker settings a group coordinator obeys, with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class GroupSettings:
    """Each field names its broker config. A change is obeyed from then on; time already granted
    stays granted."""

    initial_rebalance_delay_ms: int = 3000  # group.initial.rebalance.delay.ms
    max_size: int = 2**31 - 1  # group.max.size
    min_session_timeout_ms: int = 6000  # group.min.session.timeout.ms
    max_session_timeout_ms: int = 1_800_000  # group.max.session.timeout.ms
    new_member_join_timeout_ms: int = 300_000  # fixed in Kafka
    metadata_max_chars: int = 4096  # offset.metadata.max.bytes, which counts characters
    retention_ms: int = 7 * 24 * 60 * 60_000  # offsets.retention.minutes
    retention_check_interval_ms: int = 600_000  # offsets.retention.check.interval.ms
    partitions: int = 50  # offsets.topic.num.partitions
