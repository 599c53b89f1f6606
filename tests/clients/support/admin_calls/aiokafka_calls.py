"""Every method of aiokafka's AIOKafkaAdminClient, in the order in which they are called."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from tests.clients.support.admin_calls.sweep import Call

Kind = ConfigResourceType
Part = TopicPartition

NOT_CALLED = {
    "start": "called to make the client",
    "close": "called at the end",
}


class Client:
    """The client with a loop of its own: each of its methods waits for the answer."""

    def __init__(self, address: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = self._loop.run_until_complete(self._start(address))

    async def _start(self, address: str) -> AIOKafkaAdminClient:
        client = AIOKafkaAdminClient(bootstrap_servers=address)
        await client.start()
        return client

    def __getattr__(self, method: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            return self._loop.run_until_complete(getattr(self._client, method)(*args, **named))

        return call

    def end(self) -> None:
        self._loop.run_until_complete(self._client.close())
        self._loop.close()


def client(address: str) -> Any:
    return Client(address)


def methods() -> type:
    """The class whose methods are meant."""
    return AIOKafkaAdminClient


def close(client: Client) -> None:
    client.end()


def named(topics: Any) -> Any:
    return sorted(topics, key=lambda topic: topic["topic"])


CALLS = [
    Call("describe_cluster", lambda a: a.describe_cluster()),
    Call(
        "create_topics",
        lambda a: a.create_topics(
            [
                NewTopic("new", 2, 1, topic_configs={"retention.ms": "1000"}),
                NewTopic("placed", -1, -1, replica_assignments={0: [1], 1: [1]}),
                NewTopic("orders", 1, 1),
                NewTopic("bad name", 1, 1),
                NewTopic("none", 0, 1),
                NewTopic("copies", 1, 3),
                NewTopic("wrong", 1, 1, topic_configs={"no.such": "1"}),
            ]
        ),
    ),
    Call("create_topics", lambda a: a.create_topics([NewTopic("asked", 1, 1)], validate_only=True)),
    Call("list_topics", lambda a: sorted(a.list_topics())),
    Call("describe_topics", lambda a: named(a.describe_topics(["new", "placed"]))),
    Call("describe_topics", lambda a: a.describe_topics([])),
    Call("describe_topics", lambda a: named(a.describe_topics())),
    *(
        Call(
            "create_partitions",
            lambda a, n=name, p=parts, v=only: a.create_partitions({n: p}, None, v),
        )
        for name, parts, only in (
            ("new", NewPartitions(3), False),
            ("new", NewPartitions(9), True),
            ("new", NewPartitions(2), False),
            ("new", NewPartitions(4, [[7]]), False),
            ("missing", NewPartitions(2), False),
        )
    ),
    Call("describe_topics", lambda a: a.describe_topics(["new"])),
    *(
        Call(
            "delete_records", lambda a, p=part, o=offset: a.delete_records({p: RecordsToDelete(o)})
        )
        for part, offset in (
            (Part("orders", 0), 2),
            (Part("orders", 0), 99),
            (Part("cut", 0), -1),
            (Part("missing", 0), 0),
        )
    ),
    *(
        Call(
            "alter_configs",
            lambda a, k=kind, n=name, c=change: a.alter_configs([ConfigResource(k, n, c)]),
        )
        for kind, name, change in (
            (Kind.TOPIC, "new", {"segment.ms": "9000"}),
            (Kind.TOPIC, "new", {"segment.ms": "soon"}),
            (Kind.TOPIC, "missing", {"segment.ms": "9000"}),
            (Kind.BROKER, "1", {"log.cleaner.backoff.ms": "14000"}),
            (Kind.BROKER, "1", {"node.id": "4"}),
        )
    ),
    *(
        Call(
            "describe_configs",
            lambda a, r=resources, s=synonyms: a.describe_configs(
                [ConfigResource(*each) for each in r], include_synonyms=s
            ),
        )
        for resources in (
            [(Kind.TOPIC, "new"), (Kind.TOPIC, "orders")],
            [(Kind.TOPIC, "missing")],
            [(Kind.TOPIC, "new", {"segment.ms": None})],
            [(Kind.BROKER, "1", {"log.cleaner.backoff.ms": None})],
        )
        for synonyms in (False, True)
    ),
    Call("find_coordinator", lambda a: a.find_coordinator("done")),
    Call("find_coordinator", lambda a: a.find_coordinator("unfinished", 1)),
    Call("list_consumer_groups", lambda a: sorted(a.list_consumer_groups())),
    Call("list_consumer_groups", lambda a: sorted(a.list_consumer_groups([1]))),
    *(
        Call("describe_consumer_groups", lambda a, g=group: a.describe_consumer_groups([g]))
        for group in ("done", "live", "modern", "missing")
    ),
    Call(
        "describe_consumer_groups",
        lambda a: a.describe_consumer_groups(["done"], include_authorized_operations=True),
    ),
    *(
        Call(
            "list_consumer_group_offsets",
            lambda a, g=group, p=parts: a.list_consumer_group_offsets(g, partitions=p),
        )
        for group in ("done", "live", "modern", "missing")
        for parts in (None, [Part("orders", 0), Part("missing", 0)])
    ),
    Call("delete_topics", lambda a: a.delete_topics(["new", "missing"])),
    Call("list_topics", lambda a: sorted(a.list_topics())),
]
