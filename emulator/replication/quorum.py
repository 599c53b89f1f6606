"""The quorum of controllers: who leads it, and which brokers reach it.

Each broker is a controller, too. The network between them may be broken into sides, and the
controllers may be lost altogether:

- The controller is the leader of the quorum; when it goes, the running broker with the lowest id
  that reaches the others follows. It stays when an earlier one comes back.
- A broker reaches the controller if there is one, and if more than half of all brokers are on its
  side of the network.
- Brokers that stop or die do not count as lost controllers: as if the controllers were processes
  of their own, metadata can be changed while one broker runs.

Source: KIP-595, KIP-631, semantics O27.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .brokers import BrokerState, Process

NOBODY = -1


class Quorum:
    """The controllers of these brokers."""

    def __init__(self, brokers: Mapping[int, BrokerState]) -> None:
        self.leader = min(brokers, default=NOBODY)
        """The id of the controller, -1 if there is none."""
        self.sides: Sequence[frozenset[int]] = ()
        """What the network is broken into; nothing while it is whole."""
        self.is_lost = False
        """Whether the controllers are gone."""
        self.left: dict[int, tuple[int, int]] = {}
        """Of voters that do not run, or reach no controller: where their metadata log ends, and
        when they were heard of last, in ms since 1970."""
        self._brokers = brokers

    def connects(self, one: int, other: int) -> bool:
        """Whether two brokers reach each other."""
        return not self.sides or other in self._side(one)

    def reaches(self, node_id: int) -> bool:
        """Whether a broker reaches the controller."""
        if self.is_lost:
            return False
        return not self.sides or 2 * len(self._side(node_id)) > len(self._brokers)

    @property
    def is_there(self) -> bool:
        """Whether anybody can be the controller."""
        return any(map(self.reaches, self._brokers))

    def elect(self, end_offset: int, now: int) -> bool:
        """Choose the leader again; return whether it is another one. `end_offset` is where the
        metadata log ends."""
        before = self.leader
        able = [
            node_id
            for node_id, each in self._brokers.items()
            if each.process is Process.UP and self.reaches(node_id)
        ]
        self.left = {
            node_id: self.left.get(node_id, (end_offset, now))
            for node_id in self._brokers
            if node_id not in able
        }
        if before not in able:
            self.leader = min(able, default=NOBODY)
        return self.leader != before

    def add(self, node_id: int) -> None:
        """A broker that joins is on the controller's side of the network."""
        self.sides = [
            each | {node_id} if self.leader in each else each - {node_id} for each in self.sides
        ]

    def remove(self, node_id: int) -> None:
        """A broker that has left is on no side."""
        self.sides = [left for each in self.sides if (left := each - {node_id})]

    def _side(self, node_id: int) -> frozenset[int]:
        return next((each for each in self.sides if node_id in each), frozenset((node_id,)))
