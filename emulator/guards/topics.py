"""What the APIs about topics need (semantics M13, M14).

Who may do something to the cluster need not be allowed it on each topic: CREATE and DELETE.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...wire import NO_ID, Error
from ...wire.api.create_partitions import CreatePartitionsRequest
from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ...wire.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ...wire.api.metadata import MetadataRequest, MetadataResponse
from ..control.rules.entries import Entry
from ..control.rules.places import TOPIC
from ..security.authorizer.acl import Kind, Operation
from .asking import ERRORS, MESSAGES, Authorization, PartlyDenied, Verdict, lacking
from .guard import guards

_IDS_SINCE = 6
_CONFIGS_SINCE = 5
_METADATA_IDS_SINCE = 12
_TOPIC = ERRORS[Kind.TOPIC]
_CLUSTER_METADATA = "__cluster_metadata"


@guards(MetadataRequest)
def metadata(asking: Authorization, request: MetadataRequest) -> Verdict:
    """Brokers are shown to anybody. "All topics" leaves out what may not be described."""
    asked = request.topics
    if asked is None or (asking.version == 0 and not asked):
        return PartlyDenied(request, _shown(asking, request, None))
    by_id = any(entry.topic_id != NO_ID for entry in asked)
    is_bad = by_id or any(entry.name is None for entry in asked)
    if is_bad and not (by_id and asking.version >= _METADATA_IDS_SINCE):
        return None  # the handler refuses it as a whole
    allowed: list[Any] = []
    answers: list[Any] = []
    known: set[str] = set()
    for entry in asked:
        name = asking.topic_name(entry.topic_id) if by_id else entry.name
        if by_id and entry.topic_id == NO_ID:
            continue
        if name is None or not _is_denied(asking, request, name):
            allowed.append(entry)
        elif name not in known:
            known.add(name)
            answers.append(_denied(name, entry.topic_id if by_id else None))
    narrowed = MetadataRequest(
        topics=allowed,
        allow_auto_topic_creation=request.allow_auto_topic_creation,
        include_cluster_authorized_operations=request.include_cluster_authorized_operations,
        include_topic_authorized_operations=request.include_topic_authorized_operations,
    )
    if not allowed and asking.version == 0:  # where an empty list asks for all
        return PartlyDenied(request, _shown(asking, request, answers, is_empty=True))
    return PartlyDenied(narrowed, _shown(asking, request, answers))


def _is_denied(asking: Authorization, request: MetadataRequest, name: str) -> bool:
    """Whether a topic may not be described, or not be created where it would be."""
    if not asking.may(Operation.DESCRIBE, Kind.TOPIC, name):
        return True
    creates = request.allow_auto_topic_creation and asking.cluster.config.get(
        "auto.create.topics.enable"
    )
    if not creates or asking.cluster.topics.get(name) is not None:
        return False
    if asking.may_in_cluster(Operation.CREATE, is_told=False):
        return False
    return not asking.may(Operation.CREATE, Kind.TOPIC, name)


def _denied(name: str, topic_id: bytes | None) -> Any:
    if topic_id is not None:
        return MetadataResponse.Topic(
            error_code=_TOPIC, name=None, topic_id=topic_id, partitions=[]
        )
    return MetadataResponse.Topic(error_code=_TOPIC, name=name, partitions=[])


def _shown(
    asking: Authorization,
    request: MetadataRequest,
    answers: list[Any] | None,
    *,
    is_empty: bool = False,
) -> Any:
    """`answers` are those for what is denied; None if all topics are asked for."""

    def finish(own: Any) -> None:
        if is_empty:
            own.topics = []
        if answers is None:
            own.topics = [t for t in own.topics if _is_shown(asking, t.name)]
        if request.include_topic_authorized_operations:
            for topic in own.topics:
                if topic.error_code != Error.UNKNOWN_TOPIC_ID:
                    topic.topic_authorized_operations = asking.bits(Kind.TOPIC, topic.name)
        if request.include_cluster_authorized_operations:
            own.cluster_authorized_operations = asking.cluster_bits()
        own.topics += answers or []

    return finish


def _is_shown(asking: Authorization, name: str) -> bool:
    return asking.may(Operation.DESCRIBE, Kind.TOPIC, name, is_told=False)


@guards(DescribeTopicPartitionsRequest)
def describe_partitions(asking: Authorization, request: DescribeTopicPartitionsRequest) -> Verdict:
    """No topics mean all of those that may be described."""
    if not request.topics:
        names = [topic.name for topic in asking.cluster.topics]
    else:
        names = [topic.name for topic in request.topics]
    start = request.cursor.topic_name if request.cursor else ""
    if request.cursor and (
        request.cursor.partition_index < 0 or (request.topics and start not in names)
    ):
        return None  # the handler refuses it
    is_told = bool(request.topics)
    later = [name for name in names if name >= start]
    allowed = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, later, is_told=is_told)
    denied = sorted(set(later) - allowed) if request.topics else []
    answers = [
        DescribeTopicPartitionsResponse.Topic(
            error_code=_TOPIC, name=name, topic_id=NO_ID, partitions=[]
        )
        for name in denied
    ]
    kept = [DescribeTopicPartitionsRequest.Topic(name=n) for n in sorted(allowed)]
    cursor = request.cursor if start in allowed else None
    narrowed = DescribeTopicPartitionsRequest(
        topics=kept, response_partition_limit=request.response_partition_limit, cursor=cursor
    )

    def finish(own: Any) -> None:
        for topic in own.topics:
            topic.topic_authorized_operations = asking.bits(Kind.TOPIC, topic.name)
        own.topics += answers

    return PartlyDenied(narrowed if kept else None, finish)


@guards(CreateTopicsRequest)
def create_topics(asking: Authorization, request: CreateTopicsRequest) -> Verdict:
    """Names that are given twice are refused as such. Without DESCRIBE_CONFIGS a client is not told
    what was made of its topic."""
    times = Counter(topic.name for topic in request.topics)
    names = [n for n, count in times.items() if count == 1 and n != _CLUSTER_METADATA]
    allowed = set(names)
    if not asking.may_in_cluster(Operation.CREATE, is_told=False):
        allowed = asking.allowed(Operation.CREATE, Kind.TOPIC, names)
    shown = asking.allowed(Operation.DESCRIBE_CONFIGS, Kind.TOPIC, names, is_told=False)

    def is_denied(entry: Entry) -> bool:
        return times[entry[TOPIC]] == 1 and entry[TOPIC] not in allowed

    refused = asking.without(request, is_denied, 1, _TOPIC, "Authorization failed.")

    def finish(own: Any) -> None:
        if asking.version >= _CONFIGS_SINCE:
            for topic in own.topics:
                if not topic.error_code and topic.name not in shown:
                    topic.topic_config_error_code = _TOPIC
                    topic.num_partitions = topic.replication_factor = -1
                    topic.configs = []
        if refused is not None:
            refused.finish(own)

    return PartlyDenied(request if refused is None else refused.request, finish)


@guards(CreatePartitionsRequest)
def create_partitions(asking: Authorization, request: CreatePartitionsRequest) -> Verdict:
    """Names that are given twice are refused as such."""
    times = Counter(topic.name for topic in request.topics)
    lacks = lacking(asking, Operation.ALTER, Kind.TOPIC)

    def is_denied(entry: Entry) -> bool:
        return times[entry[TOPIC]] == 1 and lacks(entry)

    return asking.without(request, is_denied, 1, _TOPIC)


@guards(DeleteTopicsRequest)
def delete_topics(asking: Authorization, request: DeleteTopicsRequest) -> Verdict:
    """A name is told only to who may describe the topic; a topic that is named in a way that is
    wrong anyway is left to the handler."""
    if not asking.cluster.config.get("delete.topic.enable") or request.timeout_ms <= 0:
        return None  # nothing is looked for
    if asking.may_in_cluster(Operation.DELETE, is_told=False):
        return None
    if asking.version < _IDS_SINCE:
        return _delete_by_name(asking, request)
    times = Counter((topic.name, topic.topic_id) for topic in request.topics)
    kept: list[Any] = []
    answers: list[Any] = []
    for topic in request.topics:
        name, topic_id = topic.name, topic.topic_id
        is_odd = (name is None) == (topic_id == NO_ID) or times[name, topic_id] > 1
        found = asking.topic_name(topic_id) if name is None else name
        if is_odd or found is None:
            kept.append(topic)
        elif name is None:
            if asking.may(Operation.DELETE, Kind.TOPIC, found):
                kept.append(topic)
            else:
                is_seen = asking.may(Operation.DESCRIBE, Kind.TOPIC, found, is_told=False)
                answers.append(_not_deleted(found if is_seen else None, topic_id))
        elif (answer := _refusal(asking, found)) is None:
            kept.append(topic)
        else:
            answers.append(answer)
    return _deleted(asking, request, kept, answers)


def _delete_by_name(asking: Authorization, request: DeleteTopicsRequest) -> Verdict:
    times = Counter(request.topic_names)
    kept: list[Any] = []
    answers: list[Any] = []
    for name in request.topic_names:
        answer = _refusal(asking, name) if times[name] == 1 else None
        if answer is None:
            kept.append(name)
        else:
            answers.append(answer)
    return _deleted(asking, request, kept, answers)


def _refusal(asking: Authorization, name: str) -> Any:
    """Of a topic by its name; None where the handler may answer, also that it is not there."""
    if not asking.may(Operation.DESCRIBE, Kind.TOPIC, name):
        return _not_deleted(name, NO_ID)
    if asking.cluster.topics.get(name) is None:
        return None
    if not asking.may(Operation.DELETE, Kind.TOPIC, name):
        return _not_deleted(name, NO_ID)
    return None


def _not_deleted(name: str | None, topic_id: bytes) -> Any:
    return DeleteTopicsResponse.Topic(
        name=name, topic_id=topic_id, error_code=_TOPIC, error_message=MESSAGES[Kind.TOPIC]
    )


def _deleted(
    asking: Authorization, request: DeleteTopicsRequest, kept: list[Any], answers: list[Any]
) -> Verdict:
    if not answers:
        return None
    by_id = asking.version >= _IDS_SINCE
    narrowed = DeleteTopicsRequest(timeout_ms=request.timeout_ms)
    if by_id:
        narrowed.topics = kept
    else:
        narrowed.topic_names = kept

    def finish(own: Any) -> None:
        own.responses += answers

    return PartlyDenied(narrowed if kept else None, finish)
