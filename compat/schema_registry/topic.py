"""The topic `_schemas`: one partition, compacted, read to its end before each request.

A topic that is not there is created with the first record. One that was deleted, truncated or put
back is read anew from its start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TypeVar

from ...emulator.base.real_time import monotonic, sleep
from ...wire import Error, WireError
from ...wire import Refused as KafkaRefused
from ..wire_client.produced import NewRecord, Producing
from ..wire_client.reading import PartitionRecords, read
from ..wire_client.remote import NOT_YET
from ..wire_client.source import Source
from ..wire_client.topics import create_topic
from .errors import Refused
from .store import State

T = TypeVar("T")
NAME = "_schemas"
_READY_S = 15.0
_RETRY_S = 0.02
_BATCH_BYTES = 512 << 10
_UNKNOWN = Error.UNKNOWN_TOPIC_OR_PARTITION
_LATER = {*NOT_YET, Error.NOT_ENOUGH_REPLICAS}
_TOO_LARGE = (Error.MESSAGE_TOO_LARGE, Error.RECORD_LIST_TOO_LARGE)


class SchemasTopic:
    """`_schemas` of a Kafka, as the log of a registry."""

    def __init__(
        self,
        kafka: Source,
        name: str = NAME,
        incarnation: Callable[[], object] = lambda: None,
        patience: float = _READY_S,
    ) -> None:
        """`incarnation`: another one where what is stored may have been put back to what it was;
        `patience`: for so many seconds, what is not ready is asked again."""
        self._kafka = kafka
        self._name = name
        self._incarnation = incarnation
        self._patience = patience
        self._is_there = False
        self.is_read = self.in_turn = False
        self._of: object = None
        self._begin()

    def _begin(self) -> None:
        self._state = State()
        self._offset = 0

    @property
    def known(self) -> State:
        """The state when it was last read."""
        return self._state

    def state(self) -> State:
        """The state of its records, up to its end; within a turn it is read once. Raises
        Refused."""
        if not (self.in_turn and self.is_read):
            with self._refusals("read"):
                self._read_on()
            self.is_read = True
        return self._state

    def write(self, entries: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Append records, and wait until they are stored. Raises Refused."""
        self.is_read = False
        records = [NewRecord(value, key) for key, value in entries]
        with self._refusals("written"):
            if not self._is_there:
                self._create()
            self._patiently(partial(self._produce, records))

    def _read_on(self) -> None:
        of = self._incarnation()
        if of is not self._of:
            self._of = of
            self._begin()
        try:
            found = self._patiently(self._fetched)
            if self._offset and not found.log_start_offset <= self._offset <= found.high_watermark:
                self._begin()  # it is another one, or begins later
                found = self._patiently(self._fetched)
        except KafkaRefused as refused:
            if refused.error is not _UNKNOWN:
                raise
            self._is_there = False
            self._begin()
            return
        self._is_there = True
        for record in found.records:
            self._state.replay(record.key, record.value, record.timestamp)
        self._offset = max(found.high_watermark, 0)

    def _fetched(self) -> PartitionRecords:
        return read(self._kafka, self._name, [0], {0: self._offset})[0]

    def _create(self) -> None:
        """Create the topic, or learn that it is there."""
        try:
            create_topic(self._kafka, self._name, 1, {"cleanup.policy": "compact"})
        except KafkaRefused as refused:
            if refused.error is not Error.TOPIC_ALREADY_EXISTS:
                raise
        self._is_there = True

    def _produce(self, records: list[NewRecord]) -> None:
        try:
            Producing(self._kafka, self._name, 1, _BATCH_BYTES).send(records)
        except KafkaRefused as refused:
            if refused.error is not _UNKNOWN:
                raise
            self._create()  # who creates it is ready a moment later
            raise KafkaRefused(Error.LEADER_NOT_AVAILABLE, self._name) from None

    def _patiently(self, action: Callable[[], T]) -> T:
        deadline = monotonic() + self._patience
        while True:
            try:
                return action()
            except KafkaRefused as refused:
                if refused.error not in _LATER or monotonic() > deadline:
                    raise
            sleep(_RETRY_S)

    @contextmanager
    def _refusals(self, done: str) -> Iterator[None]:
        """Raises as the registry's own what a Kafka refuses."""
        try:
            yield
        except KafkaRefused as refused:
            if refused.error in _TOO_LARGE:
                raise Refused("too_large", "Write failed because schema is too large") from None
            name = "timed_out" if refused.error in _LATER else "no_store"
            text = f"{self._name} cannot be {done}: {refused.error.name}"
            raise Refused(name, text) from None
        except (OSError, RuntimeError, WireError) as error:
            raise Refused("no_store", f"Error while accessing the Kafka store: {error}") from None


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
