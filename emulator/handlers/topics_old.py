"""CreateTopics, DeleteTopics and CreatePartitions as controllers with ZooKeeper answer them, up to
2.8.

They judge a topic in another order than KRaft's, one by one, and write each by itself: with a
timeout of 0 or less what is asked for is done, and answered with REQUEST_TIMED_OUT. Brokers that
replicas are assigned to need not exist.

Not emulated: that an answer waits for partitions whose brokers do not exist. Partitions of a new
topic that are not numbered from 0 on are refused in all releases; those up to 2.0 take them.

Source: Kafka's AdminManager of 0.10.2 to 2.8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...wire import NO_ID, Error, Refused, random_id
from ...wire.api.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ...wire.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ...wire.api.delete_topics import DeleteTopicsResponse
from ..base.call import Call
from ..base.node import Registered
from ..config.configs import ConfigError, TopicConfig
from ..metadata.topic_rules import DEFAULT, check_name, places
from ..metadata.topics import NewPartitions, NewTopic
from .create_topics import add_topics, created, failed

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..partitions.partition import Topic

NO_PATHS = ("", ".", "..")
"""Names of topics under which ZooKeeper keeps nothing: looking for one there fails."""

Asked = CreateTopicsRequest.Topic
Created = CreateTopicsResponse.Topic
Deleted = DeleteTopicsResponse.Topic
Grown = CreatePartitionsResponse.Result


# CreateTopics


def has_nulls(request: CreateTopicsRequest) -> bool:
    """Whether there is a config without a value, which requests before 0.11 cannot have."""
    return any(each.value is None for topic in request.topics for each in topic.configs)


def create_old(cluster: Cluster, call: Call, request: CreateTopicsRequest) -> list[Created]:
    """Create topics; what each is answered."""
    times = Counter(topic.name for topic in request.topics)
    each_entry = cluster.release.looks_for_topics_first
    asked = request.topics if each_entry else {each.name: each for each in request.topics}.values()
    answers = []
    for topic in asked:
        try:
            if times[topic.name] > 1:
                message = "Found multiple entries for this topic."
                raise Refused(Error.INVALID_REQUEST, message)
            answers.append(_create(cluster, call, topic, request))
        except Refused as refused:
            answers.append(failed(topic.name, refused))
    return answers


def _create(cluster: Cluster, call: Call, topic: Asked, request: CreateTopicsRequest) -> Created:
    """Create one topic. Raises Refused."""
    plan = Planning(cluster, topic).plan()
    if not request.validate_only:
        if cluster.throttle is not None:
            cluster.throttle.mutate(call, len(plan.replicas))
        add_topics(cluster, call, [plan])
        if request.timeout_ms <= 0:
            late = failed(topic.name, Refused(Error.REQUEST_TIMED_OUT))
            late.topic_id = plan.id
            return late
    return created(plan, call.version, {})


class Planning:
    """A topic of CreateTopics that is judged."""

    def __init__(self, cluster: Cluster, asked: Asked) -> None:
        self._cluster, self._asked = cluster, asked
        self._replicas: list[list[int]] = []
        self._config: TopicConfig = cluster.config.plain_topic

    def plan(self) -> NewTopic:
        """The topic that may be created. Raises Refused."""
        release = self._cluster.release
        for check in _ORDERS[release.looks_for_topics_first, release.judges_configs_late]:
            check(self)
        active = self._brokers.active
        return NewTopic(self._asked.name, random_id(), self._config, self._replicas, active)

    @property
    def _brokers(self) -> Registered:
        return self._cluster.replication.registered()

    def _is_new(self) -> None:
        if self._cluster.topics.get(self._asked.name) is not None:
            message = f"Topic '{self._asked.name}' already exists."
            raise Refused(Error.TOPIC_ALREADY_EXISTS, message)

    def _has_values(self) -> None:
        nulls = [each.name for each in self._asked.configs if each.value is None]
        if nulls and self._cluster.release.names_null_configs:
            message = f"Null value not supported for topic configs : {','.join(nulls)}"
            raise Refused(Error.INVALID_REQUEST, message)
        if nulls:
            raise Refused(Error.UNKNOWN_SERVER_ERROR)

    def _has_replicas(self) -> None:
        asked = self._asked
        if not asked.assignments:
            self._replicas = self._placed()
            return
        if (asked.num_partitions, asked.replication_factor) != (DEFAULT, DEFAULT):
            message = (
                "Both numPartitions or replicationFactor and replicasAssignments were set. "
                "Both cannot be used at the same time."
            )
            raise Refused(Error.INVALID_REQUEST, message)
        by_index = {each.partition_index: list(each.broker_ids) for each in asked.assignments}
        self._replicas = [by_index[index] for index in sorted(by_index)]

    def _placed(self) -> list[list[int]]:
        count, factor = self._asked.num_partitions, self._asked.replication_factor
        config, brokers = self._cluster.config, self._brokers
        if self._cluster.release.looks_for_topics_first:  # KIP-464
            count = config.get("num.partitions") if count == DEFAULT else count
            factor = config.get("default.replication.factor") if factor == DEFAULT else factor
        if count <= 0:
            message = "Number of partitions must be larger than 0."
            raise Refused(Error.INVALID_PARTITIONS, message)
        if factor <= 0:
            message = "Replication factor must be larger than 0."
            raise Refused(Error.INVALID_REPLICATION_FACTOR, message)
        if factor > len(brokers.active):
            message = (
                f"Replication factor: {factor} larger than available brokers: "
                f"{len(brokers.active)}."
            )
            raise Refused(Error.INVALID_REPLICATION_FACTOR, message)
        return places(range(count), factor, brokers)

    def _has_good_name(self) -> None:
        check_name(self._asked.name)
        self._is_new()
        if colliding := self._cluster.topics.colliding(self._asked.name):
            message = (
                f"Topic '{self._asked.name}' collides with existing topics: {', '.join(colliding)}"
            )
            raise Refused(Error.INVALID_TOPIC_EXCEPTION, message)

    def _is_even(self) -> None:
        if len({len(each) for each in self._replicas}) != 1:
            raise _misplaced("All partitions should have the same number of replicas")
        if any(len({*each}) < len(each) for each in self._replicas):
            raise _misplaced("Duplicate replica assignment found")
        indexes = {each.partition_index for each in self._asked.assignments}
        if indexes and indexes != {*range(len(indexes))}:
            raise _misplaced("partitions should be a consecutive 0-based integer sequence")

    def _has_good_configs(self) -> None:
        # Of a config that is named twice the last one counts.
        texts = {each.name: each.value or "" for each in self._asked.configs}
        knows = self._cluster.release.looks_for_topics_first
        wrong_value = Error.INVALID_CONFIG if knows else Error.UNKNOWN_SERVER_ERROR
        self._config = judged(self._cluster, texts, wrong_value)


_Check = Callable[[Planning], None]
_ORDERS: dict[tuple[bool, bool], tuple[_Check, ...]] = {
    (True, True): (
        Planning._is_new,
        Planning._has_values,
        Planning._has_replicas,
        Planning._has_good_name,
        Planning._is_even,
        Planning._has_good_configs,
    ),
    (True, False): (
        Planning._is_new,
        Planning._has_values,
        Planning._has_good_configs,
        Planning._has_replicas,
        Planning._has_good_name,
        Planning._is_even,
    ),
    (False, False): (
        Planning._has_values,
        Planning._has_good_configs,
        Planning._has_replicas,
        Planning._has_good_name,
        Planning._is_even,
    ),
}
"""The checks of a topic in their order, by `looks_for_topics_first` and `judges_configs_late`."""


def judged(cluster: Cluster, texts: dict[str, str], wrong_value: Error) -> TopicConfig:
    """The configs of a topic that sets these. Raises Refused: INVALID_CONFIG for a name that there
    is not, and `wrong_value` for a value."""
    is_known = all(name in cluster.config.topic_definitions for name in texts)
    try:
        config = cluster.config.topic(texts)
        if texts:
            config.check()
    except ConfigError as error:
        code = wrong_value if is_known else Error.INVALID_CONFIG
        raise Refused(code, str(error)) from None
    return config


def _misplaced(message: str) -> Refused:
    return Refused(Error.INVALID_REPLICA_ASSIGNMENT, message)


# DeleteTopics


def delete_old(
    cluster: Cluster, call: Call, asked: Sequence[tuple[str | None, bytes]], timeout_ms: int
) -> list[Deleted]:
    """Delete topics, each by its name or its id (16 bytes); what each is answered. Raises Refused
    where a topic has both."""
    if any(name is not None and topic_id != NO_ID for name, topic_id in asked):
        raise Refused(Error.INVALID_REQUEST)
    if not cluster.release.looks_for_topics_first:
        asked = list(dict.fromkeys(asked))
    found = [_named(cluster, name, topic_id) for name, topic_id in asked]
    answers = []
    for (name, topic_id), topic in zip(asked, found, strict=True):
        answers.append(Deleted(name=name, topic_id=topic_id, error_message=None))
        if topic is None:
            answers[-1].error_code = _missing(name, topic_id)
            continue
        answers[-1].name = topic.name
        if cluster.topics.by_id(topic.id) is not None:  # it is not named a second time
            _delete(cluster, call, topic, answers[-1], is_late=timeout_ms <= 0)
    return answers


def _missing(name: str | None, topic_id: bytes) -> Error:
    """Who may delete a topic is looked at first: nobody may delete one that is not named."""
    if name is not None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return Error.TOPIC_AUTHORIZATION_FAILED if topic_id == NO_ID else Error.UNKNOWN_TOPIC_ID


def _named(cluster: Cluster, name: str | None, topic_id: bytes) -> Topic | None:
    return cluster.topics.by_id(topic_id) if name is None else cluster.topics.get(name)


def _delete(cluster: Cluster, call: Call, topic: Topic, answer: Deleted, *, is_late: bool) -> None:
    try:
        if cluster.throttle is not None:
            cluster.throttle.mutate(call, len(topic.partitions))
        cluster.topics.delete(topic)
    except Refused as refused:
        answer.error_code = refused.error
    else:
        answer.error_code = Error.REQUEST_TIMED_OUT if is_late else Error.NONE


# CreatePartitions


def grow_old(cluster: Cluster, call: Call, request: CreatePartitionsRequest) -> list[Grown]:
    """Add partitions to topics; what each is answered."""
    times = Counter(topic.name for topic in request.topics)
    if any(times[name] == 1 for name in NO_PATHS):
        error = Error.UNKNOWN_SERVER_ERROR
        names = [topic.name for topic in request.topics]
        if not cluster.release.keeps_unknown_resources:
            names = list(times)
        return [Grown(name=name, error_code=error, error_message=None) for name in names]
    answers = []
    for asked in {topic.name: topic for topic in request.topics}.values():
        answers.append(Grown(name=asked.name, error_message=None))
        try:
            if times[asked.name] > 1:
                raise Refused(Error.INVALID_REQUEST, "Duplicate topic in request.")
            plan = _growth(cluster, asked)
            if not request.validate_only:
                if cluster.throttle is not None:
                    cluster.throttle.mutate(call, len(plan.replicas))
                cluster.metadata.append(plan.records())
                if request.timeout_ms <= 0:
                    raise Refused(Error.REQUEST_TIMED_OUT)
        except Refused as refused:
            answers[-1].error_code, answers[-1].error_message = refused.error, refused.message
    return answers


def _growth(cluster: Cluster, asked: CreatePartitionsRequest.Topic) -> NewPartitions:
    """The partitions that are to be added. Raises Refused."""
    topic = cluster.topics.get(asked.name)
    if topic is None:
        message = f"The topic '{asked.name}' does not exist."
        raise Refused(Error.UNKNOWN_TOPIC_OR_PARTITION, message)
    if asked.assignments is not None and asked.count > len(topic.partitions):
        known = cluster.replication.registered().racks
        named = [each for one in asked.assignments for each in one.broker_ids]
        if any(each not in known for each in named):
            raise _misplaced("Unknown broker(s) in replica assignment")
    assignments = None
    if asked.assignments is not None:
        assignments = [each.broker_ids for each in asked.assignments]
    return cluster.topics.plan_partitions(topic, asked.count, assignments)
