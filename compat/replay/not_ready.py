"""Errors of a broker that is not ready yet: clients ask again, and so does a replay, for a while.

A real broker that has just started, or created a topic, answers so for moments that were over when
the journal was recorded. Not so a request of which a part was carried out: it would be done twice.
"""

from __future__ import annotations

from ...emulator.control.refusals import refusals
from ...wire import Error, Response
from ...wire.api.produce import ProduceResponse

_LONG, _SHORT = 10.0, 1.0
_SECONDS = {
    Error.CONCURRENT_TRANSACTIONS: _LONG,
    Error.COORDINATOR_LOAD_IN_PROGRESS: _LONG,
    Error.COORDINATOR_NOT_AVAILABLE: _LONG,
    Error.LEADER_NOT_AVAILABLE: _LONG,
    Error.NOT_COORDINATOR: _SHORT,
    Error.NOT_ENOUGH_REPLICAS: _SHORT,
    Error.NOT_LEADER_OR_FOLLOWER: _SHORT,
    Error.UNKNOWN_TOPIC_OR_PARTITION: _SHORT,
    Error.UNKNOWN_TOPIC_ID: _SHORT,
}


def seconds_to_try(was: Response, now: Response | None) -> float:
    """For how long to ask again; 0 if the answer stands."""
    if now is None or refusals(was):
        return 0.0
    errors = [each.error for each in refusals(now)]
    if isinstance(now, ProduceResponse):
        asked = sum(len(topic.partition_responses) for topic in now.responses)
        if len(errors) < asked:
            return 0.0
    return min((_SECONDS.get(error, 0.0) for error in errors), default=0.0)
