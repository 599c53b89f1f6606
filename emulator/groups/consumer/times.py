"""The times of a consumer group: its own configs, or else the broker's."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..settings import ConfigsOf, GroupSettings

_CONFIGS = (
    "consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms",
    "consumer.assignment.interval.ms",
)


class ConsumerTimes(NamedTuple):
    """Milliseconds each."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int


TimesOf = Callable[[str], ConsumerTimes]
"""The times of a group, by its id, as they are now."""


def times_of(settings: GroupSettings, configs_of: ConfigsOf | None) -> TimesOf:
    """The times of groups that may have configs of their own, or have none."""
    if configs_of is not None:
        return lambda group_id: ConsumerTimes(*map(configs_of(group_id).get, _CONFIGS))
    return lambda group_id: ConsumerTimes(
        settings.consumer_session_timeout_ms,
        settings.consumer_heartbeat_interval_ms,
        settings.consumer_assignment_interval_ms,
    )
