"""The times of a consumer group: its own configs, or else the broker's."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..settings import GroupSettings


class ConsumerTimes(NamedTuple):
    """Milliseconds each."""

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
