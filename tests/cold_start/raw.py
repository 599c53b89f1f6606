"""The questions, as raw requests; each returns an error code."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, time
from typing import TypeAlias

from odradek.emulator.transactions.transaction import Producer
from odradek.wire import Error
from odradek.wire.api.create_partitions import CreatePartitionsRequest
from odradek.wire.api.create_topics import CreateTopicsRequest
from odradek.wire.api.delete_topics import DeleteTopicsRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest

from tests.cold_start.until import Sight, until_success
from tests.requests.committed_offsets import commit as commit_offset
from tests.requests.fetch import fetch as fetch_from
from tests.requests.groups import join_request
from tests.requests.offsets import look_up
from tests.requests.produce import batch, produce_request
from tests.requests.produce import produce as produce_to
from tests.requests.topics import new_topic
from tests.requests.transactions import (
    NOBODY,
    add_request,
    end_request,
    init_request,
    txn_commit_request,
)
from tests.support.connection import Connection

GROUP, TRANSACTION = 0, 1
Ask: TypeAlias = Callable[[Connection, str], int]


def now_ms() -> int:
    """The time of records."""
    return int(time() * 1000)


def find(connection: Connection, key: str, kind: int) -> int:
    look = FindCoordinatorRequest(coordinator_keys=[key], key_type=kind)
    return int(connection.ask(look, 4).coordinators[0].error_code)


def join(connection: Connection, group: str) -> int:
    return int(connection.ask(join_request(group_id=group), 3).error_code)


def commit(connection: Connection, group: str) -> int:
    return commit_offset(connection, 1, group=group)


def init(connection: Connection, name: str) -> int:
    return int(connection.ask(init_request(name), 4).error_code)


def create(connection: Connection, topic: str, partitions: int = 1) -> int:
    answer = connection.ask(CreateTopicsRequest(topics=[new_topic(topic, partitions)]), 7)
    return int(answer.topics[0].error_code)


def delete(connection: Connection, topic: str) -> int:
    answer = connection.ask(DeleteTopicsRequest(topic_names=[topic], timeout_ms=10_000), 5)
    return int(answer.responses[0].error_code)


def grow(connection: Connection, topic: str, count: int) -> int:
    Topic = CreatePartitionsRequest.Topic
    topics = [Topic(name=topic, count=count, assignments=None)]
    asked_for = CreatePartitionsRequest(topics=topics, timeout_ms=10_000, validate_only=False)
    return int(connection.ask(asked_for, 3).results[0].error_code)


def produce(connection: Connection, topic: str, partition: int = 0, acks: int = -1) -> int:
    data = batch(b"x", time=now_ms())
    return produce_to(connection, data, topic=topic, partition=partition, acks=acks).error_code


def fetch(connection: Connection, topic: str) -> int:
    return fetch_from(connection, topic=topic).error_code


def list_offsets(connection: Connection, topic: str) -> int:
    return look_up(connection, -1, topic=topic).error_code


def metadata(connection: Connection, topic: str, creates: bool = False) -> int:
    request = MetadataRequest(
        topics=[MetadataRequest.Topic(name=topic)], allow_auto_topic_creation=creates
    )
    found = connection.ask(request, 9).topics[0]
    return int(found.error_code or max(each.error_code for each in found.partitions))


DATA: dict[str, Ask] = {
    "Produce": produce,
    "Fetch": fetch,
    "ListOffsets": list_offsets,
    "Metadata": metadata,
}


def after_creation(bootstrap: str, name: str, ask: Ask, partitions: int = 1) -> Sight:
    """From CreateTopics' answer on, over another connection."""
    with Connection(bootstrap) as one, Connection(bootstrap) as other:
        metadata(other, "no-such-topic")
        assert create(one, name, partitions) == 0
        return until_success(lambda: ask(other, name))


def after_auto_creation(bootstrap: str, name: str, ask: Ask) -> Sight:
    """From the Metadata request that creates a topic."""
    with Connection(bootstrap) as one:
        since = perf_counter()
        metadata(one, name, creates=True)
        return until_success(lambda: ask(one, name), since)


def after_growth(bootstrap: str, name: str) -> Sight:
    """From CreatePartitions' answer on: Produce to the new partition."""
    with Connection(bootstrap) as one:
        create(one, name)
        until_success(lambda: produce(one, name))
        assert grow(one, name, 2) == 0
        return until_success(lambda: produce(one, name, 1))


def after_deletion(bootstrap: str, name: str, ask: Ask) -> Sight:
    """From DeleteTopics' answer until the topic is refused: what is seen is how long it is not."""
    with Connection(bootstrap) as one:
        create(one, name)
        until_success(lambda: produce(one, name))
        assert delete(one, name) == 0
        return until_success(
            lambda: 0 if ask(one, name) == Error.UNKNOWN_TOPIC_OR_PARTITION else -1
        )


class Txn:
    """A transactional producer of generation 1 or 2 on one connection, to partition 0 of t."""

    def __init__(self, connection: Connection, name: str, generation: int) -> None:
        self.connection, self.name, self.generation = connection, name, generation
        until_success(lambda: find(connection, name, TRANSACTION))
        self.who, self.sequence = NOBODY, 0
        until_success(self.init)

    def init(self) -> int:
        answer = self.connection.ask(init_request(self.name), 4)
        return self._becomes(answer)

    def add(self) -> int:
        answer = self.connection.ask(add_request(self.who, [("t", [0])], self.name), 3)
        (topic,) = answer.results_by_topic_v3_and_below
        return int(topic.results_by_partition[0].partition_error_code)

    def write(self) -> int:
        data = batch(
            b"x",
            time=now_ms(),
            producer_id=self.who.producer_id,
            producer_epoch=self.who.epoch,
            base_sequence=self.sequence,
            transactional=True,
        )
        version = 12 if self.generation == 2 else 11
        answer = self.connection.ask(produce_request(data, transactional_id=self.name), version)
        found = answer.responses[0].partition_responses[0]
        self.sequence += not found.error_code
        return int(found.error_code)

    def commit_offset(self) -> int:
        asked_for = txn_commit_request(self.who, ("t", 0, 1), group=self.name, name=self.name)
        return int(self.connection.ask(asked_for, 5).topics[0].partitions[0].error_code)

    def end(self, commit: bool = True) -> int:
        version = 5 if self.generation == 2 else 4
        answer = self.connection.ask(end_request(self.who, commit, self.name), version)
        return self._becomes(answer) if version == 5 else int(answer.error_code)

    def abort(self) -> int:
        return self.end(commit=False)

    def take_one_through(self, commit: bool = True) -> None:
        """A transaction of one record, until its end is answered."""
        if self.generation == 1:
            until_success(self.add)
        until_success(self.write)
        until_success(lambda: self.end(commit))

    def _becomes(self, answer: object) -> int:
        """The producer of the next transaction, as an answer names it."""
        error = int(answer.error_code)  # type: ignore[attr-defined]
        if not error:
            named = Producer(answer.producer_id, answer.producer_epoch)  # type: ignore[attr-defined]
            if named != self.who:
                self.who, self.sequence = named, 0
        return error
