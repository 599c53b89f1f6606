"""Clocks: how fast they run, how they are held and moved."""

from __future__ import annotations

import pytest
from odradek.emulator.base import clock as clocks
from odradek.emulator.base.clock import ManualClock, Movable, SystemClock, TestClock
from odradek.emulator.base.real_time import wall_time


class Real:
    """Real time, as the test says."""

    def __init__(self) -> None:
        self.seconds = 50_000.25

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Real:
    real = Real()
    monkeypatch.setattr(clocks, "monotonic", real)
    return real


@pytest.mark.parametrize("rate", [1, 60, 0.5])
def test_a_clock_runs_at_its_rate_and_not_while_it_is_held(real: Real, rate: float) -> None:
    clock = SystemClock(rate)
    begin = clock.now()
    assert abs(begin - wall_time() * 1000) < 10_000
    real.seconds += 10
    assert clock.now() == begin + 10_000 * rate
    clock.hold()
    real.seconds += 3600
    assert clock.now() == begin + 10_000 * rate
    clock.release()
    real.seconds += 1
    assert clock.now() == begin + 11_000 * rate


@pytest.mark.parametrize("is_held", [False, True])
def test_a_clock_that_runs_can_be_moved_too(real: Real, is_held: bool) -> None:
    clock = SystemClock()
    begin = clock.now()
    if is_held:
        clock.hold()
    clock.advance(500)
    assert clock.now() == begin + 500
    clock.release()
    real.seconds += 1
    assert clock.now() == begin + 1500


def test_it_never_goes_back_by_being_held_and_released(real: Real) -> None:
    clock = SystemClock(1 / 3)
    last = clock.now()
    for _ in range(1000):
        real.seconds += 0.0007
        clock.hold()
        clock.release()
        assert clock.now() >= last
        last = clock.now()


@pytest.mark.parametrize("rate", [0, -1, float("nan"), float("inf")])
def test_a_rate_is_above_zero(rate: float) -> None:
    with pytest.raises(ValueError, match="rate is how many seconds pass in a real one, not"):
        SystemClock(rate)


@pytest.mark.parametrize("clock", [SystemClock(), ManualClock(), TestClock()])
def test_no_clock_goes_back(clock: Movable) -> None:
    with pytest.raises(ValueError, match="time cannot go back by 1 ms"):
        clock.advance(-1)


@pytest.mark.parametrize("clock", [SystemClock(), ManualClock()])
def test_a_clock_is_set(clock: Movable) -> None:
    before = clock.now()
    clock.jump(-60_000)
    assert -60_000 <= clock.now() - before < 0
    clock.jump(120_000)
    assert clock.now() - before >= 60_000


def test_a_clock_that_follows_the_test_is_not_set() -> None:
    with pytest.raises(TypeError, match="follows the test's time"):
        TestClock().jump(1)


def test_a_test_clock_tells_how_far_it_is_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    test_ms = 1_000_000
    monkeypatch.setattr(clocks, "_test_ms", lambda: test_ms)
    clock = TestClock()
    test_ms += 5
    assert (clock.now(), clock.behind()) == (1_000_005, 0)  # it begins when it is first read
    test_ms += 700
    assert (clock.now(), clock.behind()) == (1_000_005, 700)
    clock.hold()
    assert clock.behind() == 0
    clock.release()
    clock.advance(clock.behind())
    assert clock.now() == test_ms

    test_ms -= 60_000
    assert [clock.behind(), clock.behind()] == [0, 0]
    assert clock.now() == 1_000_705
    (message,) = caplog.messages
    assert message == (
        "the test's time has gone back by 60 s, and the broker's stands still until it has come so "
        "far: freeze time before the broker starts"
    )
