"""Room for large requests: how much all connections together may have sent of what is not served.

Small requests wait in a small buffer that each connection has. Large ones take of a common room,
from their first byte until they are answered. Once it is used up, connections that need more are
not read, and go on in the order in which they came. One at a time may go beyond the room, so that a
request of any allowed size is received in the end. It has to go on sending: if it does not while
others wait, it is closed.

Kafka has such a limit too, `queued.max.request.bytes`, and none by default, which takes a heap of
gigabytes. Here it is the size of the room.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..base.logger import log

ROOM_BYTES = 24 << 20
"""The room, unless a config says otherwise."""
NEXT_BYTES = 256 << 10
"""The bytes that a connection may receive until it is looked at again."""
PATIENCE_S = 5.0
PROGRESS_BYTES = 1 << 20
"""Who goes beyond the room sends this much in PATIENCE_S, or its request whole."""


class BudgetHolder(Protocol):
    """A connection, as the room sees it."""

    taken: int
    """Bytes of the room that it has; set by the room."""

    def read_on(self) -> None:
        """There is room again."""

    def give_up(self) -> None:
        """It takes room that others wait for: close it."""


class ReceiveBudget:
    """Counts what connections take. `later` has something called after so many seconds."""

    def __init__(self, size: int, later: Callable[[float, Callable[[], None]], object]) -> None:
        self._size = size
        self._later = later
        self._used = 0
        # In order; None as values: a dict as an ordered set.
        self._waiting: dict[BudgetHolder, None] = {}
        self._beyond: BudgetHolder | None = None
        self._seen = 0
        self._turn = 0  # counts who went beyond

    def take(self, tenant: BudgetHolder, size: int) -> bool:
        """The connection has so many bytes now, and needs more. Returns whether it may be read."""
        if tenant in self._waiting:
            return False
        self._count(tenant, size + NEXT_BYTES)
        if self._used <= self._size or self._beyond is tenant:
            return True
        if self._beyond is None:
            self._go_beyond(tenant)
            return True
        self._count(tenant, size)
        self._waiting[tenant] = None
        return False

    def keep(self, tenant: BudgetHolder, size: int) -> None:
        """The connection has so many bytes, and needs no more until they are served."""
        if self._beyond is tenant:
            self._beyond = None
        self._waiting.pop(tenant, None)
        self._count(tenant, size)
        while self._waiting and (self._used + NEXT_BYTES <= self._size or self._beyond is None):
            first = next(iter(self._waiting))
            del self._waiting[first]
            self._count(first, first.taken + NEXT_BYTES)
            if self._used > self._size:
                self._go_beyond(first)
            first.read_on()

    def _count(self, tenant: BudgetHolder, size: int) -> None:
        self._used += size - tenant.taken
        tenant.taken = size

    def _go_beyond(self, tenant: BudgetHolder) -> None:
        self._beyond = tenant
        self._turn += 1
        self._look_later(tenant)

    def _look_later(self, tenant: BudgetHolder) -> None:
        turn, self._seen = self._turn, tenant.taken
        self._later(PATIENCE_S, lambda: self._look(tenant, turn))

    def _look(self, tenant: BudgetHolder, turn: int) -> None:
        if self._beyond is not tenant or self._turn != turn:
            return
        if self._waiting and tenant.taken < self._seen + PROGRESS_BYTES:
            log.info("closing %s: its request takes too long while others wait for room", tenant)
            tenant.give_up()
        else:
            self._look_later(tenant)
