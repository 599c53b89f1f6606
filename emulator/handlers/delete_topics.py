"""DeleteTopics (20): delete topics by name, or by id from v6 on.

The logs are gone when the answer is given, their directories renamed; as with a real broker they
are removed a minute later. A topic that is named twice, by name or id, is answered once and not
deleted (semantics I3).

Not emulated: a timeout other than 0 or less, which refuses everything.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ...wire import NO_ID, Error, Refused
from ...wire.api.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ...wire.stored.cluster import RemoveTopicRecord
from ..base.call import Call, principal_details
from .one_change import write_together
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Topic

Answer = DeleteTopicsResponse.Topic

_IDS_SINCE = 6
_DISABLED_SINCE = 3

UNKNOWN_NAME = "This server does not host this topic-partition."
UNKNOWN_ID = "This server does not host this topic ID."


class Asked(NamedTuple):
    """A topic to be deleted: by name, or by id with a name of None."""

    name: str | None
    topic_id: bytes


@handler(DeleteTopicsRequest)
def delete_topics(
    cluster: Cluster, call: Call, request: DeleteTopicsRequest
) -> DeleteTopicsResponse:
    if call.version >= _IDS_SINCE:
        asked = [Asked(topic.name, topic.topic_id) for topic in request.topics]
    else:
        asked = [Asked(name, NO_ID) for name in request.topic_names]
    if not cluster.config.get("delete.topic.enable"):
        known_code = call.version >= _DISABLED_SINCE
        refused = Refused(Error.TOPIC_DELETION_DISABLED if known_code else Error.INVALID_REQUEST)
        answers = [_failed(each, refused) for each in asked]
        if not cluster.release.refuses_disabled_deletion:
            answers = [_marked(cluster, each) for each in dict.fromkeys(asked)]
    else:
        if cluster.release.has_kraft:
            answers = _delete(cluster, call, asked, is_late=request.timeout_ms <= 0)
        else:
            answers = _delete_old(cluster, call, asked, request.timeout_ms)
        who = principal_details(call.principal)
        deleted: list[tuple[str, dict[str, Any]]] = [
            (answer.name or "", who) for answer in answers if not answer.error_code
        ]
        cluster.journal.several("topic deleted", call.connection.name, deleted)
    return DeleteTopicsResponse(responses=answers)


def _delete(cluster: Cluster, call: Call, asked: list[Asked], is_late: bool) -> list[Answer]:
    wrong = {each: problem for each in asked if (problem := _problem(each)) is not None}
    times = Counter(each for each in asked if each not in wrong) if wrong else Counter(asked)
    if is_late and 1 in times.values():  # there is something to look for, and no time
        return [_failed(each, Refused(Error.REQUEST_TIMED_OUT)) for each in asked]
    answers = [
        _failed(each, Refused(Error.INVALID_REQUEST, wrong[each]))
        for each in asked
        if each in wrong
    ]
    planned = []
    for each, count in times.items():
        try:
            if count > 1:
                what = "id" if each.name is None else "name"
                raise Refused(Error.INVALID_REQUEST, f"Duplicate topic {what}.")
            topic = _find(cluster, each)
        except Refused as refused:
            answers.append(_failed(each, refused))
            continue
        if each.name is None:
            is_twice = Asked(topic.name, NO_ID) in times
        else:
            is_twice = Asked(None, topic.id) in times
        if not is_twice:
            try:
                if cluster.throttle is not None:
                    cluster.throttle.mutate(call, len(topic.partitions))
            except Refused as refused:
                both = Asked(topic.name, topic.id)
                answers.append(_failed(both, refused))
                continue
            answers.append(Answer(name=topic.name, topic_id=topic.id))
            planned.append((answers[-1], [RemoveTopicRecord(topic_id=topic.id)]))
        elif each.name is not None:
            message = "The provided topic name maps to an ID that was already supplied."
            both = Asked(topic.name, topic.id)
            answers.append(_failed(both, Refused(Error.INVALID_REQUEST, message)))
    write_together(cluster, planned)
    return answers


def _marked(cluster: Cluster, asked: Asked) -> Answer:
    """What a broker before 1.0 answers where topics are not deleted: it marks them, and waits."""
    is_known = asked.name is not None and cluster.topics.get(asked.name) is not None
    error = Error.REQUEST_TIMED_OUT if is_known else Error.UNKNOWN_TOPIC_OR_PARTITION
    return _failed(asked, Refused(error))


def _delete_old(cluster: Cluster, call: Call, asked: list[Asked], timeout_ms: int) -> list[Answer]:
    from .topics_old import delete_old

    try:
        return delete_old(cluster, call, asked, timeout_ms)
    except Refused as refused:
        return [_failed(each, refused) for each in asked]


def _problem(asked: Asked) -> str | None:
    if asked.name is None and asked.topic_id == NO_ID:
        return "Neither topic name nor id were specified."
    if asked.name is not None and asked.topic_id != NO_ID:
        return "You may not specify both topic name and topic id."
    return None


def _find(cluster: Cluster, asked: Asked) -> Topic:
    if asked.name is None:
        topic = cluster.topics.by_id(asked.topic_id)
        if topic is None:
            raise Refused(Error.UNKNOWN_TOPIC_ID, UNKNOWN_ID)
        return topic
    topic = cluster.topics.get(asked.name)
    if topic is None:
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_NAME)
    return topic


def _failed(asked: Asked, refused: Refused) -> Answer:
    return Answer(
        name=asked.name,
        topic_id=asked.topic_id,
        error_code=refused.error,
        error_message=refused.message,
    )
