"""CreateTopics, semantics I1, as tables: what is asked, and the error and sentence it gets."""

from __future__ import annotations

from typing import Any

import pytest
from odradek.emulator.cluster import Cluster
from odradek.wire import NO_ID, Error
from odradek.wire.api.create_topics import CreateTopicsRequest, CreateTopicsResponse

from tests.support.cluster import Client
from tests.support.versions import first_and_last

Topic = CreateTopicsRequest.Topic
Answer = CreateTopicsResponse.Topic

ILLEGAL = "contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
TWICE = (Error.INVALID_REQUEST, "Duplicate topic name.")
BY_HAND = "A manual partition assignment was specified, but"
PLACED = "The manual partition assignment includes"
TOO_MANY = (Error.POLICY_VIOLATION, "Excessively large number of partitions per request.")
TOO_LARGE = (Error.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def asked(
    name: str = "t",
    partitions: int = 1,
    factor: int = 1,
    configs: dict[str, str | None] | list[tuple[str, str | None]] | None = None,
    assignments: list[tuple[int, list[int]]] | None = None,
) -> Topic:
    pairs = configs.items() if isinstance(configs, dict) else configs or []
    return Topic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[
            Topic.Assignment(partition_index=index, broker_ids=brokers)
            for index, brokers in assignments or []
        ],
        configs=[Topic.Config(name=key, value=value) for key, value in pairs],
    )


def assigned(*assignments: tuple[int, list[int]]) -> Topic:
    return asked(partitions=-1, factor=-1, assignments=list(assignments))


def create(client: Client, *topics: Topic, version: int = 7, **more: Any) -> list[Answer]:
    answer = client.ask(CreateTopicsRequest(topics=list(topics), **more), version)
    found: list[Answer] = answer.topics
    return found


def outcome(answer: Answer) -> tuple[Error, str | None]:
    return Error(answer.error_code), answer.error_message


@pytest.fixture(autouse=True)
def _existing(cluster: Cluster) -> None:
    cluster.topics.create("there")
    cluster.topics.create("with.dot")


