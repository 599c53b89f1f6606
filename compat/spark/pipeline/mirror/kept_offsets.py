"""A cluster as a mirror's target, each record at the offset that it has in the source.

Rules:
- The end of a partition in the target is where it goes on: nothing else has to be remembered.
- A topic has a transactional id, and its producer goes on over restarts with the same id, epoch and
  sequences, which the target knows. So a request of a mirror that was killed, which comes late, and
  the same one sent again are stored once.
- Offsets without records are filled. Nothing else is written to the partition while
  the transaction is open, so its marker is at its offset whatever ends it, also if the mirror is
  killed.
- A task that writes one partition alone has the topic's producer for records, and for fillers a
  transactional id of the partition: tasks of a topic have no transaction in common.
- Every answer tells the offset of what was written. Another one than the source's means that
  somebody else writes to the topic: the mirror stops.

Source: KIP-98, KIP-664 (the producers of a partition), KIP-360.

Fillers: records that take up offsets and are never seen.

A source's log has offsets without records: of markers, of aborted transactions, of what compaction
has removed, of all before its start. No producer can skip an offset. So in the target they are
taken up by a transaction that is aborted: n offsets by n-1 records and its marker. A read_committed
consumer sees none of them; a read_uncommitted one sees the records, which have an empty key (a
compacted topic takes none without), no value and no time.

Two mirrors at a time into one topic: which refusals tell of it, and what is said then.

They use the same producer, so that one which goes on after another is known to the target. What
both send at once has the same sequences.

A cluster as a mirror's target, in which records get offsets of their own.

What was fetched is written in a transaction, together with how far the source was read: this is
committed as offsets of a group, so that both are there or neither is. A mirror that starts fences
the one before it, and goes on at the group's offsets. So nothing is lost or doubled, but markers
and a source's gaps make the offsets others.

Source: KIP-98, KIP-447.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache

from .....wire import Error
from .....wire.compression import Codec
from .....wire.records import NewRecord, build_batch
from ..broker import EARLIEST, LATEST, Cluster, Fetched, Identity, Place, Producer, offsets
from ..broker.cluster import RefusedRequest
from ..broker.coordinator import committed_offsets
from ..broker.offsets import delete_records
from ..broker.producers import next_sequences
from ..broker.transactions import Transactions, abort_unfinished
from ..errors import PipelineError
from .pieces import Piece, pieces_at_once

MOST_RECORDS = 50_000
"""In one batch: it is about 1 kB, compressed."""
_NO_TIME = -1
_WORTH_COMPRESSING = 100


def filler_batch(count: int) -> bytearray:
    return bytearray(_filler_batch(count))


@lru_cache(maxsize=64)
def _filler_batch(count: int) -> bytes:
    codec = Codec.GZIP if count >= _WORTH_COMPRESSING else Codec.NONE
    return bytes(build_batch([NewRecord(_NO_TIME, b"", None)] * count, codec=codec))


_OF_ANOTHER = frozenset(
    {
        Error.OUT_OF_ORDER_SEQUENCE_NUMBER,
        Error.DUPLICATE_SEQUENCE_NUMBER,
        Error.INVALID_PRODUCER_EPOCH,
        Error.PRODUCER_FENCED,
        Error.INVALID_TXN_STATE,
    }
)


@contextmanager
def telling_of_another(topic: str) -> Iterator[None]:
    """Say that another mirror writes to the topic, where the target refuses because of one."""
    try:
        yield
    except RefusedRequest as refused:
        if refused.error not in _OF_ANOTHER:
            raise
        raise PipelineError(
            f"topic {topic}: another mirror writes to it in the target at the same time "
            f"({refused}): end one of them; nothing is lost, the same command goes on"
        ) from refused


_POLL_S = 0.002


class KeptOffsets:
    """See above. Fills at most `fill_limit` offsets of a partition. `identity`: of a task that
    writes one partition, the topic's producer, as `identities` gave it."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        committed: bool,
        fill_limit: int,
        identity: Identity | None = None,
    ) -> None:
        self.cluster = cluster
        self._identity = identity
        self.written = self.filled = 0
        self._committed = committed
        self._limit = fill_limit
        self._filled_in: dict[Place, int] = {}
        self._ends: dict[Place, int] = {}
        self._producers: dict[str, Producer] = {}
        self._fillers: dict[str, tuple[Transactions, Producer]] = {}

    def identities(self, topics: Collection[str]) -> dict[str, Identity]:
        """The producer of each of these topics. Transactions that were left open are ended."""
        abort_unfinished(self.cluster, [_id_in(topic, "") for topic in topics])
        return {topic: Transactions(self.cluster, _id_of(topic)).go_on() for topic in topics}

    def open(self, places: list[Place]) -> dict[Place, int | None]:
        of_topics = dict(_by_topic(places))
        if self._identity is None:
            new = self.identities([topic for topic in of_topics if topic not in self._producers])
        else:
            new = dict.fromkeys(of_topics, self._identity)
            for place in places:
                Transactions(self.cluster, _id_in(*place)).abort_open()
        for topic, identity in new.items():
            self._producers[topic] = Producer(self.cluster, identity)
        for topic, mine in of_topics.items():
            producer = self._producers[topic]
            producer.sequences |= next_sequences(self.cluster, producer.identity, mine)
        firsts = offsets(self.cluster, places, EARLIEST)
        self._ends |= offsets(self.cluster, places, LATEST)
        is_empty = {place: self._ends[place] == firsts[place] == 0 for place in places}
        return {place: None if is_empty[place] else self._ends[place] for place in places}

    def start_at(self, place: Place, offset: int) -> None:
        self._fill({place: offset})
        delete_records(self.cluster, place, offset)

    def write(self, fetched: Mapping[Place, tuple[Fetched, int]]) -> None:
        for heads in pieces_at_once(fetched, committed=self._committed):
            self._fill({place: piece.offset for place, piece in heads.items()})
            self._send(heads)

    def caught_up(self, positions: Mapping[Place, int]) -> None:
        self._fill(positions)

    def close(self) -> None:
        self.cluster.close()

    def _send(self, heads: Mapping[Place, Piece]) -> None:
        for topic, places in _by_topic(heads):
            with telling_of_another(topic):
                batches = {place: heads[place].batch for place in places}
                self._append(batches, self._producers[topic])
            for place in places:
                self._ends[place] = heads[place].after
                self.written += heads[place].count

    def _append(
        self, batches: Mapping[Place, bytearray], producer: Producer, name: str | None = None
    ) -> None:
        found = producer.send(batches, transactional_id=name)
        for place, offset in found.items():
            self._check(place, offset)

    def _check(self, place: Place, offset: int) -> None:
        if offset != self._ends[place]:
            raise PipelineError(
                f"{place[0]}-{place[1]} of the target has offset {offset} where "
                f"{self._ends[place]} was expected: somebody else writes to it"
            )

    def _fill(self, goals: Mapping[Place, int]) -> None:
        behind = {place: goal for place, goal in goals.items() if goal > self._ends[place]}
        for place, goal in behind.items():
            self._allow(place, goal - self._ends[place])
        for topic, places in _by_topic(behind):
            with telling_of_another(topic):
                self._fill_topic(topic, {place: behind[place] for place in places})

    def _allow(self, place: Place, gap: int) -> None:
        so_far = self._filled_in.get(place, 0) + gap
        if so_far > self._limit:
            raise PipelineError(
                f"{place[0]}-{place[1]}: {so_far:,} offsets without records are to be filled, and "
                f"--fill-limit is {self._limit:,}; --offsets ignore fills none"
            )
        self._filled_in[place] = so_far

    def _fill_topic(self, topic: str, goals: Mapping[Place, int]) -> None:
        transactions, producer = self._filler(topic, goals)
        self.filled += sum(goal - self._ends[place] for place, goal in goals.items())
        transactions.add(producer.identity, goals)
        while left := {
            place: min(goal - 1 - self._ends[place], MOST_RECORDS)
            for place, goal in goals.items()
            if goal - 1 > self._ends[place]
        }:
            batches = {place: filler_batch(count) for place, count in left.items()}
            self._append(batches, producer, transactions.name)
            self._ends |= {place: self._ends[place] + count for place, count in left.items()}
        transactions.end(producer.identity, commit=False)
        self._await(goals)
        self._ends |= goals

    def _filler(self, topic: str, places: Iterable[Place]) -> tuple[Transactions, Producer]:
        """The producer that fills these partitions of a topic: of a task, its only one."""
        if topic not in self._fillers:
            producer = self._producers[topic]
            if self._identity is None:
                transactions = Transactions(self.cluster, _id_of(topic))
            else:
                (place,) = places
                transactions = Transactions(self.cluster, _id_in(*place))
                producer = Producer(self.cluster, transactions.begin_anew())
            self._fillers[topic] = transactions, producer
        return self._fillers[topic]

    def _await(self, goals: Mapping[Place, int]) -> None:
        """Wait for the markers, which are written after EndTxn was answered."""
        deadline = time.monotonic() + self.cluster.patience
        while True:
            ends = offsets(self.cluster, goals, LATEST)
            if all(ends[place] == goal for place, goal in goals.items()):
                return
            for place, goal in goals.items():
                if ends[place] > goal or time.monotonic() > deadline:
                    name = f"{place[0]}-{place[1]}"
                    raise PipelineError(
                        f"{name} of the target ends at {ends[place]} where {goal} was expected: "
                        "a marker is missing, or somebody else writes to it"
                    )
            time.sleep(_POLL_S)


