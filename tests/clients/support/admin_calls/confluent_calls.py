"""Every method of confluent-kafka's AdminClient, in the order in which they are called."""

from __future__ import annotations

from typing import Any

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    ElectionType,
    IsolationLevel,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka import admin as made

from tests.clients.support.admin_calls.sweep import OWN, START_MS, Call

Kind = made.ResourceType
Of = ConsumerGroupTopicPartitions
Part = TopicPartition
Spec = made.OffsetSpec
ANY = made.AclBindingFilter(
    *(Kind.ANY, None, made.ResourcePatternType.ANY, None, None),
    *(made.AclOperation.ANY, made.AclPermissionType.ANY),
)
ONE = made.AclBinding(
    *(Kind.TOPIC, "orders", made.ResourcePatternType.LITERAL, "User:x", "*"),
    *(made.AclOperation.READ, made.AclPermissionType.ALLOW),
)
SHA256 = made.ScramMechanism.SCRAM_SHA_256
SHA512 = made.ScramMechanism.SCRAM_SHA_512

NOT_CALLED: dict[str, str] = {}


def client(address: str) -> Any:
    return made.AdminClient({"bootstrap.servers": address})


def methods() -> type:
    """The class whose methods are meant."""
    return made.AdminClient


def close(_: Any) -> None:
    """It has no close."""


def configs(kind: Any, name: str, **changes: Any) -> made.ConfigResource:
    """A resource with changes: a value to set, or an operation and a value."""
    entries = []
    for key, change in changes.items():
        how, value = change if isinstance(change, tuple) else ("SET", change)
        operation = made.AlterConfigOpType[how]
        entries.append(
            made.ConfigEntry(key.replace("_", "."), value, incremental_operation=operation)
        )
    return made.ConfigResource(kind, name, incremental_configs=entries)


def scram(user: str, mechanism: Any = SHA256, iterations: int = 4096) -> Any:
    """A user to be made or changed."""
    info = made.ScramCredentialInfo(mechanism, iterations)
    return made.UserScramCredentialUpsertion(user, info, b"secret", b"salt")


CLUSTER = [
    Call("cluster_id", lambda a: a.cluster_id(timeout=10)),
    Call("describe_cluster", lambda a: a.describe_cluster()),
    Call("describe_cluster", lambda a: a.describe_cluster(include_authorized_operations=True)),
    Call("poll", lambda a: a.poll(0)),
    Call("set_sasl_credentials", lambda a: a.set_sasl_credentials("user", "password")),
    Call("create_acls", lambda a: a.create_acls([ONE])),
    Call("describe_acls", lambda a: a.describe_acls(ANY)),
    Call("delete_acls", lambda a: a.delete_acls([ANY])),
    Call("alter_user_scram_credentials", lambda a: a.alter_user_scram_credentials([scram("u")])),
    Call(
        "alter_user_scram_credentials",
        lambda a: a.alter_user_scram_credentials(
            [
                scram("few", iterations=1),
                scram("many", iterations=20_000),
                scram("v", SHA512, 5000),
                made.UserScramCredentialDeletion("nobody", SHA256),
            ]
        ),
    ),
    Call("describe_user_scram_credentials", lambda a: a.describe_user_scram_credentials()),
    Call(
        "describe_user_scram_credentials",
        lambda a: a.describe_user_scram_credentials(["u", "nobody"]),
    ),
    Call(
        "alter_user_scram_credentials",
        lambda a: a.alter_user_scram_credentials([made.UserScramCredentialDeletion("u", SHA256)]),
    ),
]

