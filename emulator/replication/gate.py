"""Requests that only the controller carries out wait while the broker that is asked reaches none.

A broker forwards them: creating topics, changing configs, elections, reassignments, ... Without a
controller it keeps them, past the time-out that they name, and forwards them once there is one.
After 60 s of real time it gives up, and refuses them: REQUEST_TIMED_OUT. Source: KIP-590, semantics
O27; the time and the answers are those of three nodes of 4.3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...wire import Request, Response
from ...wire.api import api_keys
from ..base.call import PARKED, Call
from ..base.chain import Outcome, Step
from .quorum import Quorum

if TYPE_CHECKING:
    from ..base.timers import Timer

GIVES_UP_MS = 60_000
"""So long a broker tries to forward a request."""
TimeOut: TypeAlias = Callable[[Request, int], Response]
"""What answers a request, in a version, that was kept for too long."""
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