def _id_of(topic: str) -> str:
    return f"odradek-mirror.{topic}"


def _id_in(topic: str, partition: int | str) -> str:
    """The transactional id of a task. No topic's name has a slash."""
    return f"{_id_of(topic)}/{partition}"


def _by_topic(places: Iterable[Place]) -> list[tuple[str, list[Place]]]:
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place[0], []).append(place)
    return list(found.items())


GROUP = "odradek-mirror"
"""Its offsets are those of the source."""


class NewOffsets:
    def __init__(self, cluster: Cluster, *, committed: bool) -> None:
        self.cluster = cluster
        self.written = self.filled = 0
        self._committed = committed
        self._transactions: dict[str, Transactions] = {}
        self._producers: dict[str, Producer] = {}

    def open(self, places: list[Place]) -> dict[Place, int | None]:
        for topic in sorted({name for name, _ in places} - set(self._transactions)):
            transactions = Transactions(self.cluster, f"odradek-mirror.{topic}")
            self._transactions[topic] = transactions
            self._producers[topic] = Producer(self.cluster, transactions.begin_anew())
        found = committed_offsets(self.cluster, GROUP)
        ends = offsets(self.cluster, places, LATEST)
        for place in places:
            if ends[place] and place not in found:
                raise PipelineError(
                    f"{place[0]}-{place[1]} of the target has records, but nothing tells up to "
                    f"where they were mirrored: group {GROUP} has no offset of it"
                )
        return {place: found.get(place) for place in places}

    def start_at(self, place: Place, offset: int) -> None:
        """Whatever the source's first offset is, the target's is 0."""

    def write(self, fetched: Mapping[Place, tuple[Fetched, int]]) -> None:
        for topic in {name for name, _ in fetched}:
            of_topic = {place: each for place, each in fetched.items() if place[0] == topic}
            with telling_of_another(topic):
                self._write(topic, of_topic)

    def _write(self, topic: str, fetched: Mapping[Place, tuple[Fetched, int]]) -> None:
        transactions, producer = self._transactions[topic], self._producers[topic]
        transactions.add(producer.identity, fetched)
        for heads in pieces_at_once(fetched, committed=self._committed):
            batches = {place: piece.batch for place, piece in heads.items()}
            producer.send(batches, transactional_id=transactions.name)
            self.written += sum(piece.count for piece in heads.values())
        read = {place: each.next_offset for place, (each, _) in fetched.items()}
        transactions.commit_offsets(producer.identity, GROUP, read)
        transactions.end(producer.identity, commit=True)

    def caught_up(self, positions: Mapping[Place, int]) -> None:
        """What has no records needs no offsets."""

    def close(self) -> None:
        self.cluster.close()
