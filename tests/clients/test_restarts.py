"""A broker is stopped and started again on its directory: nothing is lost, nothing comes twice.

Clients that live through the restart find the broker at its old port. What is asserted holds on any
machine, however slow: records are produced when the shares of a group are settled, because a
rebalance rightly delivers again what was not committed yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

import pytest
from odradek.compat import Client, Consumer, NewRecord, Record
from odradek.compat.clients import wait_until
from odradek.compat.clients.member import Member, together
from odradek.wire import Error
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_groups import DescribeGroupsRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest

from tests.clients.support.broker_process import Served
from tests.requests.offsets import delete_before, look_up
from tests.requests.produce import produce_numbered
from tests.requests.transactions import new_producer_id
from tests.support.connection import BrokerAt, ask

pytestmark = [pytest.mark.client, pytest.mark.slow]

PARTITIONS = 12
TIMEOUT_S = 90.0

T = TypeVar("T")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A broker on a port and a directory that it keeps."""
    with Served(tmp_path / "data", {"group.initial.rebalance.delay.ms": "0"}) as served:
        yield served


def numbered(start: int, stop: int) -> list[NewRecord]:
    """Records with a number as value, of keys enough for every partition."""
    return [NewRecord(b"%d" % n, b"key %d" % (n % 97)) for n in range(start, stop)]


def members(client: Client, served: Served, count: int = 4) -> list[Member]:
    return [Member(client, served.bootstrap_servers, "t", "g") for _ in range(count)]


def await_shares(members: Sequence[Member]) -> None:
    """Wait until the members have three partitions each, and stand somewhere in all of them."""

    def are_settled() -> bool:
        shares = [dict(member.positions) for member in members]
        partitions = sorted(partition for share in shares for partition in share)
        return (
            [len(share) for share in shares] == [3, 3, 3, 3]
            and partitions == list(range(PARTITIONS))
            and all(offset >= 0 for share in shares for offset in share.values())
        )

    wait_until(are_settled, "four members have three partitions each", TIMEOUT_S)


def await_end(members: Sequence[Member], ends: dict[int, int]) -> None:
    """Wait until the members have read everything."""

    def are_there() -> bool:
        positions: dict[int, int] = {}
        for member in members:
            positions |= member.positions
        return positions == ends

    wait_until(are_there, f"the members stand at {ends}", TIMEOUT_S)


def await_commits(client: Client, address: str, ends: dict[int, int]) -> None:
    wait_until(
        lambda: client.committed(address, "g", "t") == ends, f"{ends} are committed", TIMEOUT_S
    )


def read(members: Sequence[Member]) -> list[tuple[int, int, bytes | None]]:
    return sorted((r.partition, r.offset, r.value) for member in members for r in member.seen)


def at(places: list[tuple[int, int]], sent: list[NewRecord]) -> list[tuple[int, int, bytes | None]]:
    return sorted((*place, new.value) for place, new in zip(places, sent, strict=True))


def test_four_members_and_their_broker_restart_and_read_each_record_once(
    client: Client, served: Served
) -> None:
    address = served.bootstrap_servers
    client.create_topic(address, "t", PARTITIONS)
    expected = []
    for start in (0, 1200):
        group = members(client, served)
        sent = numbered(start, start + 1200)
        with together(group):
            await_shares(group)
            expected = at(client.produce(address, "t", sent), sent)
            ends = client.end_offsets(address, "t")
            await_end(group, ends)
        assert read(group) == expected, f"the records from {start} on"
        assert client.committed(address, "g", "t") == ends

        served.restart()

        assert served.bootstrap_servers == address
        assert client.end_offsets(address, "t") == ends
        assert client.committed(address, "g", "t") == ends


def test_a_group_goes_on_in_the_middle_of_the_log(client: Client, served: Served) -> None:
    address = served.bootstrap_servers
    client.create_topic(address, "t", PARTITIONS)
    sent = numbered(0, 600)
    expected = at(client.produce(address, "t", sent), sent)
    seen: list[Record] = []
    for _ in range(2):
        seen += client.consume(address, "t", group="g", count=300)
        committed = client.committed(address, "g", "t")
        assert sum(committed.values()) == len(seen)
        served.restart()
        assert client.committed(address, "g", "t") == committed
    assert sorted((r.partition, r.offset, r.value) for r in seen) == expected


class Patient(Consumer):
    """A consumer that is asked again when it says that this helps.

    While the broker is away, kafka-python raises from poll what others keep to themselves.
    """

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    def poll(self, seconds: float, max_records: int = 500) -> list[Record]:
        return self._patiently(lambda: self._consumer.poll(seconds, max_records))

    def positions(self) -> dict[int, int]:
        return self._consumer.positions()

    def commit(self) -> None:
        self._patiently(self._consumer.commit)

    def close(self) -> None:
        self._consumer.close()

    def _patiently(self, ask: Callable[[], T]) -> T:
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return ask()
            except Exception as error:
                if not getattr(error, "retriable", False) or time.monotonic() > deadline:
                    raise


def patient(client: Client) -> Client:
    """The client, with patient consumers."""
    patient = copy(client)
    patient.consumer = lambda *args, **options: Patient(  # type: ignore[method-assign]
        client.consumer(*args, **options)
    )
    return patient


def test_a_group_that_lives_through_a_restart_reads_each_record_once(
    client: Client, served: Served
) -> None:
    address = served.bootstrap_servers
    client.create_topic(address, "t", PARTITIONS)
    group = members(patient(client), served)
    expected = []
    with together(group):
        await_shares(group)
        for start in (0, 1200):
            if start:
                served.restart()
            sent = numbered(start, start + 1200)
            expected += at(client.produce(address, "t", sent), sent)
            ends = client.end_offsets(address, "t")
            await_end(group, ends)
            await_commits(client, address, ends)
    assert read(group) == sorted(expected)