@pytest.mark.parametrize(
    ("topic", "error", "message"),
    [
        (asked(""), 17, "Topic name is invalid: the empty string is not allowed"),
        (asked("."), 17, "Topic name is invalid: '.' is not allowed"),
        (asked(".."), 17, "Topic name is invalid: '..' is not allowed"),
        (asked("a b"), 17, f"Topic name is invalid: 'a b' {ILLEGAL}"),
        (asked("ü"), 17, f"Topic name is invalid: 'ü' {ILLEGAL}"),
        (asked("with_dot"), 17, "Topic 'with_dot' collides with existing topic: with.dot"),
        (asked("there"), 36, "Topic 'there' already exists."),
        (asked("with.dot"), 36, "Topic 'with.dot' already exists."),
        (
            asked("__cluster_metadata"),
            42,
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
        (asked(configs={"nosuch": "1"}), 40, "Unknown topic config name: nosuch"),
        (
            asked(configs={"retention.ms": "x"}),
            40,
            "Invalid value x for configuration retention.ms: Not a number of type LONG",
        ),
        (
            asked(configs={"retention.ms": None}),
            40,
            "Null value not supported for topic configs: retention.ms",
        ),
        (asked(configs={"nosuch": None}), 40, "Null value not supported for topic configs: nosuch"),
        (
            asked(factor=1, partitions=-1, assignments=[(0, [1])]),
            42,
            f"{BY_HAND} replication factor was not set to -1.",
        ),
        (
            asked(factor=-1, partitions=1, assignments=[(0, [1])]),
            42,
            f"{BY_HAND} numPartitions was not set to -1.",
        ),
        (assigned((0, [])), 39, f"{PLACED} an empty replica list."),
        (assigned((0, [9, 9])), 39, f"{PLACED} broker 9, but no such broker is registered."),
        (assigned((0, [1, 1])), 39, f"{PLACED} the broker 1 more than once."),
        (
            assigned((0, [1]), (0, [1])),
            39,
            "Found multiple manual partition assignments for partition 0",
        ),
        (assigned((1, [1])), 39, "partitions should be a consecutive 0-based integer sequence"),
        (
            asked(factor=0, partitions=0),
            38,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            asked(partitions=0, factor=2),
            37,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            asked(partitions=-2),
            37,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            asked(factor=2),
            38,
            "Unable to replicate the partition 2 time(s): The target replication factor of 2 "
            "cannot be reached because only 1 broker(s) are registered or some brokers have all "
            "their log directories cordoned.",
        ),
    ],
)
def test_a_topic_is_refused_with_error_and_sentence(
    client: Client, cluster: Cluster, topic: Topic, error: int, message: str
) -> None:
    names = [topic.name for topic in cluster.topics]

    (answer,) = create(client, topic)

    assert outcome(answer) == (error, message)
    assert (answer.num_partitions, answer.replication_factor) == (-1, -1)
    assert (answer.topic_id, answer.configs) == (NO_ID, [])
    assert [topic.name for topic in cluster.topics] == names


def test_a_name_may_have_249_characters(client: Client) -> None:
    (fits,) = create(client, asked("a" * 249))
    (does_not,) = create(client, asked("a" * 250))
    assert fits.error_code == 0
    assert does_not.error_code == Error.INVALID_TOPIC_EXCEPTION
    assert str(does_not.error_message).endswith("is longer than the max allowed length 249")


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        (asked("a b", 0, 0, {"x": "y"}), Error.INVALID_TOPIC_EXCEPTION),
        (asked("there", 0, 0, {"x": "y"}), Error.TOPIC_ALREADY_EXISTS),
        (asked("new", 5, 5, {"x": "y"}, [(3, [4])]), Error.INVALID_CONFIG),
        (asked("new", 0, 0, None, [(3, [4])]), Error.INVALID_REQUEST),
    ],
)
def test_the_first_of_several_problems_is_named(client: Client, topic: Topic, error: Error) -> None:
    assert create(client, topic)[0].error_code == error


def test_a_created_topic_is_there_with_what_was_asked(client: Client, cluster: Cluster) -> None:
    (answer,) = create(client, asked("t", 3, 1, {"cleanup.policy": "compact"}))

    topic = cluster.topic("t")
    assert outcome(answer) == (Error.NONE, None)
    assert (answer.topic_id, answer.num_partitions, answer.replication_factor) == (topic.id, 3, 1)
    assert len(topic.partitions) == 3
    assert topic.config.is_compacted


def test_minus_one_means_the_brokers_default(client: Client, cluster: Cluster) -> None:
    cluster.config = type(cluster.config)({"num.partitions": "4"})
    (answer,) = create(client, asked("t", -1, -1))
    assert (answer.num_partitions, answer.replication_factor) == (4, 1)


def test_of_a_config_named_twice_the_last_counts(client: Client, cluster: Cluster) -> None:
    create(client, asked("t", configs=[("retention.ms", "1"), ("retention.ms", "2")]))
    assert cluster.topic("t").config.get("retention.ms") == 2


def test_all_33_configs_come_back_raw_and_with_their_source(client: Client) -> None:
    configs: dict[str, str | None] = {"retention.ms": " 05 ", "cleanup.policy": "compact , delete"}
    (answer,) = create(client, asked("t", configs=configs))

    found = {config.name: (config.value, config.config_source) for config in answer.configs or ()}
    assert len(found) == 33
    assert list(found) == sorted(found)
    assert found["retention.ms"] == (" 05 ", 1)
    assert found["cleanup.policy"] == ("compact , delete", 1)
    assert found["min.insync.replicas"] == ("1", 3)
    assert found["segment.ms"] == ("604800000", 5)