TOPICS = [
    Call(
        "create_topics",
        lambda a: a.create_topics(
            [
                made.NewTopic("new", 2, 1, config={"retention.ms": "1000"}),
                made.NewTopic("placed", 3, replica_assignment=[[1], [1], [1]]),
                made.NewTopic("orders", 1, 1),
                made.NewTopic("bad name", 1, 1),
                made.NewTopic("none", 0, 1),
                made.NewTopic("copies", 1, 3),
                made.NewTopic("wrong", 1, 1, config={"retention.ms": "soon"}),
                made.NewTopic("away", 1, replica_assignment=[[7]]),
                made.NewTopic("usual"),
            ]
        ),
    ),
    Call(
        "create_topics",
        lambda a: a.create_topics([made.NewTopic("asked", 1, 1)], validate_only=True),
    ),
    Call("list_topics", lambda a: a.list_topics("asked", timeout=30)),
    Call(
        "describe_topics",
        lambda a: a.describe_topics(TopicCollection(["new", "placed", "usual", "missing"])),
    ),
    Call(
        "describe_topics",
        lambda a: a.describe_topics(
            TopicCollection(["orders"]), include_authorized_operations=True
        ),
    ),
    Call("list_topics", lambda a: a.list_topics("orders", timeout=30)),
    Call("list_topics", lambda a: sorted(a.list_topics(timeout=30).topics)),
    Call(
        "create_partitions",
        lambda a: a.create_partitions(
            [
                made.NewPartitions("new", 4),
                made.NewPartitions("placed", 2),
                made.NewPartitions("missing", 9),
                made.NewPartitions("usual", 3, [[1], [1]]),
                made.NewPartitions("orders", 9, [[1]]),
            ]
        ),
    ),
    Call(
        "create_partitions",
        lambda a: a.create_partitions([made.NewPartitions("new", 9)], validate_only=True),
    ),
    Call("describe_topics", lambda a: a.describe_topics(TopicCollection(["new", "usual"]))),
    Call("delete_topics", lambda a: a.delete_topics(["placed", "missing", "bad name"])),
    Call("describe_topics", lambda a: a.describe_topics(TopicCollection(["placed"]))),
    *(
        Call(
            "list_offsets",
            lambda a, s=spec, i=isolation: a.list_offsets(
                {Part("orders", 0): s, Part("open", 0): s, Part("empty", 0): s},
                isolation_level=i,
            ),
        )
        for spec in (
            *(Spec.earliest(), Spec.latest(), Spec.max_timestamp()),
            *(Spec.for_timestamp(START_MS + 2), Spec.for_timestamp(1 << 60)),
        )
        for isolation in IsolationLevel
    ),
    Call("list_offsets", lambda a: a.list_offsets({Part("orders", 99): Spec.latest()})),
    Call("list_offsets", lambda a: a.list_offsets({Part("missing", 0): Spec.latest()})),
    Call(
        "delete_records",
        lambda a: a.delete_records(
            [Part("orders", 0, 2), Part("orders", 1, 0), Part("cut", 0, -1)]
        ),
    ),
    Call("delete_records", lambda a: a.delete_records([Part("orders", 0, 99)])),
    Call("delete_records", lambda a: a.delete_records([Part("orders", 77, 1)])),
    Call("list_offsets", lambda a: a.list_offsets({Part("orders", 0): Spec.earliest()})),
    *(
        Call("elect_leaders", lambda a, k=kind: a.elect_leaders(k, [Part("orders", 0)]))
        for kind in ElectionType
    ),
    Call(
        "elect_leaders",
        lambda a: a.elect_leaders(
            ElectionType.PREFERRED, [Part("orders", 77), Part("missing", 0), Part("orders", 0)]
        ),
    ),
    Call("elect_leaders", lambda a: a.elect_leaders(ElectionType.PREFERRED)),
]

