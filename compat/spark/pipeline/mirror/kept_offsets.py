"""A cluster as a mirror's target, each record at the offset that it has in the source.

Rules:
- The end of a partition in the target is where it goes on: nothing else has to be remembered.
- A topic has a transactional id, and its producer goes on over restarts with the same id, epoch and
  sequences, which the target knows. So a request of a mirror that was killed, which comes late, and
  the same one sent again are stored once.
- Offsets without records are filled (fillers.py). Nothing else is written to the partition while
  the transaction is open, so its marker is at its offset whatever ends it, also if the mirror is
  killed.
- A task that writes one partition alone has the topic's producer for records, and for fillers a
  transactional id of the partition: tasks of a topic have no transaction in common.
- Every answer tells the offset of what was written. Another one than the source's means that
  somebody else writes to the topic: the mirror stops.

Source: KIP-98, KIP-664 (the producers of a partition), KIP-360.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping

from ..broker import EARLIEST, LATEST, Cluster, Fetched, Identity, Place, Producer, offsets
from ..broker.offsets import delete_records
from ..broker.producers import next_sequences
from ..broker.transactions import Transactions, abort_unfinished
from ..errors import PipelineError
from .another import telling_of_another
from .fillers import MOST_RECORDS, filler_batch
from .pieces import Piece, pieces

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
        left = {
            place: pieces(each, position, committed=self._committed)
            for place, (each, position) in fetched.items()
        }
        while left:
            heads = {place: piece for place in left if (piece := next(left[place], None))}
            left = {place: left[place] for place in heads}
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
        """Fill partitions up to these offsets."""
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
        """What fills these partitions of a topic: of a task, its only one."""
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
    """The transactional id of a topic."""
    return f"odradek-mirror.{topic}"


def _id_in(topic: str, partition: int | str) -> str:
    """The transactional id of a task. No topic's name has a slash."""
    return f"{_id_of(topic)}/{partition}"


def _by_topic(places: Iterable[Place]) -> list[tuple[str, list[Place]]]:
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place[0], []).append(place)
    return list(found.items())
