"""What the admin clients of confluent-kafka, kafka-python and aiokafka do with configs and topics.

Every call of theirs about topics, partitions, records and configs, asked of the emulator, and with
ODRADEK_REAL=1 of a real Kafka too. A real broker follows its answers a moment later: `eventually`
waits for it.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
WAIT_S = 30.0


def eventually(look: Callable[[], Any], expected: Any) -> None:
    """Assert that a look shows this, now or soon."""
    deadline = time.monotonic() + WAIT_S
    while (found := look()) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found == expected


@pytest.fixture
def topic() -> str:
    return f"configs-{uuid.uuid4().hex[:8]}"


# confluent-kafka


@pytest.fixture
def confluent(broker: str) -> Any:
    admin = pytest.importorskip("confluent_kafka.admin")
    return admin.AdminClient({"bootstrap.servers": broker})


def done(futures: dict[Any, Any]) -> dict[Any, Any]:
    """The results, or errors' codes, of confluent-kafka's futures."""
    from confluent_kafka import KafkaException

    results = {}
    for key, future in futures.items():
        try:
            results[key] = future.result(WAIT_S)
        except KafkaException as error:
            results[key] = error.args[0].code()
    return results


def confluent_value(admin: Any, kind: Any, name: str, key: str) -> tuple[str, int]:
    from confluent_kafka.admin import ConfigResource

    (found,) = done(admin.describe_configs([ConfigResource(kind, name)])).values()
    return found[key].value, int(found[key].source)


def test_confluent_changes_configs_of_a_topic(confluent: Any, topic: str) -> None:
    from confluent_kafka.admin import (
        AlterConfigOpType,
        ConfigEntry,
        ConfigResource,
        NewTopic,
        ResourceType,
    )

    new = NewTopic(topic, 1, 1, config={"retention.ms": "86400000"})
    assert done(confluent.create_topics([new])) == {topic: None}

    def value(key: str) -> tuple[str, int]:
        return confluent_value(confluent, ResourceType.TOPIC, topic, key)

    eventually(lambda: value("retention.ms"), ("86400000", 1))
    entries = [
        ConfigEntry("flush.ms", "5", incremental_operation=AlterConfigOpType.SET),
        ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.APPEND),
        ConfigEntry("retention.ms", None, incremental_operation=AlterConfigOpType.DELETE),
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    assert list(done(confluent.incremental_alter_configs([resource])).values()) == [None]
    eventually(lambda: value("flush.ms"), ("5", 1))
    assert value("cleanup.policy") == ("delete,compact", 1)
    assert value("retention.ms") == ("604800000", 5)

    resource = ConfigResource(ResourceType.TOPIC, topic, set_config={"segment.ms": "7000"})
    assert list(done(confluent.alter_configs([resource])).values()) == [None]
    eventually(lambda: value("segment.ms"), ("7000", 1))
    assert value("flush.ms")[1] == 5


def test_confluent_learns_what_is_wrong_with_a_config(confluent: Any, topic: str) -> None:
    from confluent_kafka import KafkaError
    from confluent_kafka.admin import ConfigResource, NewTopic, ResourceType

    new = NewTopic(topic, 1, 1, config={"retention.ms": "x"})
    assert done(confluent.create_topics([new])) == {topic: KafkaError.INVALID_CONFIG}
    resource = ConfigResource(ResourceType.TOPIC, topic, set_config={"nope": "1"})
    assert list(done(confluent.alter_configs([resource])).values()) == [KafkaError.INVALID_CONFIG]
    resource = ConfigResource(ResourceType.BROKER, "1", set_config={"num.partitions": "5"})
    (error,) = done(confluent.alter_configs([resource], validate_only=True)).values()
    assert error == KafkaError.INVALID_REQUEST


def test_confluent_grows_cuts_and_deletes_a_topic(confluent: Any, topic: str) -> None:
    from confluent_kafka import KafkaError, TopicPartition
    from confluent_kafka.admin import NewPartitions, NewTopic

    assert done(confluent.create_topics([NewTopic(topic, 1, 1)])) == {topic: None}
    again = done(confluent.create_topics([NewTopic(topic, 1, 1)]))
    assert again == {topic: KafkaError.TOPIC_ALREADY_EXISTS}
    assert done(confluent.create_partitions([NewPartitions(topic, 3)])) == {topic: None}

    def partitions() -> int:
        return len(confluent.list_topics(topic, timeout=WAIT_S).topics[topic].partitions)

    eventually(partitions, 3)
    eventually(
        lambda: [
            getattr(each, "low_watermark", each)
            for each in done(confluent.delete_records([TopicPartition(topic, 2, 0)])).values()
        ],
        [0],
    )
    assert done(confluent.delete_topics([topic])) == {topic: None}
    missing = {topic: KafkaError.UNKNOWN_TOPIC_OR_PART}
    eventually(lambda: done(confluent.delete_topics([topic])), missing)


# kafka-python


@pytest.fixture
def kafka_python(broker: str) -> Iterator[Any]:
    admin = pytest.importorskip("kafka.admin")
    client = admin.KafkaAdminClient(bootstrap_servers=broker)
    yield client
    client.close()


def described(client: Any, kind: str, name: str) -> dict[str, Any]:
    from kafka.admin import ConfigResource

    found = client.describe_configs([ConfigResource(kind, name)], config_filter="all")
    values: dict[str, Any] = {
        key: config["value"] for key, config in found[kind.lower()][name].items()
    }
    return values


def test_kafka_python_changes_configs_of_a_topic(kafka_python: Any, topic: str) -> None:
    from kafka.admin import AlterConfigOp, ConfigResource

    kafka_python.create_topics(
        {topic: {"num_partitions": 1, "configs": {"retention.ms": "86400000"}}}
    )
    eventually(lambda: described(kafka_python, "TOPIC", topic).get("retention.ms"), "86400000")
    changes = {
        "flush.ms": "5",
        "cleanup.policy": (AlterConfigOp.APPEND, "compact"),
        "retention.ms": (AlterConfigOp.DELETE, None),
    }
    kafka_python.alter_configs([ConfigResource("TOPIC", topic, changes)])
    eventually(lambda: described(kafka_python, "TOPIC", topic)["flush.ms"], "5")
    values = described(kafka_python, "TOPIC", topic)
    assert (values["cleanup.policy"], values["retention.ms"]) == ("delete,compact", "604800000")

    kafka_python.reset_configs([ConfigResource("TOPIC", topic, {"flush.ms": None})])
    default = "9223372036854775807"
    eventually(lambda: described(kafka_python, "TOPIC", topic)["flush.ms"], default)

    replaced = ConfigResource("TOPIC", topic, {"segment.ms": "7000"})
    kafka_python.alter_configs([replaced], incremental=False)
    eventually(lambda: described(kafka_python, "TOPIC", topic)["segment.ms"], "7000")


def test_kafka_python_lists_what_has_configs(kafka_python: Any, topic: str) -> None:
    from kafka.admin import ConfigResource

    kafka_python.create_topics({topic: {"num_partitions": 1}})
    group = ConfigResource("GROUP", topic, {"consumer.session.timeout.ms": "46000"})
    kafka_python.alter_configs([group], raise_on_unknown=False)
    eventually(lambda: topic in kafka_python.list_config_resources().get("group", ()), True)
    assert topic in kafka_python.list_config_resources(["TOPIC"])["topic"]
    assert kafka_python.list_config_resources(["BROKER"])["broker"] == ["1"]
    assert described(kafka_python, "GROUP", topic)["consumer.session.timeout.ms"] == "46000"


def test_kafka_python_changes_configs_of_a_broker(kafka_python: Any) -> None:
    from kafka.admin import ConfigResource

    name = "log.cleaner.backoff.ms"
    kafka_python.alter_configs([ConfigResource("BROKER", "1", {name: "14000"})])
    eventually(lambda: described(kafka_python, "BROKER", "1")[name], "14000")
    kafka_python.reset_configs([ConfigResource("BROKER", "1", {name: None})])
    eventually(lambda: described(kafka_python, "BROKER", "1")[name], "15000")


def test_kafka_python_grows_describes_cuts_and_deletes_a_topic(
    kafka_python: Any, topic: str
) -> None:
    from kafka import TopicPartition
    from kafka.errors import TopicAlreadyExistsError

    kafka_python.create_topics({topic: {"num_partitions": 1}})
    with pytest.raises(TopicAlreadyExistsError):
        kafka_python.create_topics({topic: {"num_partitions": 1}})
    kafka_python.create_partitions({topic: 3})

    def partitions() -> int:
        (found,) = kafka_python.describe_topics([topic])
        return len(found["partitions"])

    eventually(partitions, 3)
    page = kafka_python.describe_topic_partitions([topic])
    assert page
    eventually(lambda: topic in kafka_python.list_topics(), True)
    kafka_python.wait_for_topics([topic])
    cut = kafka_python.delete_records({TopicPartition(topic, 2): 0})
    assert TopicPartition(topic, 2) in cut
    kafka_python.delete_topics([topic])
    eventually(lambda: topic in kafka_python.list_topics(), False)


# aiokafka


def run(broker: str, work: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    admin = pytest.importorskip("aiokafka.admin")

    async def with_client() -> None:
        client = admin.AIOKafkaAdminClient(bootstrap_servers=broker)
        await client.start()
        try:
            await work(client)
        finally:
            await client.close()

    asyncio.run(with_client())


async def eventually_async(look: Callable[[], Coroutine[Any, Any, Any]], expected: Any) -> None:
    deadline = time.monotonic() + WAIT_S
    while (found := await look()) != expected and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert found == expected


def test_aiokafka_changes_configs_of_a_topic(broker: str, topic: str) -> None:
    async def work(client: Any) -> None:
        from aiokafka.admin import NewTopic
        from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

        kind = ConfigResourceType.TOPIC
        await client.create_topics([NewTopic(topic, 1, 1, topic_configs={"flush.ms": "5"})])

        async def value(key: str) -> str | None:
            (answer,) = await client.describe_configs([ConfigResource(kind, topic)])
            for resource in answer.resources:
                for config in resource[4]:
                    if config[0] == key:
                        found: str = config[1]
                        return found
            return None

        await eventually_async(lambda: value("flush.ms"), "5")
        (answer,) = await client.alter_configs(
            [ConfigResource(kind, topic, configs={"segment.ms": "7000"})]
        )
        assert [resource[0] for resource in answer.resources] == [0]
        await eventually_async(lambda: value("segment.ms"), "7000")
        assert await value("flush.ms") == "9223372036854775807"
        (answer,) = await client.alter_configs([ConfigResource(kind, topic, configs={"x": "1"})])
        assert [resource[:2] for resource in answer.resources] == [
            (40, "Unknown topic config name: x")
        ]

    run(broker, work)


def test_aiokafka_grows_describes_cuts_and_deletes_a_topic(broker: str, topic: str) -> None:
    async def work(client: Any) -> None:
        from aiokafka import TopicPartition
        from aiokafka.admin import NewPartitions, NewTopic, RecordsToDelete

        await client.create_topics([NewTopic(topic, 1, 1)])
        await client.create_partitions({topic: NewPartitions(3)})

        async def partitions() -> int:
            (found,) = await client.describe_topics([topic])
            return len(found["partitions"])

        await eventually_async(partitions, 3)
        part = TopicPartition(topic, 2)
        assert await client.delete_records({part: RecordsToDelete(before_offset=0)}) == {part: 0}
        assert topic in await client.list_topics()
        await client.delete_topics([topic])

        async def is_listed() -> bool:
            return topic in await client.list_topics()

        await eventually_async(is_listed, False)

    run(broker, work)
