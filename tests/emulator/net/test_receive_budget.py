"""The room for large requests: who waits, who goes on, and who is closed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from odradek.emulator.net.receive_budget import NEXT_BYTES, PROGRESS_BYTES, ReceiveBudget

MEGABYTE = 1 << 20


class Client:
    """A connection that has sent a part of a large request."""

    def __init__(self, room: ReceiveBudget) -> None:
        self.taken = 0
        self.is_closed = False
        self._room = room
        self._size = 0
        self.is_read = True

    def sends(self, size: int) -> bool:
        """Send on; returns whether it is read on."""
        assert self.is_read
        self._size += size
        self.is_read = self._room.take(self, self._size)
        return self.is_read

    def is_served(self) -> None:
        self._size = 0
        self._room.keep(self, 0)

    def read_on(self) -> None:
        self.is_read = True

    def give_up(self) -> None:
        self.is_closed = True
        self.is_served()


class Later:
    """What is to be called after some time."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], None]] = []

    def __call__(self, seconds: float, action: Callable[[], None]) -> None:
        self._calls.append(action)

    def happens(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            call()


@pytest.fixture
def later() -> Later:
    return Later()


@pytest.fixture
def room(later: Later) -> ReceiveBudget:
    return ReceiveBudget(4 * MEGABYTE, later)


def full(room: ReceiveBudget) -> list[Client]:
    """Three clients that use up the room, and one that goes beyond it."""
    clients = [Client(room) for _ in range(4)]
    assert all(client.sends(MEGABYTE) for client in clients)
    return clients


def test_what_many_have_is_bounded(room: ReceiveBudget) -> None:
    clients = [Client(room) for _ in range(500)]
    for client in clients:
        client.sends(1)  # it is known from its first bytes that a request is large
    for _ in range(8):
        for client in clients:
            if client.is_read:
                client.sends(NEXT_BYTES // 2)
    assert sum(client.taken for client in clients) < 6 * MEGABYTE


def test_who_waits_goes_on_in_order(room: ReceiveBudget) -> None:
    clients = full(room)
    first, second = Client(room), Client(room)
    assert not first.sends(1)
    assert not second.sends(1)
    clients[3].is_served()
    assert first.is_read
    clients[0].is_served()
    assert second.is_read


def test_one_at_a_time_goes_beyond_and_on_to_its_end(room: ReceiveBudget) -> None:
    clients = full(room)
    beyond = clients[3]
    assert all(beyond.sends(MEGABYTE) for _ in range(100))
    assert not clients[0].sends(MEGABYTE)
    beyond.is_served()
    assert clients[0].is_read


def test_who_goes_beyond_and_sends_nothing_is_closed_for_those_who_wait(
    room: ReceiveBudget, later: Later
) -> None:
    beyond = full(room)[3]
    later.happens()
    assert not beyond.is_closed, "nobody waits"
    waiting = Client(room)
    assert not waiting.sends(1)
    assert beyond.sends(PROGRESS_BYTES)
    later.happens()
    assert not beyond.is_closed, "it sends on"
    later.happens()
    assert beyond.is_closed
    assert waiting.is_read


def test_who_waits_and_leaves_is_forgotten(room: ReceiveBudget) -> None:
    clients = full(room)
    waiting = Client(room)
    assert not waiting.sends(1)
    waiting.is_served()
    for client in clients:
        client.is_served()
    assert waiting.taken == 0
    assert all(client.sends(MEGABYTE) for client in clients)
