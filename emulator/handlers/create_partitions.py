"""CreatePartitions (37): add partitions to topics that exist.

A topic that is named twice is answered once and left as it is (semantics I4). New partitions are
led as those of a new topic would be; records stay where they are.

Not emulated: quotas on creation; a timeout other than 0 or less, which refuses everything.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ..base.call import Call, principal_details
from ..metadata.topic_rules import LARGEST_REQUEST
from .one_change import write_together
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..metadata.topics import NewPartitions

Asked = CreatePartitionsRequest.Topic
Answer = CreatePartitionsResponse.Result


@handler(CreatePartitionsRequest)
def create_partitions(
    cluster: Cluster, call: Call, request: CreatePartitionsRequest
) -> CreatePartitionsResponse:
    if not cluster.release.has_kraft:
        from .topics_old import grow_old

        results = grow_old(cluster, call, request)
        if not request.validate_only:
            done = (Error.NONE, Error.REQUEST_TIMED_OUT)
            _tell(cluster, call, [each.name for each in results if each.error_code in done])
        return CreatePartitionsResponse(results=results)
    times = Counter(topic.name for topic in request.topics)
    if request.timeout_ms <= 0 and 1 in times.values():  # something is to be done, but no time
        late = Error.REQUEST_TIMED_OUT
        return CreatePartitionsResponse(
            results=[Answer(name=topic.name, error_code=late) for topic in request.topics]
        )
    results = []
    planned = []
    left = LARGEST_REQUEST
    for topic in {topic.name: topic for topic in request.topics}.values():
        try:
            if times[topic.name] > 1:
                raise Refused(Error.INVALID_REQUEST, "Duplicate topic name.")
            plan = _plan(cluster, topic, left)
            if cluster.throttle is not None:
                cluster.throttle.mutate(call, len(plan.replicas))
            left -= len(plan.replicas)
            results.append(Answer(name=topic.name))
            planned.append((results[-1], plan.records()))
        except Refused as refused:
            results.append(
                Answer(name=topic.name, error_code=refused.error, error_message=refused.message)
            )
    if not request.validate_only:
        write_together(cluster, planned)
        _tell(cluster, call, [answer.name for answer, _ in planned if not answer.error_code])
    return CreatePartitionsResponse(results=results)


def _tell(cluster: Cluster, call: Call, names: list[str]) -> None:
    for name in names:
        details = {"partitions": len(cluster.topic(name).partitions)} | principal_details(
            call.principal
        )
        client = call.connection.name
        cluster.journal.add("partitions added", client=client, topic=name, details=details)


def _plan(cluster: Cluster, asked: Asked, left: int) -> NewPartitions:
    """Judge the partitions to be added, no more than `left`. Raises Refused."""
    topic = cluster.topic(asked.name)
    assignments = None
    if asked.assignments is not None:
        assignments = [each.broker_ids for each in asked.assignments]
    elif asked.count - len(topic.partitions) > left:
        raise Refused(Error.UNKNOWN_SERVER_ERROR)
    return cluster.topics.plan_partitions(topic, asked.count, assignments)
