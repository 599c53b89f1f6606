"""CreateTopics (19): make topics, by number of partitions or by given replicas.

Every topic is judged by itself and against those that existed before the request, so two names of
one request may collide (semantics I1). Only as a whole a request is refused for its timeout (0 or
less: the emulator, like the controller, then has had no time), and for its size.

Not emulated: a policy class; the timeout beyond that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...wire import Error, Refused
from ...wire.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ..base.call import NO_REPLY, Call, Sentinel, principal_details
from ..config.rows import describe_created_topic
from ..metadata.topic_rules import DEFAULT, LARGEST_REQUEST, check_request_size
from ..metadata.topics import check_new_name, null_configs
from .registry import handler

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..config.configs import TopicConfig
    from ..metadata.topics import NewTopic

Asked = CreateTopicsRequest.Topic
Answer = CreateTopicsResponse.Topic

_CONFIGS_SINCE = 5


@handler(CreateTopicsRequest)
def create_topics(
    cluster: Cluster, call: Call, request: CreateTopicsRequest
) -> CreateTopicsResponse | Sentinel:
    if not cluster.release.has_kraft:
        from .topics_old import create_old, has_nulls

        if not cluster.release.takes_null_configs and has_nulls(request):
            call.close()
            return NO_REPLY
        return CreateTopicsResponse(topics=create_old(cluster, call, request))
    return create_with_kraft(cluster, call, request)


def create_with_kraft(
    cluster: Cluster, call: Call, request: CreateTopicsRequest
) -> CreateTopicsResponse:
    """What a controller of KRaft does, and answers."""
    try:
        return CreateTopicsResponse(topics=_create(cluster, call, request))
    except Refused as refused:  # all of them
        return CreateTopicsResponse(topics=[failed(t.name, refused) for t in request.topics])


def _create(cluster: Cluster, call: Call, request: CreateTopicsRequest) -> list[Answer]:
    times = Counter(topic.name for topic in request.topics)
    single = [topic for topic in request.topics if times[topic.name] == 1]
    if request.timeout_ms <= 0 and single:
        raise Refused(Error.REQUEST_TIMED_OUT)
    check_request_size(sum(_partitions(cluster, topic) for topic in single))
    twice = Refused(Error.INVALID_REQUEST, "Duplicate topic name.")
    answers = {name: failed(name, twice) for name, count in times.items() if count > 1}
    plans = []
    for topic in single:
        try:
            plan = _plan(cluster, topic)
            if cluster.throttle is not None:
                cluster.throttle.mutate(call, len(plan.replicas))
            plans.append(plan)
        except Refused as refused:
            answers[topic.name] = failed(topic.name, refused)
    if sum(len(plan.records()) for plan in plans) > LARGEST_REQUEST:
        message = "Unable to perform excessively large batch operation."
        raise Refused(Error.POLICY_VIOLATION, message)
    answers.update(_carry_out(cluster, call, plans, request.validate_only))
    return [answers[name] for name in times]


def _partitions(cluster: Cluster, topic: Asked) -> int:
    if topic.assignments:
        return len(topic.assignments)
    if topic.num_partitions == DEFAULT:
        count: int = cluster.config.get("num.partitions")
        return count
    return topic.num_partitions


def _plan(cluster: Cluster, topic: Asked) -> NewTopic:
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        check_new_name(topic.name, cluster.topics)
        raise null_configs(nulls)
    return cluster.topics.plan(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        # Of a config that is named twice the last one counts.
        configs={config.name: config.value for config in topic.configs},
        assignments=[(each.partition_index, each.broker_ids) for each in topic.assignments],
    )


def _carry_out(
    cluster: Cluster, call: Call, plans: list[NewTopic], validate_only: bool
) -> Iterator[tuple[str, Answer]]:
    """Create the topics, all or none of them; yield their answers by name."""
    if plans and not validate_only:
        try:
            add_topics(cluster, call, plans)
        except Refused as refused:
            yield from ((plan.name, failed(plan.name, refused)) for plan in plans)
            return
    shown: dict[TopicConfig, list[Answer.Config]] = {}
    for plan in plans:
        yield plan.name, created(plan, call.version, shown)


def add_topics(cluster: Cluster, call: Call, plans: list[NewTopic]) -> None:
    """Create all of these or, Refused being raised, none of them."""
    cluster.topics.add_all(plans)
    who = principal_details(call.principal)
    made = [(plan.name, {"partitions": len(plan.replicas)} | who) for plan in plans]
    cluster.journal.several("topic created", call.connection.name, made)


def created(plan: NewTopic, version: int, shown: dict[TopicConfig, list[Answer.Config]]) -> Answer:
    """The answer for a topic that was created; `shown` has the configs that were made before."""
    configs: list[Answer.Config] = []
    if version >= _CONFIGS_SINCE:
        if plan.config not in shown:  # thousands of topics may share theirs
            shown[plan.config] = _configs(plan.config)
        configs = shown[plan.config]
    return Answer(
        name=plan.name,
        topic_id=plan.id,
        error_message=None,
        num_partitions=len(plan.replicas),
        replication_factor=len(plan.replicas[0]),
        configs=configs,
    )


def _configs(config: TopicConfig) -> list[Answer.Config]:
    return [
        Answer.Config(
            name=row.name,
            value=row.value,
            read_only=row.is_read_only,
            config_source=row.source,
            is_sensitive=row.is_sensitive,
        )
        for row in describe_created_topic(config)
    ]


def failed(name: str, refused: Refused) -> Answer:
    """The answer for a topic that was not created."""
    return Answer(name=name, error_code=refused.error, error_message=refused.message, configs=[])
