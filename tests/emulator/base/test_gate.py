"""A gate lets one job through at a time."""

from __future__ import annotations

import pytest
from odradek.emulator.base.turns import Gate, Slices, Turns


@pytest.fixture
def turns() -> Turns:
    turns = Turns()
    turns.wake = lambda: None
    return turns


def through(gate: Gate, name: str, done: list[str]) -> Slices[None]:
    yield from gate.enter()
    try:
        for piece in range(2):
            done.append(f"{name}{piece}")
            yield
    finally:
        gate.leave()


def test_who_comes_later_waits_outside_the_queue(
    turns: Turns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odradek.emulator.base.turns.QUANTUM_S", -1.0)
    gate, done = Gate(turns), list[str]()
    for name in "abc":
        turns.add(through(gate, name, done))
    for _ in range(3):
        turns.work()
    assert len(turns) == 1
    for _ in range(20):
        turns.work()
    assert done == ["a0", "a1", "b0", "b1", "c0", "c1"]


def test_one_that_is_given_up_leaves_it(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.emulator.base.turns.QUANTUM_S", -1.0)
    gate, done = Gate(turns), list[str]()
    first = through(gate, "a", done)
    turns.add(first)
    turns.add(through(gate, "b", done))
    turns.work()
    turns.work()
    first.close()
    for _ in range(20):
        turns.work()
    assert done == ["a0", "b0", "b1"]


def test_all_are_given_up_at_the_end(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.emulator.base.turns.QUANTUM_S", -1.0)
    gate, done = Gate(turns), list[str]()
    for name in "abc":
        turns.add(through(gate, name, done))
    for _ in range(3):
        turns.work()
    turns.close()
    assert (done, len(turns)) == (["a0"], 0)
