"""Everything that a broker shows of its data to who asks for it: a plain value, to be compared.

Two brokers that were given one directory must show the same. What may differ is left out: leaders
and their newest epoch (each start raises it), and configs that the topic does not set itself.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from odradek.wire import Error
from odradek.wire.api.describe_configs import DescribeConfigsRequest
from odradek.wire.api.describe_producers import DescribeProducersRequest
from odradek.wire.api.find_coordinator import FindCoordinatorRequest
from odradek.wire.api.metadata import MetadataRequest
from odradek.wire.api.offset_fetch import OffsetFetchRequest
from odradek.wire.batch import batches
from odradek.wire.records import read_records

from tests.requests.fetch import asked, fetch_request, only
from tests.requests.offsets import epoch_end, look_up
from tests.support.connection import TIMEOUT_S, Connection

EARLIEST, LATEST, LARGEST = -2, -1, -3
UNCOMMITTED, COMMITTED = 0, 1
INTERNAL = ("__consumer_offsets", "__transaction_state")
_CHUNK = 1 << 20
_TIMES = 40  # look-ups by time for each partition
_SET_BY_TOPIC = 1
_LONG_AGO_MS = 1_750_000_000_000
_NOT_YET = (
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.NOT_COORDINATOR,
)

Batches = dict[int, bytes]  # by base offset
Found = tuple[int, int, int]  # offset, timestamp, leader epoch


@dataclass
class Partition:
    batches: Batches
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: set[tuple[int, int]]
    """Producer id and first offset of the transactions that a read_committed consumer skips."""
    producers: set[tuple[int, ...]]
    """Id, epoch, last sequence, last time, coordinator epoch, start of the open transaction. Those
    are left out whose time has long come: when they are forgotten depends on starts."""
    offsets: dict[tuple[int, int], int]
    """By isolation level and one of EARLIEST, LATEST."""
    times: dict[int, Found]
    """What look-ups by time find, LARGEST among them."""
    epochs: list[tuple[int, int]]
    """The answer for each leader epoch up to that of the last batch."""


@dataclass
class Topic:
    topic_id: bytes
    is_internal: bool
    configs: dict[str, str | None]
    partitions: dict[int, Partition] = field(default_factory=dict)


@dataclass
class Shown:
    """Everything. Groups: what they have committed, by topic and partition."""

    cluster_id: str
    topics: dict[str, Topic]
    groups: dict[str, dict[tuple[str, int], tuple[int, int, str]]]


def everything(address: str, groups: Iterable[str]) -> Shown:
    """Ask a broker for all of it. Internal topics are looked at from outside only."""
    with Connection(address) as connection:
        metadata = connection.ask(MetadataRequest(topics=None), 12)
        topics = {}
        for found in sorted(metadata.topics, key=lambda topic: topic.name):
            topic = Topic(found.topic_id, found.is_internal, _configs(connection, found.name))
            for index in sorted(p.partition_index for p in found.partitions):
                if found.name not in INTERNAL:
                    topic.partitions[index] = _partition(connection, found.name, index)
            topics[found.name] = topic
        committed = {group: _committed(connection, group) for group in groups}
        return Shown(metadata.cluster_id, topics, committed)


def _partition(connection: Connection, topic: str, index: int) -> Partition:
    found, answers = _read(connection, topic, index, UNCOMMITTED)
    _, committed = _read(connection, topic, index, COMMITTED)
    aborted = (each for answer in committed for each in answer.aborted_transactions or ())
    headers = [header for data in found.values() for _, header in batches(data)]
    newest = max((header.leader_epoch for header in headers), default=-1)
    return Partition(
        batches=found,
        high_watermark=answers[-1].high_watermark,
        last_stable_offset=answers[-1].last_stable_offset,
        log_start_offset=answers[-1].log_start_offset,
        aborted={(each.producer_id, each.first_offset) for each in aborted},
        producers=_producers(connection, topic, index),
        offsets={
            (isolation, which): _offset(connection, topic, index, which, isolation)[0]
            for isolation in (UNCOMMITTED, COMMITTED)
            for which in (EARLIEST, LATEST)
        },
        times={when: _offset(connection, topic, index, when) for when in _times(found)},
        epochs=[_end_of_epoch(connection, topic, index, epoch) for epoch in range(newest + 1)],
    )


def _producers(connection: Connection, topic: str, index: int) -> set[tuple[int, ...]]:
    asked = DescribeProducersRequest.Topic(name=topic, partition_indexes=[index])
    request = DescribeProducersRequest(topics=[asked])
    found = _once_ready(lambda: connection.ask(request, 0).topics[0].partitions[0])
    assert found.error_code == Error.NONE, (topic, index, Error(found.error_code))
    return {
        (
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            each.last_timestamp,
            each.coordinator_epoch,
            each.current_txn_start_offset,
        )
        for each in found.active_producers
        if each.last_timestamp > _LONG_AGO_MS
    }


def _read(
    connection: Connection, topic: str, index: int, isolation: int
) -> tuple[Batches, list[Any]]:
    """All batches, and the answers they came in (at least one)."""
    found: Batches = {}
    answers = []
    offset = _offset(connection, topic, index, EARLIEST)[0]
    while True:
        request = fetch_request(
            asked(index, offset, _CHUNK), topic=topic, min_bytes=0, isolation_level=isolation
        )
        answer = only(connection.ask(request, 12))
        assert answer.error_code == Error.NONE, (topic, index, offset, Error(answer.error_code))
        answers.append(answer)
        records = answer.records or b""
        for position, header in batches(records):
            found[header.base_offset] = bytes(records[position : position + header.size])
            offset = header.last_offset + 1
        if not records:
            return found, answers


def _times(found: Batches) -> Iterator[int]:
    """Times to look for: around those of some records, and the ends of time."""
    yield from (LARGEST, 0, 1 << 62)
    step = max(1, len(found) * 3 // _TIMES)
    for data in itertools.islice(found.values(), 0, None, step):
        records = read_records(data) if not next(batches(data))[1].is_control else []
        for record in records[:1]:
            yield from (record.timestamp - 1, record.timestamp, record.timestamp + 1)


def _offset(
    connection: Connection, topic: str, index: int, when: int, isolation: int = UNCOMMITTED
) -> Found:
    found = _once_ready(
        lambda: look_up(connection, when, topic=topic, partition=index, isolation=isolation)
    )
    assert found.error_code == Error.NONE, (topic, index, when, Error(found.error_code))
    return found.offset, found.timestamp, found.leader_epoch


def _once_ready(ask: Callable[[], Any]) -> Any:
    """The answer, as soon as a broker that has just started gives it."""
    deadline = time.monotonic() + TIMEOUT_S
    while (answer := ask()).error_code in _NOT_YET and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


def _end_of_epoch(connection: Connection, topic: str, index: int, epoch: int) -> tuple[int, int]:
    found = epoch_end(connection, epoch, topic=topic, partition=index)
    assert found.error_code == Error.NONE, (topic, index, epoch, Error(found.error_code))
    return found.leader_epoch, found.end_offset


def _configs(connection: Connection, topic: str) -> dict[str, str | None]:
    resource = DescribeConfigsRequest.Resource(
        resource_type=2, resource_name=topic, configuration_keys=None
    )
    answer = connection.ask(DescribeConfigsRequest(resources=[resource]), 4)
    [result] = answer.results
    return {each.name: each.value for each in result.configs if each.config_source == _SET_BY_TOPIC}


def _committed(connection: Connection, group: str) -> dict[tuple[str, int], tuple[int, int, str]]:
    connection.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]), 4)
    wanted = OffsetFetchRequest.Group(group_id=group, topics=None)
    request = OffsetFetchRequest(groups=[wanted])
    answer = _once_ready(lambda: connection.ask(request, 8).groups[0])
    assert answer.error_code == Error.NONE, Error(answer.error_code)
    return {
        (topic.name, p.partition_index): (
            p.committed_offset,
            p.committed_leader_epoch,
            p.metadata or "",
        )
        for topic in answer.topics
        for p in topic.partitions
    }


def differences(left: Any, right: Any, path: str = "") -> Iterator[str]:
    """Where two of these differ, one line each; huge values are cut."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(set(left) | set(right), key=repr):
            missing = object()
            yield from differences(left.get(key, missing), right.get(key, missing), f"{path}/{key}")
    elif hasattr(left, "__dict__") and hasattr(right, "__dict__"):
        yield from differences(vars(left), vars(right), path)
    elif left != right:
        yield f"{path}: {_short(left)} and {_short(right)}"


def _short(value: Any) -> str:
    return repr(value)[:200]
