"""A cluster as a mirror's target, each record at the offset that it has in the source.

Rules:
- The end of a partition in the target is where it goes on: nothing else has to be remembered.
- A topic has a transactional id, and its producer goes on over restarts with the same id, epoch and
  sequences, which the target knows. So a request of a mirror that was killed, which comes late, and
  the same one sent again are stored once.
- Offsets without records are filled (fillers.py). Nothing else is written to the partition while
  the transaction is open, so its marker is at its offset whatever ends it, also if the mirror is
  killed.
- Every answer tells the offset of what was written. Another one than the source's means that
  somebody else writes to the topic: the mirror stops.

Source: KIP-98, KIP-664 (the producers of a partition), KIP-360.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from ..broker import EARLIEST, LATEST, Cluster, Fetched, Place, Producer, offsets
from ..broker.offsets import delete_records
from ..broker.producers import next_sequences
from ..broker.transactions import Transactions
from ..errors import PipelineError
from .fillers import MOST_RECORDS, filler_batch
from .pieces import Piece, pieces

_POLL_S = 0.002


class KeptOffsets:
    """See above. Fills at most `fill_limit` offsets of a partition."""

    def __init__(self, cluster: Cluster, *, committed: bool, fill_limit: int) -> None:
        self.cluster = cluster
        self.written = self.filled = 0
        self._committed = committed
        self._limit = fill_limit
        self._filled_in: dict[Place, int] = {}
        self._ends: dict[Place, int] = {}
        self._transactions: dict[str, Transactions] = {}
        self._producers: dict[str, Producer] = {}

    def open(self, places: list[Place]) -> dict[Place, int | None]:
        for topic in sorted({name for name, _ in places}):
            self._open(topic, [place for place in places if place[0] == topic])
        firsts = offsets(self.cluster, places, EARLIEST)
        self._ends |= offsets(self.cluster, places, LATEST)
        is_empty = {place: self._ends[place] == firsts[place] == 0 for place in places}
        return {place: None if is_empty[place] else self._ends[place] for place in places}

    def _open(self, topic: str, places: list[Place]) -> None:
        known = self._transactions.get(topic)
        transactions = known or Transactions(self.cluster, f"odradek-mirror.{topic}")
        identity = self._producers[topic].identity if known else transactions.go_on()
        sequences = next_sequences(self.cluster, identity, places)
        if known:
            self._producers[topic].sequences |= sequences
        else:
            self._transactions[topic] = transactions
            self._producers[topic] = Producer(self.cluster, identity, sequences)

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
            self._append({place: heads[place].batch for place in places}, topic)
            for place in places:
                self._ends[place] = heads[place].after
                self.written += heads[place].count

    def _append(
        self, batches: Mapping[Place, bytearray], topic: str, name: str | None = None
    ) -> None:
        found = self._producers[topic].send(batches, transactional_id=name)
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
        transactions, producer = self._transactions[topic], self._producers[topic]
        self.filled += sum(goal - self._ends[place] for place, goal in goals.items())
        transactions.add(producer.identity, goals)
        while left := {
            place: min(goal - 1 - self._ends[place], MOST_RECORDS)
            for place, goal in goals.items()
            if goal - 1 > self._ends[place]
        }:
            batches = {place: filler_batch(count) for place, count in left.items()}
            self._append(batches, topic, transactions.name)
            self._ends |= {place: self._ends[place] + count for place, count in left.items()}
        transactions.end(producer.identity, commit=False)
        self._await(goals)
        self._ends |= goals

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


def _by_topic(places: Iterable[Place]) -> list[tuple[str, list[Place]]]:
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place[0], []).append(place)
    return list(found.items())
