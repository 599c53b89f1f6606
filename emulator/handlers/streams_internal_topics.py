"""The internal topics of streams groups (KIP-1071): they are created for the member that finds them
missing, by its rights: CREATE on the cluster, or on each topic (semantics N30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.streams_group_heartbeat import StreamsGroupHeartbeatResponse
from ..base.call import Call
from ..groups.streams.topology import InternalTopic, Status, StatusCode
from ..security.authorizer.acl import CLUSTER_NAME, Kind, Operation
from .create_topics import create_with_kraft

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..groups.streams.calls import CreationErrors

_TIMEOUT_MS = 30_000
_DEFAULT = -1
_LISTED_MAX = 3


def create_missing(
    cluster: Cluster,
    call: Call,
    errors: CreationErrors,
    answer: StreamsGroupHeartbeatResponse,
    missing: Mapping[str, InternalTopic],
) -> None:
    """Create what is missing; the answer says what keeps topics from being created."""
    if not missing:
        return
    denied = _denied(cluster, call, [*missing])
    if denied:
        _add(answer, f"Unauthorized to CREATE on topics {', '.join(denied)}.")
        return
    now = cluster.clock.now()
    known = errors.of(missing, now)
    wanted = [topic for name, topic in missing.items() if name not in known]
    if wanted:
        request = CreateTopicsRequest(topics=_asked(wanted), timeout_ms=_TIMEOUT_MS)
        until = now + 2 * answer.heartbeat_interval_ms
        for topic in create_with_kraft(cluster, call, request).topics:
            if topic.error_code:
                errors.put(topic.name, topic.error_message or "", until)
    if not known:
        return
    listed = [f"{name} ({message})" for name, message in known.items()]
    more = len(listed) - _LISTED_MAX
    text = ", ".join(listed[:_LISTED_MAX]) + (f" and {more} more" if more > 0 else "")
    _add(answer, f"Creation failed: {text}.")


def _denied(cluster: Cluster, call: Call, names: Sequence[str]) -> list[str]:
    authorizer = cluster.authorizer
    if authorizer is None:
        return []
    who, host, create = call.principal, call.client_host, Operation.CREATE
    if authorizer.may(who, host, create, Kind.CLUSTER, CLUSTER_NAME):
        return []
    return [name for name in names if not authorizer.may(who, host, create, Kind.TOPIC, name)]


def _asked(topics: Sequence[InternalTopic]) -> list[CreateTopicsRequest.Topic]:
    asked = CreateTopicsRequest.Topic
    return [
        asked(
            name=topic.name,
            num_partitions=topic.partitions,
            replication_factor=topic.replication_factor or _DEFAULT,
            assignments=[],
            configs=[asked.Config(name=key, value=value) for key, value in topic.configs.items()],
        )
        for topic in topics
    ]


def _add(answer: StreamsGroupHeartbeatResponse, text: str) -> None:
    answer.status = [
        Status(status_code=each.status_code, status_detail=f"{each.status_detail}; {text}")
        if each.status_code == StatusCode.MISSING_INTERNAL_TOPICS
        else each
        for each in answer.status or ()
    ]
