"""The cluster's administration as the admin clients offer it, on both brokers alike.

Every test does the same with each broker, and says what a real one answers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

confluent = pytest.importorskip("confluent_kafka.admin", reason="unavailable: confluent-kafka")
kafka_admin = pytest.importorskip("kafka.admin", reason="unavailable: kafka-python")
aiokafka_admin = pytest.importorskip("aiokafka.admin", reason="unavailable: aiokafka")

from confluent_kafka import ElectionType, KafkaException  # noqa: E402
from confluent_kafka import TopicPartition as ConfluentPartition  # noqa: E402
from kafka import KafkaProducer, TopicPartition, errors  # noqa: E402

pytestmark = pytest.mark.slow

TIMEOUT_S = 60
DENIED = "No Authorizer is configured"


@pytest.fixture
def librdkafka(broker: str) -> Any:
    return confluent.AdminClient({"bootstrap.servers": broker})


@pytest.fixture
def python(broker: str) -> Iterator[Any]:
    admin = kafka_admin.KafkaAdminClient(bootstrap_servers=broker)
    yield admin
    admin.close()


@pytest.fixture
def topic(broker: str, librdkafka: Any) -> str:
    """A topic of two partitions, the first with a record of an idempotent producer."""
    name = f"t-{uuid4().hex[:8]}"
    librdkafka.create_topics([confluent.NewTopic(name, 2, 1)])[name].result(TIMEOUT_S)
    producer = KafkaProducer(bootstrap_servers=broker, enable_idempotence=True)
    producer.send(name, b"x", partition=0).get(TIMEOUT_S)
    producer.close()
    return name


def eventually(call: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
    """What a call brings once it is right: a real broker follows its controller a moment later."""
    deadline = time.monotonic() + TIMEOUT_S
    while not is_right(found := call()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


# confluent-kafka


def test_librdkafka_describes_the_cluster(librdkafka: Any) -> None:
    found = librdkafka.describe_cluster().result(TIMEOUT_S)
    assert len(found.cluster_id) == 22
    assert ([node.id for node in found.nodes], found.controller.id) == ([1], 1)


def test_librdkafka_keeps_scram_users(librdkafka: Any) -> None:
    user, mechanism = f"u-{uuid4().hex[:8]}", confluent.ScramMechanism.SCRAM_SHA_256
    info = confluent.ScramCredentialInfo(mechanism, 5000)
    added = confluent.UserScramCredentialUpsertion(user, info, b"password", b"salt")
    librdkafka.alter_user_scram_credentials([added])[user].result(TIMEOUT_S)

    def described() -> dict[str, list[tuple[Any, int]]]:
        found = librdkafka.describe_user_scram_credentials().result(TIMEOUT_S)
        return {
            name: [(each.mechanism, each.iterations) for each in one.scram_credential_infos]
            for name, one in found.items()
        }

    found = eventually(described, lambda users: user in users)
    assert found[user] == [(mechanism, 5000)]

    gone = confluent.UserScramCredentialDeletion(user, mechanism)
    librdkafka.alter_user_scram_credentials([gone])[user].result(TIMEOUT_S)
    with pytest.raises(KafkaException, match="does not exist"):
        librdkafka.alter_user_scram_credentials([gone])[user].result(TIMEOUT_S)


def test_librdkafka_elects_leaders_that_are_there_already(librdkafka: Any, topic: str) -> None:
    asked = [ConfluentPartition(topic, 0), ConfluentPartition(topic, 7)]
    found = librdkafka.elect_leaders(ElectionType.PREFERRED, asked).result(TIMEOUT_S)
    assert {part.partition: error.code() for part, error in found.items()} == {0: 84, 7: 3}


def test_librdkafka_learns_that_there_is_no_authorizer(librdkafka: Any) -> None:
    any_, pattern = confluent.ResourceType.ANY, confluent.ResourcePatternType
    operation, permission = confluent.AclOperation, confluent.AclPermissionType
    every = confluent.AclBindingFilter(
        any_, None, pattern.ANY, None, None, operation.ANY, permission.ANY
    )
    one = confluent.AclBinding(
        *(confluent.ResourceType.TOPIC, "t", pattern.LITERAL),
        *("User:x", "*", operation.READ, permission.ALLOW),
    )
    assert librdkafka.describe_acls(every).result(TIMEOUT_S) == []  # it does not tell the error
    futures = [
        *librdkafka.delete_acls([every]).values(),
        *librdkafka.create_acls([one]).values(),
    ]
    for future in futures:
        with pytest.raises(KafkaException, match=DENIED):
            future.result(TIMEOUT_S)


# kafka-python


def test_kafka_python_describes_cluster_and_quorum(python: Any) -> None:
    found = python.describe_cluster()
    assert found["controller_id"] == 1
    quorum = repr(python.describe_metadata_quorum())
    assert "__cluster_metadata" in quorum
    assert "'leader_id': 1" in quorum


def test_kafka_python_describes_features(python: Any) -> None:
    found = python.describe_features()["transaction.version"]
    assert (found["supported"], found["finalized"]) == ((0, 2), (2, 2))
    lower = {"transaction.version": ("SAFE_DOWNGRADE", 1)}
    assert python.update_features(lower, validate_only=True) == {"transaction.version": "OK"}
    with pytest.raises(errors.BrokerResponseError, match="does not support this feature"):
        python.update_features({"nonsense": 1})


def test_kafka_python_describes_log_dirs_and_moves_within_one(python: Any, topic: str) -> None:
    assert topic in repr(python.describe_log_dirs({topic: [0, 1]}))
    assert topic not in repr(python.describe_log_dirs({"none": [0]}))
    moved = python.alter_replica_log_dirs({(topic, 0, 1): "/nowhere"})
    assert list(moved.values()) == [errors.LogDirNotFoundError]


def test_kafka_python_describes_producers(python: Any, topic: str) -> None:
    partition = TopicPartition(topic, 0)
    (state,) = python.describe_producers([partition])[partition].active_producers
    assert (state.producer_epoch, state.last_sequence) == (0, 0)


def test_kafka_python_moves_nothing(python: Any, topic: str) -> None:
    partition, other = TopicPartition(topic, 0), TopicPartition(topic, 1)
    assert python.alter_partition_reassignments({partition: [1]}) == {partition: None}
    found = python.alter_partition_reassignments({partition: None, other: [7]})
    assert found == {
        partition: errors.NoReassignmentInProgressError,
        other: errors.InvalidReplicationAssignmentError,
    }
    assert python.list_partition_reassignments() == {}
    elected = python.elect_leaders(0, {topic: [0]}, raise_errors=False)
    assert "84" in repr(elected)


def test_kafka_python_keeps_scram_users(python: Any) -> None:
    user = f"u-{uuid4().hex[:8]}"
    mechanism = kafka_admin.ScramMechanism.SCRAM_SHA_512
    added = kafka_admin.UserScramCredentialUpsertion(user, mechanism, b"password", 5000)
    assert python.alter_user_scram_credentials([added]) == {user: None}
    found = eventually(
        lambda: python.describe_user_scram_credentials([user]),
        lambda users: not users[user]["error"],
    )
    assert found[user]["credential_infos"] == [{"mechanism": mechanism, "iterations": 5000}]
    gone = kafka_admin.UserScramCredentialDeletion(user, mechanism)
    assert python.alter_user_scram_credentials([gone]) == {user: None}
    assert "does not exist" in python.alter_user_scram_credentials([gone])[user]


def test_kafka_python_learns_that_there_is_no_authorizer(python: Any) -> None:
    made = kafka_admin
    every = made.ACLFilter(
        principal=None,
        host=None,
        operation=made.ACLOperation.ANY,
        permission_type=made.ACLPermissionType.ANY,
        resource_pattern=made.ResourcePatternFilter(
            made.ResourceType.ANY, None, made.ACLResourcePatternType.ANY
        ),
    )
    with pytest.raises(errors.SecurityDisabledError):
        python.describe_acls(every)
    ((_, _, error),) = python.delete_acls([every])
    assert error is errors.SecurityDisabledError


# aiokafka


def test_aiokafka_describes_the_cluster(broker: str) -> None:
    async def described() -> Any:
        admin = aiokafka_admin.AIOKafkaAdminClient(bootstrap_servers=broker)
        await admin.start()
        try:
            return await admin.describe_cluster()
        finally:
            await admin.close()

    found = asyncio.run(described())
    assert found["controller_id"] == 1
    assert [each["node_id"] for each in found["brokers"]] == [1]
