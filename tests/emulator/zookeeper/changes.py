"""Administrative changes, done to three brokers of Kafka 2.7 and to ours: what each leaves in
ZooKeeper is compared (test_registry.py). By requests, by nodes that tools write, by stops."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol

from odradek.wire import Request
from odradek.wire.api.alter_client_quotas import AlterClientQuotasRequest
from odradek.wire.api.alter_configs import AlterConfigsRequest
from odradek.wire.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from odradek.wire.api.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.elect_leaders import ElectLeadersRequest

from tests.requests.configs import change_request

SET, DELETE, APPEND, SUBTRACT = range(4)
TOPIC, BROKER = 2, 4
Json = dict[str, Any]


class Ground(Protocol):
    """Three brokers, 1 to 3, and their ZooKeeper."""

    zk: Any
    """A KazooClient."""

    def ask(self, request: Request, version: int, broker: int | None = None) -> Any: ...

    def stop(self, broker: int) -> None: ...

    def start(self, broker: int) -> None: ...


Change = Callable[[Ground], object]


def create(*topics: tuple[str, list[list[int]]], configs: dict[str, str] | None = None) -> Change:
    """Topics, and the replicas of each of their partitions."""
    of = CreateTopicsRequest.Topic
    asked = [
        of(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                of.Assignment(partition_index=index, broker_ids=replicas)
                for index, replicas in enumerate(assigned)
            ],
            configs=[of.Config(name=key, value=text) for key, text in (configs or {}).items()],
        )
        for name, assigned in topics
    ]
    return lambda on: on.ask(CreateTopicsRequest(topics=asked), 4)


def delete(*names: str) -> Change:
    return lambda on: on.ask(DeleteTopicsRequest(topic_names=list(names), timeout_ms=30_000), 3)


def grow(name: str, count: int, *added: list[int]) -> Change:
    of = CreatePartitionsRequest.Topic
    topic = of(name=name, count=count, assignments=[of.Assignment(broker_ids=a) for a in added])
    request = CreatePartitionsRequest(topics=[topic], timeout_ms=30_000, validate_only=False)
    return lambda on: on.ask(request, 1)


def alter(
    kind: int, resource: str, *changes: tuple[str, int, str | None], broker: int | None = None
) -> Change:
    request = change_request((kind, resource, changes))
    return lambda on: on.ask(request, 1, broker)


def replace(resource: str, **configs: str) -> Change:
    of = AlterConfigsRequest.Resource
    asked = of(
        resource_type=TOPIC,
        resource_name=resource,
        configs=[
            of.Config(name=name.replace("_", "."), value=value) for name, value in configs.items()
        ],
    )
    return lambda on: on.ask(AlterConfigsRequest(resources=[asked], validate_only=False), 1)


def quota(entity: dict[str, str | None], **keys: float | None) -> Change:
    of = AlterClientQuotasRequest.Entry
    entry = of(
        entity=[of.Entity(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[of.Op(key=k, value=v or 0.0, remove=v is None) for k, v in keys.items()],
    )
    return lambda on: on.ask(AlterClientQuotasRequest(entries=[entry], validate_only=False), 0)


def credential(user: str, *, is_deleted: bool = False, mechanism: int = 1) -> Change:
    of = AlterUserScramCredentialsRequest
    request = of(
        deletions=[of.Deletion(name=user, mechanism=mechanism)] * is_deleted,
        upsertions=[
            of.Upsertion(
                name=user,
                mechanism=mechanism,
                iterations=4096,
                salt=b"salt",
                salted_password=bytes(range(32 * mechanism)),
            )
        ]
        * (not is_deleted),
    )
    return lambda on: on.ask(request, 0)


def elect(topic: str, *partitions: int) -> Change:
    asked = ElectLeadersRequest.Topic(topic=topic, partitions=list(partitions))
    return lambda on: on.ask(ElectLeadersRequest(topic_partitions=[asked]), 2)


def move(topic: str, partition: int, replicas: list[int] | None) -> Change:
    of = AlterPartitionReassignmentsRequest.Topic
    asked = of(name=topic, partitions=[of.Partition(partition_index=partition, replicas=replicas)])
    return lambda on: on.ask(AlterPartitionReassignmentsRequest(topics=[asked]), 0)


def write(*nodes: tuple[str, Json | None]) -> Change:
    """What a tool writes: nodes created, or given other data."""

    def done(on: Ground) -> None:
        for path, value in nodes:
            data = None if value is None else json.dumps(value).encode()
            if path.endswith("_"):
                on.zk.create(path, data, sequence=True)
            elif on.zk.exists(path):
                on.zk.set(path, data)
            else:
                on.zk.create(path, data, makepath=True)

    return done


def configs_node(path: str, **configs: str) -> tuple[str, Json]:
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return f"/config/{path}", {"version": 1, "config": named}


def notice(path: str) -> tuple[str, Json]:
    """That the configs of an entity have changed."""
    return "/config/changes/config_change_", {"version": 2, "entity_path": path}


def assignment(name: str, *replicas: list[int]) -> tuple[str, Json]:
    partitions = {str(index): each for index, each in enumerate(replicas)}
    value = {
        "version": 2,
        "partitions": partitions,
        "adding_replicas": {},
        "removing_replicas": {},
    }
    return f"/brokers/topics/{name}", value


CHANGES: list[tuple[str, Change]] = [
    ("nothing yet", lambda on: None),
    ("create a", create(("a", [[1]]))),
    ("create b of three", create(("b", [[1, 2, 3], [2, 3, 1], [3, 1, 2]]))),
    (
        "create c with configs",
        create(("c", [[2, 1]]), configs={"cleanup.policy": "compact", "retention.ms": "1000"}),
    ),
    ("create three at once", create(("d", [[1, 2]]), ("e", [[2, 3]]), ("f.x_y-z", [[3, 1]]))),
    ("create what is there", create(("a", [[1]]))),
    ("create with a wrong config", create(("g", [[1]]), configs={"retention.ms": "x"})),
    ("grow a", grow("a", 3, [2], [3])),
    ("grow a to fewer", grow("a", 2)),
    ("set a config of a", alter(TOPIC, "a", ("retention.ms", SET, "60000"))),
    (
        "set two configs of a",
        alter(TOPIC, "a", ("segment.ms", SET, "1000"), ("retention.bytes", SET, "10")),
    ),
    ("append to a config of a", alter(TOPIC, "a", ("cleanup.policy", APPEND, "compact"))),
    ("subtract from a config of a", alter(TOPIC, "a", ("cleanup.policy", SUBTRACT, "delete"))),
    ("delete a config of a", alter(TOPIC, "a", ("retention.ms", DELETE, None))),
    ("a wrong config of a", alter(TOPIC, "a", ("retention.ms", SET, "x"))),
    ("replace the configs of a", replace("a", max_message_bytes="2000")),
    ("replace them by none", replace("a")),
    ("a config of broker 1", alter(BROKER, "1", ("background.threads", SET, "9"), broker=1)),
    ("a config of broker 2", alter(BROKER, "2", ("log.cleaner.threads", SET, "2"), broker=2)),
    ("a config of all brokers", alter(BROKER, "", ("log.retention.ms", SET, "90000"))),
    ("no config of broker 1", alter(BROKER, "1", ("background.threads", DELETE, None), broker=1)),
    ("no config of all brokers", alter(BROKER, "", ("log.retention.ms", DELETE, None))),
    ("a quota of a user", quota({"user": "bob"}, producer_byte_rate=1000.0)),
    (
        "another quota of it",
        quota({"user": "bob"}, consumer_byte_rate=2000.0, request_percentage=12.5),
    ),
    ("a quota of a client id", quota({"client-id": "app"}, consumer_byte_rate=3000.0)),
    ("of a user's client id", quota({"user": "bob", "client-id": "app"}, producer_byte_rate=1.0)),
    ("of all users", quota({"user": None}, producer_byte_rate=5.0)),
    ("of all client ids", quota({"client-id": None}, producer_byte_rate=6.0)),
    (
        "of all client ids of all users",
        quota({"user": None, "client-id": None}, producer_byte_rate=7.0),
    ),
    ("of an odd user", quota({"user": "a b@c/d*%"}, producer_byte_rate=8.0)),
    (
        "no quota of the user",
        quota(
            {"user": "bob"},
            producer_byte_rate=None,
            consumer_byte_rate=None,
            request_percentage=None,
        ),
    ),
    ("no quota of the client id", quota({"client-id": "app"}, consumer_byte_rate=None)),
    ("a credential", credential("alice")),
    ("another one", credential("alice", mechanism=2)),
    ("a quota beside them", quota({"user": "alice"}, producer_byte_rate=9.0)),
    ("no credential", credential("alice", is_deleted=True)),
    ("move a-0", move("a", 0, [2])),
    ("move b-0", move("b", 0, [3, 2, 1])),
    ("move c-0 to more", move("c", 0, [2, 1, 3])),
    ("move c-0 to fewer", move("c", 0, [3])),
    ("cancel nothing", move("c", 0, None)),
    ("elect the preferred of b", elect("b", 0, 1, 2)),
    ("stop broker 2", lambda on: on.stop(2)),
    ("create while it is down", create(("h", [[1, 2], [2, 1]]))),
    ("move to it while it is down", move("a", 1, [2, 1])),
    ("cancel that", move("a", 1, None)),
    ("start broker 2", lambda on: on.start(2)),
    ("elect the preferred again", elect("b", 0, 1, 2)),
    ("delete a topic", delete("d")),
    ("delete two", delete("e", "f.x_y-z")),
    ("delete what is not there", delete("e")),
    ("create it again", create(("d", [[3]]))),
    (
        "a tool creates a topic",
        write(configs_node("topics/t", retention_ms="70000"), assignment("t", [1, 2], [2, 3])),
    ),
    ("a tool grows it", write(assignment("t", [1, 2], [2, 3], [3, 1]))),
    (
        "a tool changes its configs",
        write(configs_node("topics/t", max_message_bytes="5000"), notice("topics/t")),
    ),
    (
        "a tool changes configs of a broker",
        write(configs_node("brokers/1", background_threads="7"), notice("brokers/1")),
    ),
    (
        "and of all brokers",
        write(
            configs_node("brokers/<default>", log_retention_ms="80000"), notice("brokers/<default>")
        ),
    ),
    (
        "a tool sets a quota",
        write(configs_node("clients/job", producer_byte_rate="100"), notice("clients/job")),
    ),
    (
        "and a user's",
        write(configs_node("users/eve", consumer_byte_rate="200"), notice("users/eve")),
    ),
    (
        "a tool moves a partition",
        write(
            (
                "/admin/reassign_partitions",
                {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [3, 1]}]},
            )
        ),
    ),
    (
        "a tool elects the preferred",
        write(
            (
                "/admin/preferred_replica_election",
                {"version": 1, "partitions": [{"topic": "t", "partition": 0}]},
            )
        ),
    ),
    ("a tool deletes a topic", write(("/admin/delete_topics/t", None))),
    ("a tool deletes what is not there", write(("/admin/delete_topics/none", None))),
    (
        "an old consumer registers",
        write(
            (
                "/consumers/g/ids/g_1",
                {"version": 1, "subscription": {"a": 1}, "pattern": "static", "timestamp": "1"},
            )
        ),
    ),
    ("the controller stops", lambda on: on.stop(1)),
    ("and starts again", lambda on: on.start(1)),
]