def test_a_config_shows_the_broker_config_that_decides(client: Client, cluster: Cluster) -> None:
    cluster.config = type(cluster.config)(
        {"log.retention.minutes": "60", "message.max.bytes": "02000000"}
    )
    (answer,) = create(client, asked("t"))

    found = {config.name: (config.value, config.config_source) for config in answer.configs or ()}
    assert found["retention.ms"] == ("3600000", 4)
    assert found["max.message.bytes"] == ("02000000", 4)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_before_v5_no_configs_are_reported(client: Client, version: int) -> None:
    (answer,) = create(client, asked("t", -1, -1), version=version)
    assert outcome(answer) == (Error.NONE, None)
    assert (answer.num_partitions, answer.configs) == (-1, [])


def test_validate_only_tells_everything_and_writes_nothing(
    client: Client, cluster: Cluster
) -> None:
    (answer,) = create(client, asked("t", 3), validate_only=True)

    assert outcome(answer) == (Error.NONE, None)
    assert answer.topic_id != NO_ID
    assert (answer.num_partitions, len(answer.configs or ())) == (3, 33)
    assert cluster.topics.get("t") is None


def test_a_name_given_twice_is_answered_once_and_spares_the_others(
    client: Client, cluster: Cluster
) -> None:
    answers = create(client, asked("t"), asked("a b"), asked("u"), asked("t"), asked("a b"))

    assert [(answer.name, *outcome(answer)) for answer in answers] == [
        ("t", *TWICE),
        ("a b", *TWICE),
        ("u", Error.NONE, None),
    ]
    assert cluster.topics.get("t") is None


def test_two_names_that_collide_only_with_each_other_are_both_created(client: Client) -> None:
    assert [a.error_code for a in create(client, asked("p.q"), asked("p_q"))] == [0, 0]


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_everything_is_refused(
    client: Client, cluster: Cluster, timeout_ms: int
) -> None:
    answers = create(client, asked("t"), asked("a b"), timeout_ms=timeout_ms)
    assert [outcome(answer) for answer in answers] == [(Error.REQUEST_TIMED_OUT, None)] * 2
    assert cluster.topics.get("t") is None


@pytest.mark.parametrize(
    ("topics", "refusal"),
    [
        ([asked("s", 10_001)], TOO_MANY),
        ([asked("s", 6000), asked("u", 4000), asked("a b"), asked("d"), asked("d")], TOO_MANY),
        ([asked("s", 10_000)], TOO_LARGE),
        ([asked("s", 5999), asked("u", 4000), asked("a b")], TOO_LARGE),
        ([asked("s", 9998), asked("u", -1, -1, None, [(0, [1]), (1, [1])])], TOO_LARGE),
    ],
    ids=lambda value: f"{len(value)} topics" if isinstance(value, list) else value[1][:9],
)
def test_a_request_that_is_too_large_is_refused_as_a_whole(
    client: Client, topics: list[Topic], refusal: tuple[Error, str]
) -> None:
    answers = create(client, *topics, validate_only=True)
    assert [outcome(answer) for answer in answers] == [refusal] * len(topics)


def test_what_is_named_twice_does_not_count_as_large(client: Client) -> None:
    (answer,) = create(client, asked("s", 9000), asked("s", 9000))
    assert outcome(answer) == TWICE


def test_ten_thousand_records_are_not_too_many(client: Client) -> None:
    (answer,) = create(client, asked("s", 9999), validate_only=True)
    assert outcome(answer) == (Error.NONE, None)


@pytest.mark.parametrize("version", first_and_last(CreateTopicsRequest))
def test_a_topic_is_created_in_every_version(
    client: Client, cluster: Cluster, version: int
) -> None:
    (answer,) = create(client, asked("new", 3), version=version)
    assert outcome(answer) == (Error.NONE, None)
    assert len(cluster.topic("new").partitions) == 3
    assert answer.topic_id == (cluster.topic("new").id if version >= 7 else NO_ID)
    assert answer.num_partitions == (3 if version >= 5 else -1)


def test_without_time_only_what_needs_no_look_is_refused_by_itself(client: Client) -> None:
    def codes(*names: str) -> list[int]:
        answers = create(client, *(asked(name) for name in names), timeout_ms=0)
        return [answer.error_code for answer in answers]

    assert codes("x", "x") == [42]
    assert codes("x", "x", "t") == [7, 7, 7]
