"""Rules on a cluster without a thread: `kafka.on(...)` as an Emulator has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from odradek.emulator.base.call import Call
from odradek.emulator.base.chain import Step
from odradek.emulator.cluster import Cluster
from odradek.emulator.control.rules.rules import Rules
from odradek.fixtures.kafka.rule_book import RuleBook
from odradek.fixtures.kafka.session import Session
from odradek.wire import Request

T = TypeVar("T")


class Here(Session):
    """In this thread."""

    is_running = True

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self, action: Callable[[Cluster], T]) -> T:
        return action(self._cluster)


class Ruled(RuleBook):
    """What a test holds."""

    check_faults = RuleBook.check
    forget_faults = RuleBook.forget
    excuse_faults = RuleBook.excuse

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(Here(cluster), Rules(), ())
        self._rules.attach(cluster)
        self.run = self._session.run


class CarriedOut(Step):
    """The last step of a chain: notes what reaches a handler."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def before(self, call: Call, request: Request) -> None:
        """It goes on to its handler."""
        self.requests.append(request)
