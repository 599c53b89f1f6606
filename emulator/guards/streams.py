"""What the APIs of streams groups need: the group, and each topic of the topology.

The right to create internal topics is asked for where they are created
(handlers/streams_internal_topics.py): without it the member is told, and stays.
"""

from __future__ import annotations

from typing import Any

from ...wire import Error, Refused
from ...wire.api.streams_group_describe import StreamsGroupDescribeRequest
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ..handlers.streams_group_heartbeat import check_topics, required_topics
from ..security.authorizer.acl import Kind, Operation
from .asking import BITS_UNKNOWN, Authorization, Verdict
from .groups import described_groups
from .guard import guards
from .needs import ERRORS, needs_one

_SECRET_TOPICS = "The described group uses topics that the client is not authorized to describe."


@guards(StreamsGroupHeartbeatRequest)
def heartbeat(asking: Authorization, request: StreamsGroupHeartbeatRequest) -> Verdict:
    """Topics that may not be described refuse the whole heartbeat; before them, what no topology
    can have is told."""
    refusal = needs_one(asking, request, Operation.READ, Kind.GROUP, request.group_id)
    if refusal is not None:
        return refusal
    names = required_topics(request)
    try:
        check_topics(names)
    except Refused:
        return None
    if len(asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names)) < len(names):
        return asking.refuse(request, ERRORS[Kind.TOPIC])  # type: ignore[no-any-return]
    return None


@guards(StreamsGroupDescribeRequest)
def describe(asking: Authorization, request: StreamsGroupDescribeRequest) -> Verdict:
    return described_groups(asking, request, _without_secret_topics)


def _without_secret_topics(asking: Authorization, group: Any) -> Any:
    names = {
        name
        for each in (() if group.topology is None else group.topology.subtopologies)
        for name in (
            *each.source_topics,
            *each.repartition_sink_topics,
            *(topic.name for topic in each.repartition_source_topics),
            *(topic.name for topic in each.state_changelog_topics),
        )
    }
    if len(asking.allowed(Operation.DESCRIBE, Kind.TOPIC, names)) == len(names):
        return group
    refused = type(group)(
        error_code=Error.TOPIC_AUTHORIZATION_FAILED,
        error_message=_SECRET_TOPICS,
        group_id=group.group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        topology=None,
        members=[],
    )
    refused.authorized_operations = BITS_UNKNOWN
    return refused
