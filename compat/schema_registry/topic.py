"""The topic `_schemas`: one partition, compacted, read to its end before each request.

A topic that is not there is created with the first record. One that was deleted, truncated or put
back is read anew from its start.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any, Protocol

from ...emulator.base.real_time import monotonic, sleep, wall_time
from ...wire import Error, Request
from ...wire.api.create_topics import CreateTopicsRequest
from ...wire.api.fetch import FetchRequest
from ...wire.api.metadata import MetadataRequest
from ...wire.api.produce import ProduceRequest
from ...wire.batch import batches
from ...wire.records import NewRecord, build_batch, read_records
from .errors import Refused
from .store import State

NAME = "_schemas"
_METADATA, _FETCH, _PRODUCE, _CREATE = 5, 11, 8, 4  # by name, and served by each Kafka since 2.3
_CHUNK = 4 << 20
_ALL_REPLICAS = -1
_TIMEOUT_MS = 30_000
_READY_S = 15.0
_RETRY_S = 0.02
_BATCH = 500
_GONE = (Error.UNKNOWN_TOPIC_OR_PARTITION, Error.OFFSET_OUT_OF_RANGE)
_MOVING = (
    Error.LEADER_NOT_AVAILABLE,
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.NOT_ENOUGH_REPLICAS,
    Error.UNKNOWN_LEADER_EPOCH,
    Error.FENCED_LEADER_EPOCH,
)


class Cluster(Protocol):
    """A Kafka: whom a request goes to is its business."""

    @property
    def incarnation(self) -> object:
        """Another one where what is stored may have been put back to what it was."""

    def ask(self, request: Request, version: int) -> Any:
        """The answer of the leader, or the controller. Raises ConnectionError,
        wire.Refused."""


class SchemasTopic:
    """`_schemas` of a cluster, as the log of a registry."""

    def __init__(self, cluster: Cluster, name: str = NAME) -> None:
        self._cluster = cluster
        self._name = name
        self._is_there = False
        self.is_read = self.in_turn = False
        self._begin()

    def _begin(self) -> None:
        self._state = State()
        self._offset = 0
        self._of = self._cluster.incarnation  # of whose records this is the state

    @property
    def known(self) -> State:
        """What it said when it was last read."""
        return self._state

    def state(self) -> State:
        """What its records say, up to its end; within a turn it is read once. Raises Refused."""
        if self.in_turn and self.is_read:
            return self._state
        found = self._up_to_date()
        self.is_read = True
        return found

    def _up_to_date(self) -> State:
        try:
            if self._cluster.incarnation != self._of:
                self._begin()
        except RuntimeError as down:
            raise Refused("no_store", f"Error while accessing the Kafka store: {down}") from None
        deadline = monotonic() + _READY_S
        while True:
            found = self._fetched()
            error = Error(found.error_code)
            if error in _GONE:
                if not self._offset:
                    self._is_there = False
                    return self._state
                self._begin()
            elif error in _MOVING:
                self._wait(deadline, error)
            elif error:
                raise Refused("no_store", f"{self._name} cannot be read: {error.name}")
            elif self._take(found):
                return self._state

    def write(self, entries: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Append records, and wait until they are stored. Raises Refused."""
        self.is_read = False
        if not self._is_there:
            self._create()
        now = int(wall_time() * 1000)
        records = [NewRecord(now, key, value) for key, value in entries]
        for start in range(0, len(records), _BATCH):
            self._produce(build_batch(records[start : start + _BATCH]))

    def _fetched(self) -> Any:
        entry = FetchRequest.Topic.Partition
        asked = entry(partition=0, fetch_offset=self._offset, partition_max_bytes=_CHUNK)
        topics = [FetchRequest.Topic(topic=self._name, partitions=[asked])]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=_CHUNK, topics=topics)
        return self._ask(request, _FETCH).responses[0].partitions[0]

    def _take(self, found: Any) -> bool:
        """Replay what was read; whether that is all there is."""
        data = found.records or b""
        start = self._offset
        for at, header in batches(data):
            if not header.is_control:
                for record in read_records(data, at):
                    if record.offset >= start:
                        self._state.replay(record.key, record.value, record.timestamp)
            self._offset = max(self._offset, header.last_offset + 1)
        self._is_there = True
        return self._offset >= found.high_watermark or not data

    def _create(self) -> None:
        """Create the topic, or learn that it is there, and wait until it has a leader."""
        entry = CreateTopicsRequest.Topic
        config = entry.Config(name="cleanup.policy", value="compact")
        topic = entry(
            name=self._name,
            num_partitions=1,
            replication_factor=1,
            assignments=[],
            configs=[config],
        )
        answer = self._ask(CreateTopicsRequest(topics=[topic], timeout_ms=_TIMEOUT_MS), _CREATE)
        code = Error(answer.topics[0].error_code)
        if code not in (Error.NONE, Error.TOPIC_ALREADY_EXISTS):
            raise Refused("no_store", f"{self._name} cannot be created: {code.name}")
        deadline = monotonic() + _READY_S
        while True:
            asked = MetadataRequest.Topic(name=self._name)
            request = MetadataRequest(topics=[asked], allow_auto_topic_creation=False)
            (found,) = self._ask(request, _METADATA).topics
            if not found.error_code and found.partitions[0].leader_id >= 0:
                self._is_there = True
                return
            self._wait(deadline, Error(found.error_code))

    def _produce(self, batch: bytearray) -> None:
        entry = ProduceRequest.Topic.Partition(index=0, records=batch)
        topics = [ProduceRequest.Topic(name=self._name, partition_data=[entry])]
        request = ProduceRequest(acks=_ALL_REPLICAS, timeout_ms=_TIMEOUT_MS, topic_data=topics)
        deadline = monotonic() + _READY_S
        while True:
            (result,) = self._ask(request, _PRODUCE).responses[0].partition_responses
            error = Error(result.error_code)
            if not error:
                return
            if error in (Error.MESSAGE_TOO_LARGE, Error.RECORD_LIST_TOO_LARGE):
                raise Refused("too_large", "Write failed because schema is too large")
            if error is Error.UNKNOWN_TOPIC_OR_PARTITION:
                self._create()
            elif error not in _MOVING:
                raise Refused("no_store", f"{self._name} cannot be written: {error.name}")
            self._wait(deadline, error)

    def _ask(self, request: Request, version: int) -> Any:
        try:
            return self._cluster.ask(request, version)
        except ConnectionError as error:
            raise Refused("no_store", f"Error while accessing the Kafka store: {error}") from None

    def _wait(self, deadline: float, error: Error) -> None:
        if monotonic() > deadline:
            text = f"{self._name} has no leader that answers: {error.name}"
            raise Refused("timed_out", text)
        sleep(_RETRY_S)


class Turn:
    """One request at a time: `with turn:`. Within it the topic is read once, and after a write."""

    def __init__(self, topic: SchemasTopic) -> None:
        self._topic = topic
        self._lock = Lock()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._topic.in_turn, self._topic.is_read = True, False

    def __exit__(self, *_: object) -> None:
        self._topic.in_turn = False
        self._lock.release()
