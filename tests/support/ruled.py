"""Rules on a cluster without a thread: `kafka.on(...)` as an Emulator has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from odradek.emulator.base.call import Call
from odradek.emulator.base.chain import Step
from odradek.emulator.cluster import Cluster
from odradek.emulator.control.rules.rules import Rules
from odradek.fixtures.kafka.faults import Faults
from odradek.wire import Request

T = TypeVar("T")


class Ruled(Faults):
    """What a test holds."""

    _inside: Any = None
    bootstrap_servers = ""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._rules = Rules()
        self._rules.attach(cluster)

    def run(self, action: Callable[[Cluster], T]) -> T:
        """In this thread."""
        return action(self._cluster)

    @property
    def is_running(self) -> bool:
        return True


class CarriedOut(Step):
    """The last step of a chain: notes what reaches a handler."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def before(self, call: Call, request: Request) -> None:
        """It goes on to its handler."""
        self.requests.append(request)
