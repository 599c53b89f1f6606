"""What the APIs about topics need (semantics M13, M14).

Who may do something to the cluster need not be allowed it on each topic: CREATE and DELETE.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any

from ...wire import NO_ID, Error
from ...wire.api.create_partitions import CreatePartitionsRequest
from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.delete_topics import DeleteTopicsRequest
from ...wire.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ...wire.api.metadata import MetadataRequest
from ..division.division import ITEM, Refusal
from ..division.entries import Entry
from ..division.places import TOPIC
from ..security.authorizer.acl import Kind, Operation
from .asking import ERRORS, MESSAGES, Authorization, PartlyDenied, Verdict, lacking
from .guard import authorize

_IDS_SINCE = 6
_CONFIGS_SINCE = 5
_METADATA_IDS_SINCE = 12
_TOPIC = ERRORS[Kind.TOPIC]
_CLUSTER_METADATA = "__cluster_metadata"


@authorize(MetadataRequest)
def metadata(asking: Authorization, request: MetadataRequest) -> Verdict:
    """Brokers are shown to anybody. "All topics" leaves out what may not be described."""
    asked = request.topics
    if asked is None or (asking.version == 0 and not asked):
        return PartlyDenied(request, _shown(asking, request, is_all=True))
    by_id = any(entry.topic_id != NO_ID for entry in asked)
    is_bad = by_id or any(entry.name is None for entry in asked)
    if is_bad and not (by_id and asking.version >= _METADATA_IDS_SINCE):
        return None  # the handler refuses it as a whole
    if by_id:
        request = copy(request)
        request.topics = [
            MetadataRequest.Topic(name=None, topic_id=entry.topic_id)
            for entry in asked
            if entry.topic_id != NO_ID
        ]
    refusal = Refusal(_TOPIC)

    def refuse(entry: Entry) -> Refusal | None:
        name = entry[TOPIC]
        return refusal if name is not None and _is_denied(asking, request, name) else None

    return asking.without(request, refuse, _shown(asking, request, is_all=False))


def _is_denied(asking: Authorization, request: MetadataRequest, name: str) -> bool:
    """Whether a topic may not be described, or not be created where it would be."""
    if not asking.may(Operation.DESCRIBE, Kind.TOPIC, name):
        return True
    creates = request.allow_auto_topic_creation and asking.cluster.config.get(
        "auto.create.topics.enable"
    )
    if not creates or asking.cluster.topics.get(name) is not None:
        return False
    if asking.may_in_cluster(Operation.CREATE, is_logged=False):
        return False
    return not asking.may(Operation.CREATE, Kind.TOPIC, name)


def _shown(asking: Authorization, request: MetadataRequest, *, is_all: bool) -> Any:
    def finish(own: Any) -> None:
        if is_all:
            own.topics = [t for t in own.topics if _is_shown(asking, t.name)]
        if request.include_topic_authorized_operations:
            for topic in own.topics:
                if topic.error_code != Error.UNKNOWN_TOPIC_ID:
                    topic.topic_authorized_operations = asking.bits(Kind.TOPIC, topic.name)
        if request.include_cluster_authorized_operations:
            own.cluster_authorized_operations = asking.cluster_bits()

    return finish


def _is_shown(asking: Authorization, name: str) -> bool:
    return asking.may(Operation.DESCRIBE, Kind.TOPIC, name, is_logged=False)


@authorize(DescribeTopicPartitionsRequest)
def describe_partitions(asking: Authorization, request: DescribeTopicPartitionsRequest) -> Verdict:
    """No topics mean all of those that may be described. Kafka sorts the topics, and leaves out
    those before the cursor, before it asks what may be described: so they are divided here."""
    if not request.topics:
        names = [topic.name for topic in asking.cluster.topics]
    else:
        names = [topic.name for topic in request.topics]
    start = request.cursor.topic_name if request.cursor else ""
    if request.cursor and (
        request.cursor.partition_index < 0 or (request.topics and start not in names)
    ):
        return None  # the handler refuses it
    is_logged = bool(request.topics)
    later = [name for name in names if name >= start]
    allowed = asking.allowed(Operation.DESCRIBE, Kind.TOPIC, later, is_logged=is_logged)
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


@authorize(CreateTopicsRequest)
def create_topics(asking: Authorization, request: CreateTopicsRequest) -> Verdict:
    """Names that are given twice are refused as such. Without DESCRIBE_CONFIGS a client does not
    learn what was made of its topic."""
    times = Counter(topic.name for topic in request.topics)
    names = [n for n, count in times.items() if count == 1 and n != _CLUSTER_METADATA]
    allowed = set(names)
    if not asking.may_in_cluster(Operation.CREATE, is_logged=False):
        allowed = asking.allowed(Operation.CREATE, Kind.TOPIC, names)
    shown = asking.allowed(Operation.DESCRIBE_CONFIGS, Kind.TOPIC, names, is_logged=False)

    refusal = Refusal(_TOPIC, "Authorization failed.")

    def refuse(entry: Entry) -> Refusal | None:
        return refusal if times[entry[TOPIC]] == 1 and entry[TOPIC] not in allowed else None

    def hide(own: Any) -> None:
        if asking.version >= _CONFIGS_SINCE:
            for topic in own.topics:
                if not topic.error_code and topic.name not in shown:
                    topic.topic_config_error_code = _TOPIC
                    topic.num_partitions = topic.replication_factor = -1
                    topic.configs = []

    return asking.without(request, refuse, hide)


@authorize(CreatePartitionsRequest)
def create_partitions(asking: Authorization, request: CreatePartitionsRequest) -> Verdict:
    """Names that are given twice are refused as such."""
    times = Counter(topic.name for topic in request.topics)
    lacks = lacking(asking, Operation.ALTER, Kind.TOPIC)
    return asking.without(request, lambda entry: lacks(entry) if times[entry[TOPIC]] == 1 else None)


@authorize(DeleteTopicsRequest)
def delete_topics(asking: Authorization, request: DeleteTopicsRequest) -> Verdict:
    """A name is sent only to who may describe the topic; a topic that is named in a way that is
    wrong anyway is left to the handler."""
    if not asking.cluster.config.get("delete.topic.enable") or request.timeout_ms <= 0:
        return None  # nothing is looked for
    if asking.may_in_cluster(Operation.DELETE, is_logged=False):
        return None
    times: Counter[tuple[str | None, bytes]] = Counter(
        ((name, NO_ID) for name in request.topic_names)
        if asking.version < _IDS_SINCE
        else ((topic.name, topic.topic_id) for topic in request.topics)
    )

    def refuse(entry: Entry) -> Refusal | None:
        topic = entry[ITEM]
        name, topic_id = (topic, NO_ID) if isinstance(topic, str) else (topic.name, topic.topic_id)
        if (name is None) == (topic_id == NO_ID) or times[name, topic_id] > 1:
            return None
        if name is not None:
            return _undeleted(asking, name)
        return _undeleted_by_id(asking, topic_id)

    return asking.without(request, refuse)


def _undeleted(asking: Authorization, name: str) -> Refusal | None:
    """Of a topic by its name; None where the handler may answer, also that it is not there."""
    if not asking.may(Operation.DESCRIBE, Kind.TOPIC, name):
        return _NOT_DELETED
    if asking.cluster.topics.get(name) is None or asking.may(Operation.DELETE, Kind.TOPIC, name):
        return None
    return _NOT_DELETED


def _undeleted_by_id(asking: Authorization, topic_id: bytes) -> Refusal | None:
    """The name is sent to who may describe the topic."""
    name = asking.topic_name(topic_id)
    if name is None or asking.may(Operation.DELETE, Kind.TOPIC, name):
        return None
    is_seen = asking.may(Operation.DESCRIBE, Kind.TOPIC, name, is_logged=False)
    return _NOT_DELETED._replace(also={"name": name}) if is_seen else _NOT_DELETED


_NOT_DELETED = Refusal(_TOPIC, MESSAGES[Kind.TOPIC])
