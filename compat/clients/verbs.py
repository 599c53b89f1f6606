"""The verbs that all clients have in common, and the records they send and deliver.

Every verb ends: what lasts longer than `TIMEOUT_S` raises, TimeoutError or the client's own. Left
out: serializers, callbacks, security, and everything asynchronous: verbs block.
"""

from __future__ import annotations

import copy
import importlib.metadata
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, NamedTuple, Self

from ..unavailable import Unavailable
from .time_limits import TIMEOUT_S, wait_until

BROKERS_DEFAULT = -1
"""As many replicas of a new topic as `default.replication.factor` says. With one alone it has no
leader while its broker is down, and a transaction that ends then leaves no marker there."""
SESSION_TIMEOUT_MS = 10_000
HEARTBEAT_MS = 500  # a member learns of a rebalance by its heartbeat; 3 s is the usual default

Acks = Literal[0, 1, "all"]
Codec = Literal["gzip", "snappy", "lz4", "zstd"]
Isolation = Literal["read_uncommitted", "read_committed"]
Headers = tuple[tuple[str, bytes | None], ...]


class NewRecord(NamedTuple):
    """A record to produce. The timestamp is in ms; None leaves it to the client."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp: int | None = None


class Record(NamedTuple):
    """A record as a client delivered it; the timestamp is in ms since the epoch."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class Consumer(ABC):
    """A running consumer of one topic. A group member where it has a group. Not thread-safe."""

    def __enter__(self) -> Consumer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def poll(self, seconds: float, max_records: int = 500) -> list[Record]:
        """Return records as soon as there are any, none after that time."""

    @abstractmethod
    def positions(self) -> dict[int, int]:
        """Return the next offset of each partition assigned now; -1 where it is not known yet."""

    @abstractmethod
    def commit(self) -> None:
        """Commit the positions and wait for the answer."""

    @abstractmethod
    def close(self) -> None:
        """Leave the group and close, without a commit."""


class Client(ABC):
    """One client library. `bootstrap` is "host:port"; partitions and offsets are plain ints."""

    name: ClassVar[str]
    sends_null_header_values: ClassVar[bool] = True
    keeps_empty: ClassVar[bool] = True  # whether what is empty does not become null
    poll_s: ClassVar[float] = 0.2  # how long one poll in a loop should wait
    protocols: ClassVar[tuple[str, ...]] = ("classic",)  # of groups
    protocol = "classic"  # the one that its consumers speak

    @property
    def version(self) -> str:
        """The installed version of the library."""
        return importlib.metadata.version(self.name)

    def speaking(self, protocol: str) -> Self:
        """This client, with consumers that speak another protocol of groups: "classic", or
        "consumer" (KIP-848). Raises Unavailable if it cannot."""
        if protocol not in self.protocols:
            raise Unavailable(f"{self.name} {self.version} does not speak {protocol!r} in groups.")
        other = copy.copy(self)
        other.protocol = protocol
        return other

    @abstractmethod
    def produce(
        self,
        bootstrap: str,
        topic: str,
        records: Iterable[NewRecord],
        *,
        acks: Acks = "all",
        compression: Codec | None = None,
        idempotent: bool = False,
        partition: int | None = None,
        transactional_id: str | None = None,
        abort: bool = False,
    ) -> list[tuple[int, int]]:
        """Produce the records with one new producer; wait for every acknowledgement.

        Returns (partition, offset) of each, in order; with acks=0 the offset is not
        known, and is -1 or meaningless.
        With `transactional_id` they are one transaction, committed, or aborted with `abort`.
        """

    @abstractmethod
    def consumer(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        from_beginning: bool = True,
        isolation: Isolation = "read_uncommitted",
    ) -> Consumer:
        """Start a consumer: a member of the group, or of no group and reading all partitions."""

    @abstractmethod
    def committed(self, bootstrap: str, group: str, topic: str) -> dict[int, int]:
        """Return what the group has committed, by partition; others are absent."""

    @abstractmethod
    def list_topics(self, bootstrap: str) -> set[str]:
        """Return the names of all topics (internal ones may be among them)."""

    @abstractmethod
    def partitions(self, bootstrap: str, topic: str) -> list[int]:
        """Return the partitions of an existing topic, in order."""

    @abstractmethod
    def end_offsets(self, bootstrap: str, topic: str) -> dict[int, int]:
        """Return the offset the next record would get, by partition."""

    @abstractmethod
    def offsets_for_time(
        self, bootstrap: str, topic: str, timestamp_ms: int
    ) -> dict[int, int | None]:
        """Return the offset of the first record at or after that time, by partition."""

    @abstractmethod
    def _create_topic(
        self, bootstrap: str, topic: str, partitions: int, configs: dict[str, str]
    ) -> None: ...

    @abstractmethod
    def _delete_topic(self, bootstrap: str, topic: str) -> None: ...

    def create_topic(
        self,
        bootstrap: str,
        topic: str,
        partitions: int = 1,
        configs: dict[str, str] | None = None,
    ) -> None:
        """Create a topic of one replica; return when it is listed, which may be a little later."""
        self._create_topic(bootstrap, topic, partitions, configs or {})
        wait_until(lambda: topic in self.list_topics(bootstrap), f"{topic} is listed")

    def delete_topic(self, bootstrap: str, topic: str) -> None:
        """Delete a topic; return when it is no longer listed."""
        self._delete_topic(bootstrap, topic)
        wait_until(lambda: topic not in self.list_topics(bootstrap), f"{topic} is gone")

    def _read_ends(self, bootstrap: str, topic: str, isolation: Isolation) -> dict[int, int]:
        """The positions that a reader of each partition comes to at its end."""
        return self.end_offsets(bootstrap, topic)

    def consume(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str | None = None,
        count: int | None = None,
        from_beginning: bool = True,
        isolation: Isolation = "read_uncommitted",
        commit: bool = True,
        timeout_s: float = TIMEOUT_S,
    ) -> list[Record]:
        """Read `count` records, or up to the present end of the topic, with one new consumer.

        A group member reads the partitions it is given, and commits at the end unless asked not
        to. The end is the high watermark, which an open transaction keeps from being reached.
        Raises TimeoutError.
        """
        ends = self._read_ends(bootstrap, topic, isolation) if count is None else {}
        records: list[Record] = []
        deadline = time.monotonic() + timeout_s
        with self.consumer(
            bootstrap, topic, group=group, from_beginning=from_beginning, isolation=isolation
        ) as consumer:
            while not (_at_end(consumer, ends) if count is None else len(records) >= count):
                if time.monotonic() > deadline:
                    wanted = f"of {count}" if count is not None else f"before the end {ends}"
                    raise TimeoutError(
                        f"{self.name} read {len(records)} records {wanted} of {topic}"
                    )
                records += consumer.poll(
                    self.poll_s, 500 if count is None else count - len(records)
                )
            if commit and group is not None:
                consumer.commit()
        return records


def headers_of(pairs: Sequence[tuple[str, bytes | None]] | None) -> Headers:
    """Return a client's list of headers, or its None, as a tuple."""
    return tuple((name, value) for name, value in pairs or ())


def _at_end(consumer: Consumer, ends: dict[int, int]) -> bool:
    positions = consumer.positions()
    return bool(positions) and all(
        offset >= ends.get(partition, 0) for partition, offset in positions.items()
    )
