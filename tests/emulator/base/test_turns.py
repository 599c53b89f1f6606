"""Jobs in slices: whose turn it is, and what happens without a server."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import pytest
from odradek.emulator.base import turns as module
from odradek.emulator.base.turns import Slices, Turns


@pytest.fixture
def done() -> list[str]:
    return []


def job(name: str, done: list[str], pieces: int = 3) -> Slices[None]:
    for piece in range(pieces):
        done.append(f"{name}{piece}")
        yield


class Woken:
    """A loop that calls `work` when it is asked to."""

    def __init__(self, turns: Turns) -> None:
        self.times = 0
        turns.wake = self.wake

    def wake(self) -> None:
        self.times += 1


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """A turn is over after each piece."""
    monkeypatch.setattr(module, "QUANTUM_S", 1e-9)
    return Turns()


def test_jobs_take_turns(turns: Turns, done: list[str]) -> None:
    loop = Woken(turns)
    turns.begin(job("a", done))
    assert done == ["a0"]
    turns.add(job("b", done))
    assert (len(turns), loop.times, done) == (2, 1, ["a0"])
    while loop.times:
        loop.times -= 1
        turns.work()
    assert done == ["a0", "a1", "b0", "a2", "b1", "b2"]
    assert len(turns) == 0


@pytest.mark.parametrize("give", [Turns.begin, Turns.add])
def test_without_a_server_a_job_is_carried_out_at_once(
    turns: Turns, done: list[str], give: Callable[[Turns, Slices[None]], None]
) -> None:
    give(turns, job("a", done))
    assert done == ["a0", "a1", "a2"]


def test_a_job_within_its_quantum_ends_in_one_turn(done: list[str]) -> None:
    turns = Turns()
    loop = Woken(turns)
    turns.begin(job("a", done))
    assert (done, loop.times) == (["a0", "a1", "a2"], 0)


def test_a_job_that_fails_is_reported_and_the_others_go_on(
    turns: Turns, done: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    def failing() -> Slices[None]:
        yield
        raise ValueError("for a test")

    Woken(turns)
    turns.add(failing())
    turns.add(job("a", done))
    for _ in range(6):
        turns.work()
    assert done == ["a0", "a1", "a2"]
    assert "a job failed" in caplog.text


def test_what_has_not_ended_is_given_up_at_the_end(turns: Turns, done: list[str]) -> None:
    Woken(turns)
    turns.begin(job("a", done))
    turns.close()
    assert (done, len(turns)) == (["a0"], 0)


def test_who_comes_up_with_little_does_not_wait_for_all_who_have_much(done: list[str]) -> None:
    turns = Turns()
    loop = Woken(turns)

    def busy() -> Slices[None]:
        while True:
            done.append("busy")
            until = perf_counter() + module.QUANTUM_S / 4
            while perf_counter() < until:
                pass
            yield

    for _ in range(100):
        turns.add(busy())
    turns.work()
    before = len(done)
    turns.add_first(job("little", done))
    turns.add_first(busy())
    assert loop.times > 0
    turns.work()
    assert done[before : before + 4] == ["little0", "little1", "little2", "busy"]
    assert len(turns) == 101
    turns.close()
    assert len(turns) == 0
