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

Requests that only the controller carries out wait while the broker that is asked reaches none.

A broker forwards them: creating topics, changing configs, elections, reassignments, ... Without a
controller it keeps them, past the time-out that they name, and forwards them once there is one.
After 60 s of real time it gives up, and refuses them: REQUEST_TIMED_OUT. Source: KIP-590, semantics
O27; the time and the answers are those of three nodes of 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Request, Response
from ...wire.api import api_keys
from ..base.call import PARKED, Call
from ..base.chain import Outcome, Step
from .brokers import BrokerState, Process

if TYPE_CHECKING:
    from ..base.timers import Timer


NOBODY = -1


class Quorum:
    def __init__(self, brokers: Mapping[int, BrokerState]) -> None:
        self.leader = min(brokers, default=NOBODY)
        """The id of the controller, -1 if there is none."""
        self.sides: Sequence[frozenset[int]] = ()
        """The sides of the network; none while it is whole."""
        self.is_lost = False
        """Whether the controllers are gone."""
        self.left: dict[int, tuple[int, int]] = {}
        """Of voters that do not run, or reach no controller: where their metadata log ends, and
        when they were heard of last, in ms since 1970."""
        self._brokers = brokers

    def connects(self, one: int, other: int) -> bool:
        return not self.sides or other in self._side(one)

    def reaches(self, node_id: int) -> bool:
        if self.is_lost:
            return False
        return not self.sides or 2 * len(self._side(node_id)) > len(self._brokers)

    @property
    def is_there(self) -> bool:
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


GIVES_UP_MS = 60_000
"""So long a broker tries to forward a request."""
TimeOut: TypeAlias = Callable[[Request, int], Response]
"""The answer to a request, in a version, that was kept for too long."""
After: TypeAlias = Callable[[int, Callable[[], None]], "Timer"]
"""Calls back after so many real milliseconds."""

FORWARDED = api_keys(
    "add_raft_voter",
    "alter_client_quotas",
    "alter_configs",
    "alter_partition_reassignments",
    "alter_user_scram_credentials",
    "create_acls",
    "create_delegation_token",
    "create_partitions",
    "create_topics",
    "delete_acls",
    "delete_topics",
    "describe_quorum",
    "elect_leaders",
    "expire_delegation_token",
    "incremental_alter_configs",
    "list_partition_reassignments",
    "remove_raft_voter",
    "renew_delegation_token",
    "unregister_broker",
    "update_features",
)


class ControllerGate(Step):
    """Holds them; a step of the chain only while a broker does not reach the controller."""

    def __init__(self, quorum: Quorum, after: After, time_out: TimeOut) -> None:
        self._quorum = quorum
        self._after = after
        self._time_out = time_out
        self._held: dict[Call, Timer] = {}

    def concerns(self, api_key: int) -> bool:
        return api_key in FORWARDED

    def before(self, call: Call, request: Request) -> Outcome:
        if self._quorum.reaches(call.node_id):
            return None
        self._held[call] = self._after(GIVES_UP_MS, partial(self._give_up, call, request))
        return PARKED

    def after(self, call: Call, request: Request, response: Response | None) -> Outcome:
        """Who has hung up does not wait any more."""
        timer = self._held.pop(call, None)
        if timer is not None:
            timer.cancel()
        return None

    def open(self) -> None:
        """Pass on those whose broker reaches the controller again."""
        for call in list(self._held):
            if self._quorum.reaches(call.node_id):
                self._held.pop(call).cancel()
                call.go_on()

    def _give_up(self, call: Call, request: Request) -> None:
        del self._held[call]
        call.answer(self._time_out(request, call.version))
