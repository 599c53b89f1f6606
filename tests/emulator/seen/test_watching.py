"""When waits look: after what happens, in turns, with rests between, on a clock of the test's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from odradek.emulator.seen import watching
from odradek.emulator.seen.waiting import Wait
from odradek.emulator.seen.watching import Watching


class Broker:
    """Its watchers, its loop, and its time, in which nothing passes but what looking takes."""

    def __init__(self) -> None:
        self.now = 100.0
        self.watchers: list[Callable[[], None]] = []
        self.closing: list[Callable[[], None]] = []
        self.alarms: list[tuple[float, Callable[[], None]]] = []
        self.looked: list[str] = []
        self.seconds = 0.0  # as what is shared has it: what was read for all of them
        self.cleared = 0

    def call_later(self, seconds: float, action: Callable[[], None]) -> object:
        self.alarms.append((self.now + seconds, action))
        return object()

    @property
    def cluster(self) -> Broker:
        return self

    def clear(self) -> None:
        self.cleared += 1

    def happens(self) -> None:
        for look in tuple(self.watchers):
            look()

    def passes(self, seconds: float) -> None:
        end = self.now + seconds
        while self.alarms and min(self.alarms)[0] <= end:
            due = self.alarms.pop(0)
            self.now = due[0]
            due[1]()
        self.now = max(self.now, end)

    def wait(self, name: str, seconds: float, *, reads: bool = False) -> Wait[str]:
        def look() -> str | None:
            self.looked.append(name)
            self.now += seconds
            if reads:
                self.seconds += seconds
            return None

        return Wait(name, look, str)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    broker = Broker()
    monkeypatch.setattr(watching, "perf_counter", lambda: broker.now)
    monkeypatch.setattr(watching, "asyncio", SimpleNamespace(get_running_loop=lambda: broker))
    return broker


def begun(broker: Broker, *waits: tuple[str, float]) -> tuple[Watching, list[Future[Any]]]:
    """Waits with these names, whose looks take so long; the first looks are past."""
    made: Any = Watching(broker, broker)  # type: ignore[arg-type]
    futures: list[Future[Any]] = [Future() for _ in waits]
    for (name, seconds), future in zip(waits, futures, strict=True):
        made.begin(broker.wait(name, seconds), future)
    broker.looked.clear()
    return made, futures


def test_they_rest_nine_times_as_long_as_they_have_looked(broker: Broker) -> None:
    begun(broker, ("a", 0.001), ("b", 0.001))
    broker.happens()
    assert broker.looked == ["a", "b"]
    broker.happens()
    broker.happens()
    assert broker.looked == ["a", "b"]
    broker.passes(0.017)
    assert broker.looked == ["a", "b"]
    broker.passes(0.002)
    assert broker.looked == ["a", "b", "a", "b"]
    broker.passes(1)  # nothing has happened meanwhile
    assert len(broker.looked) == 4


def test_they_rest_50_ms_at_most(broker: Broker) -> None:
    begun(broker, ("a", 1.0))
    broker.happens()
    broker.happens()
    broker.passes(0.051)
    assert broker.looked == ["a", "a"]


def test_after_5_ms_the_others_have_the_next_turn(broker: Broker) -> None:
    begun(broker, ("a", 0.004), ("b", 0.004), ("c", 0.004))
    broker.happens()
    assert broker.looked == ["a", "b"]
    broker.passes(0.051)
    assert broker.looked == ["a", "b", "c", "a"]


def test_what_is_read_for_all_of_them_takes_nobodys_turn(broker: Broker) -> None:
    made, _ = begun(broker)
    made.begin(broker.wait("reads", 0.02, reads=True), Future())
    for name in ("a", "b", "c"):
        made.begin(broker.wait(name, 0.004), Future())
    broker.looked.clear()
    broker.happens()
    assert broker.looked == ["reads", "a", "b"]
    broker.passes(0.051)
    assert broker.looked == ["reads", "a", "b", "c", "reads", "a"]


def test_one_that_is_over_is_forgotten(broker: Broker) -> None:
    made, (cancelled, ended) = begun(broker, ("a", 0.0), ("b", 0.0))
    assert len(broker.watchers) == 1
    cancelled.cancel()
    made.end(ended)
    assert ended.cancelled()
    assert broker.looked == ["b"]
    broker.now += 1
    broker.happens()
    assert (broker.looked, broker.watchers) == (["b"], [])
    assert broker.cleared == 1  # nothing that was read is kept when nobody waits


def test_one_that_was_cancelled_before_it_began_never_looks(broker: Broker) -> None:
    made, _ = begun(broker)
    future: Future[Any] = Future()
    future.cancel()
    made.begin(broker.wait("a", 0.0), future)
    assert (broker.looked, broker.watchers) == ([], [])


def test_the_end_of_the_broker_ends_them(broker: Broker) -> None:
    _, (future,) = begun(broker, ("the rain", 0.0))
    for tell in broker.closing:
        tell()
    assert str(future.exception()) == "the broker was stopped during a wait for the rain"
    assert broker.watchers == []


def test_one_of_another_run_ends_too(broker: Broker) -> None:
    made, _ = begun(broker)
    future: Future[Any] = Future()
    made.end(future)
    assert future.cancelled()