CONFIGS = [
    *(
        Call(
            "incremental_alter_configs",
            lambda a, k=kind, n=name, c=changes: a.incremental_alter_configs([configs(k, n, **c)]),
        )
        for kind, name, changes in (
            (Kind.TOPIC, "new", {"flush_ms": "7", "retention_ms": ("DELETE", None)}),
            (Kind.TOPIC, "new", {"cleanup_policy": ("APPEND", "compact")}),
            (Kind.TOPIC, "new", {"cleanup_policy": ("SUBTRACT", "delete")}),
            (Kind.TOPIC, "new", {"flush_ms": ("APPEND", "7")}),
            (Kind.TOPIC, "new", {"no_such": "7"}),
            (Kind.TOPIC, "missing", {"flush_ms": "7"}),
            (Kind.BROKER, "1", {"log_cleaner_backoff_ms": "14000"}),
            (Kind.BROKER, "1", {"broker_id": "3"}),
            (Kind.GROUP, "modern", {"consumer_session_timeout_ms": "50000"}),
            (Kind.GROUP, "modern", {"consumer_session_timeout_ms": "5"}),
        )
    ),
    Call(
        "describe_configs", lambda a: a.describe_configs([made.ConfigResource(Kind.TOPIC, "new")])
    ),
    Call("describe_configs", lambda a: _of_broker(a)),
    Call(
        "describe_configs",
        lambda a: a.describe_configs([made.ConfigResource(Kind.TOPIC, "missing")]),
    ),
    Call(
        "describe_configs",
        lambda a: a.describe_configs([made.ConfigResource(Kind.GROUP, "modern")]),
    ),
    Call(
        "alter_configs",
        lambda a: a.alter_configs(
            [made.ConfigResource(Kind.TOPIC, "new", set_config={"segment.ms": "9000"})]
        ),
    ),
    Call(
        "alter_configs",
        lambda a: a.alter_configs(
            [made.ConfigResource(Kind.TOPIC, "new", set_config={"segment.ms": "x"})],
            validate_only=True,
        ),
    ),
    Call(
        "describe_configs", lambda a: a.describe_configs([made.ConfigResource(Kind.TOPIC, "new")])
    ),
    Call(
        "incremental_alter_configs",
        lambda a: a.incremental_alter_configs(
            [configs(Kind.BROKER, "1", log_cleaner_backoff_ms=("DELETE", None))]
        ),
    ),
]

GROUPS = [
    Call("list_consumer_groups", lambda a: _by_id(a.list_consumer_groups())),
    Call(
        "list_consumer_groups",
        lambda a: _by_id(a.list_consumer_groups(states={ConsumerGroupState.EMPTY})),
    ),
    Call(
        "list_consumer_groups",
        lambda a: _by_id(a.list_consumer_groups(types={ConsumerGroupType.CONSUMER})),
    ),
    Call("list_groups", lambda a: sorted(group.id for group in a.list_groups(timeout=10))),
    Call("list_groups", lambda a: a.list_groups("live", timeout=10)),
    Call(
        "describe_consumer_groups",
        lambda a: a.describe_consumer_groups(
            ["done", "live", "modern", "missing"], include_authorized_operations=True
        ),
    ),
    Call("list_consumer_group_offsets", lambda a: a.list_consumer_group_offsets([Of("done")])),
    Call(
        "list_consumer_group_offsets",
        lambda a: a.list_consumer_group_offsets(
            [Of("done", [Part("orders", 0), Part("orders", 1), Part("missing", 0)])]
        ),
    ),
    Call("list_consumer_group_offsets", lambda a: a.list_consumer_group_offsets([Of("missing")])),
    *(
        Call(
            "alter_consumer_group_offsets",
            lambda a, g=group, p=parts: a.alter_consumer_group_offsets([Of(g, p)]),
        )
        for group, parts in (
            ("done", [Part("orders", 0, 1), Part("orders", 1, 5)]),
            ("fresh", [Part("orders", 0, 3)]),
            ("live", [Part("orders", 0, 1)]),
            ("modern", [Part("orders", 0, 1)]),
            ("done", [Part("missing", 0, 1), Part("orders", 99, 1)]),
        )
    ),
    Call("list_consumer_group_offsets", lambda a: a.list_consumer_group_offsets([Of("done")])),
    Call("list_consumer_group_offsets", lambda a: a.list_consumer_group_offsets([Of("fresh")])),
    Call(
        "delete_consumer_groups",
        lambda a: a.delete_consumer_groups(["fresh", "missing", "live", "modern"]),
    ),
    Call("list_groups", lambda a: sorted(group.id for group in a.list_groups(timeout=10))),
]

CALLS = [*CLUSTER, *TOPICS, *CONFIGS, *GROUPS]


def _by_id(future: Any) -> Any:
    found = future.result(30)
    return sorted(found.valid, key=lambda group: str(group.group_id)), found.errors


def _of_broker(client: Any) -> Any:
    (found,) = client.describe_configs([made.ConfigResource(Kind.BROKER, "1")]).values()
    return {name: config for name, config in found.result(30).items() if name not in OWN}
