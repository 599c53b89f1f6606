"""The broker configs of the group coordinator, with Kafka's defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from ..config.configs import BrokerConfig

_UNLIMITED = 2**31 - 1
_CONFIG, _FACTOR, _FIXED = "config", "factor", "fixed in Kafka"


class GroupConfigs(Protocol):
    def get(self, name: str, /) -> Any:
        """The value in force, parsed, e.g. of `consumer.session.timeout.ms`."""


ConfigsOf: TypeAlias = Callable[[str], GroupConfigs]
"""The configs of a group, by its id, as they are now."""


def _of(config: str, default: Any, factor: int = 1) -> Any:
    """A field that is the value of a broker config, times a factor."""
    return field(default=default, metadata={_CONFIG: config, _FACTOR: factor})


def _fixed(value: Any) -> Any:
    """A field that is the same in all brokers."""
    return field(default=value, metadata={_FIXED: True})


@dataclass
class GroupSettings:
    """A change counts from then on; deadlines that are set already stay. What a release of Kafka
    can do has the name of its capability (base/release.py)."""

    initial_rebalance_delay_ms: int = _of("group.initial.rebalance.delay.ms", 3000)
    max_size: int = _of("group.max.size", _UNLIMITED)
    min_session_timeout_ms: int = _of("group.min.session.timeout.ms", 6000)
    max_session_timeout_ms: int = _of("group.max.session.timeout.ms", 1_800_000)
    new_member_join_timeout_ms: int = _fixed(300_000)
    newcomers_leave_with_a_round: bool = True
    lets_waiting_members_beat: bool = True
    checks_generations_first: bool = True
    checks_transactions_like_commits: bool = True
    names_empty_group_ids: bool = True
    refuses_joins_without_generation: bool = True
    refuses_unknown_instances: bool = True
    lets_pending_instances_leave: bool = True
    removes_unsynced_members: bool = True
    writes_new_groups: bool = True
    numbers_group_records: bool = True
    keeps_epochs_of_offsets: bool = True
    keeps_topic_ids_of_offsets: bool = True
    keeps_topic_ids_of_named_topics: bool = True
    counts_epochs_from_1: bool = True
    keeps_epochs_of_partitions: bool = True
    stamps_assignments: bool = True
    lets_members_rejoin: bool = True
    frees_own_partitions: bool = True
    hashes_subscriptions: bool = True
    leaves_extra_partitions: bool = True
    tells_commits_of_missing_groups: bool = True
    tells_generations_of_missing_groups: bool = True
    metadata_max_chars: int = _of("offset.metadata.max.bytes", 4096)  # Kafka counts characters
    retention_ms: int = _of("offsets.retention.minutes", 7 * 24 * 60 * 60_000, 60_000)
    retention_check_interval_ms: int = _of("offsets.retention.check.interval.ms", 600_000)
    partitions: int = _of("offsets.topic.num.partitions", 50)
    consumer_max_size: int = _of("group.consumer.max.size", _UNLIMITED)
    consumer_assignors: Sequence[str] = _of("group.consumer.assignors", ("uniform", "range"))
    consumer_migration_policy: str = _of("group.consumer.migration.policy", "bidirectional")
    consumer_regex_refresh_interval_ms: int = _of(
        "group.consumer.regex.refresh.interval.ms", 600_000
    )
    share_max_size: int = _of("group.share.max.size", 200)
    share_initialize_retry_interval_ms: int = _of(
        "group.share.initialize.retry.interval.ms", 30_000
    )
    streams_max_size: int = _of("group.streams.max.size", _UNLIMITED)


def settings_of(config: BrokerConfig) -> GroupSettings:
    """The settings in a broker's configs. Those that its release does not have keep their
    defaults."""
    release = config.release
    missing = [] if release.has_share_coordinator else ["group.share."]
    missing += [] if release.has_streams_groups else ["group.streams."]
    values: dict[str, Any] = {}
    for each in fields(GroupSettings):
        name = each.metadata.get(_CONFIG)
        if name is None:
            if _FIXED not in each.metadata:
                values[each.name] = getattr(release, each.name)
        elif not name.startswith(tuple(missing)):
            value = config.get(name)
            factor = each.metadata[_FACTOR]
            values[each.name] = value if factor == 1 else value * factor
    return GroupSettings(**values)