def description(served: Served) -> Any:
    answer = ask(served.bootstrap_servers, DescribeGroupsRequest(groups=["g"]), 5)
    return answer.groups[0]


def test_members_do_not_notice_a_restart(served: Served) -> None:
    confluent = pytest.importorskip("confluent_kafka")
    assigned: list[int] = []
    consumer = confluent.Consumer(
        {
            "bootstrap.servers": served.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 120_000,
            "heartbeat.interval.ms": 200,
        }
    )
    producer = confluent.Producer({"bootstrap.servers": served.bootstrap_servers})
    producer.produce("t", b"before")
    assert producer.flush(TIMEOUT_S) == 0
    consumer.subscribe(["t"], on_assign=lambda _, partitions: assigned.append(len(partitions)))
    assert next_value(consumer) == b"before"
    consumer.commit(asynchronous=False)
    before = description(served)
    assert (before.group_state, len(before.members)) == ("Stable", 1)

    served.restart()
    assert description(served) == before
    producer.produce("t", b"after")
    assert producer.flush(TIMEOUT_S) == 0
    assert next_value(consumer) == b"after"
    consumer.commit(asynchronous=False)  # in the generation of before

    assert description(served) == before
    assert assigned == [1], "there was a rebalance"
    consumer.close()


def next_value(consumer: Any) -> bytes:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        message = consumer.poll(1.0)
        if message is not None and message.error() is None:
            return bytes(message.value())
    raise TimeoutError("no record came")


def test_topics_configs_and_ids_are_the_same_after_a_restart(
    any_client: Client, served: Served
) -> None:
    address = served.bootstrap_servers
    any_client.create_topic(address, "plain", 3)
    configs = {"cleanup.policy": "compact", "segment.bytes": "1048576", "retention.ms": "3600000"}
    any_client.create_topic(address, "configured", 2, configs)
    for _ in range(2):  # the second is another topic of the same name
        if "again" in any_client.list_topics(address):
            any_client.delete_topic(address, "again")
        any_client.create_topic(address, "again", 1)
        any_client.produce(address, "again", numbered(0, 10))
    any_client.create_topic(address, "gone", 1)
    any_client.delete_topic(address, "gone")
    any_client.consume(address, "again", group="g", count=10)
    assert delete_before(BrokerAt(address), 4, "again") == 4

    before = everything(address)
    names = {topic[0] for topic in before["topics"]}
    assert names == {"plain", "configured", "again", "__consumer_offsets"}
    assert before["offsets"] == {-2: 4, -1: 10}

    for _ in range(2):
        served.restart()
        assert everything(address) == before
    assert before["described"]["configured"].items() >= configs.items()
    records = any_client.consume(address, "again")
    assert [(r.offset, r.value) for r in records] == [(n, b"%d" % n) for n in range(4, 10)]


def everything(address: str) -> dict[str, Any]:
    """What a client can ask of a cluster. Leader epochs may rise at a restart."""
    metadata = ask(address, MetadataRequest(topics=None), 12)
    topics = [
        (
            t.name,
            t.topic_id,
            t.is_internal,
            [(p.partition_index, p.leader_id) for p in t.partitions],
        )
        for t in metadata.topics
    ]
    resources = [
        DescribeConfigsRequest.Resource(
            resource_type=2, resource_name=topic[0], configuration_keys=None
        )
        for topic in topics
    ]
    described = ask(address, DescribeConfigsRequest(resources=resources, include_synonyms=True), 4)
    group = OffsetFetchRequest.Group(group_id="g", topics=None)
    return {
        "cluster": metadata.cluster_id,
        "brokers": metadata.brokers,
        "topics": topics,
        "configs": described.results,
        "described": {
            result.resource_name: {config.name: config.value for config in result.configs}
            for result in described.results
        },
        "committed": ask(address, OffsetFetchRequest(groups=[group]), 8).groups,
        "offsets": {
            when: look_up(BrokerAt(address), when, topic="again").offset for when in (-2, -1)
        },
    }


def leaders(topic: Any) -> list[tuple[int, int, list[int]]]:
    return [(p.partition_index, p.leader_id, p.replica_nodes) for p in topic.partitions]


def test_the_sequence_of_an_idempotent_producer_survives(
    any_client: Client, served: Served
) -> None:
    address = served.bootstrap_servers
    any_client.create_topic(address, "t", 1)
    producer_id = new_producer_id(BrokerAt(address))
    assert produce_numbered(BrokerAt(address), producer_id, 0, [b"a", b"b"]) == (Error.NONE, 0)
    assert produce_numbered(BrokerAt(address), producer_id, 2, [b"c"]) == (Error.NONE, 2)

    for _ in range(2):
        served.restart()
        assert produce_numbered(BrokerAt(address), producer_id, 2, [b"c"]) == (Error.NONE, 2), (
            "the same once more"
        )
        assert (
            produce_numbered(BrokerAt(address), producer_id, 4, [b"x"])[0]
            == Error.OUT_OF_ORDER_SEQUENCE_NUMBER
        )
    assert produce_numbered(BrokerAt(address), producer_id, 3, [b"d"]) == (Error.NONE, 3)
    assert [r.value for r in any_client.consume(address, "t")] == [b"a", b"b", b"c", b"d"]
    assert new_producer_id(BrokerAt(address)) > producer_id
