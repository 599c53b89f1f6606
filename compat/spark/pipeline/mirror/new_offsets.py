"""A cluster as a mirror's target, in which records get offsets of their own.

What was fetched is written in a transaction, together with how far the source was read: this is
committed as offsets of a group, so that both are there or neither is. A mirror that starts fences
the one before it, and goes on at the group's offsets. So nothing is lost or doubled, but markers
and a source's gaps make the offsets others.

Source: KIP-98, KIP-447.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..broker import LATEST, Cluster, Fetched, Place, Producer, offsets
from ..broker.groups import committed_offsets
from ..broker.transactions import Transactions
from ..errors import PipelineError
from .another import telling_of_another
from .pieces import pieces

GROUP = "odradek-mirror"
"""Its offsets are those of the source."""


class NewOffsets:
    """See above."""

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
        left = {
            place: pieces(each, position, committed=self._committed)
            for place, (each, position) in fetched.items()
        }
        while left:
            heads = {place: piece for place in left if (piece := next(left[place], None))}
            left = {place: left[place] for place in heads}
            batches = {place: piece.batch for place, piece in heads.items()}
            if batches:
                producer.send(batches, transactional_id=transactions.name)
            self.written += sum(piece.count for piece in heads.values())
        read = {place: each.next_offset for place, (each, _) in fetched.items()}
        transactions.commit_offsets(producer.identity, GROUP, read)
        transactions.end(producer.identity, commit=True)

    def caught_up(self, positions: Mapping[Place, int]) -> None:
        """What has no records needs no offsets."""

    def close(self) -> None:
        self.cluster.close()
