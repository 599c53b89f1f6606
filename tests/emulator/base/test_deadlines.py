"""Deadlines beside a plain dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.base.timers import Deadlines


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("set"), st.integers(0, 5), st.integers(0, 100)),
            st.tuples(st.just("clear"), st.integers(0, 5), st.just(0)),
            st.tuples(st.just("pop"), st.just(0), st.integers(0, 100)),
        ),
        max_size=60,
    )
)
def test_deadlines_are_what_a_plain_dict_would_say(steps: list[tuple[str, int, int]]) -> None:
    deadlines: Deadlines[int] = Deadlines()
    plain: dict[int, int] = {}
    for step, key, when in steps:
        if step == "set":
            deadlines.set(key, when)
            plain[key] = when
        elif step == "clear":
            deadlines.clear(key)
            plain.pop(key, None)
        else:
            due = deadlines.pop(when)
            earliest = min(plain.values(), default=101)
            if earliest > when:
                assert due is None
            else:
                assert due is not None
                assert plain.pop(due) == earliest
        assert deadlines.next() == min(plain.values(), default=None)
        assert all(deadlines.get(key) == plain.get(key) for key in range(6))


def test_putting_a_deadline_off_does_not_touch_the_heap() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 10)
    for when in range(11, 1000):
        deadlines.set("a", when)
    assert len(deadlines._heap) == 1
    assert deadlines.next() == 999


def test_deadlines_keep_their_distance_when_the_clock_is_set() -> None:
    deadlines: Deadlines[str] = Deadlines()
    for key, when in (("a", 10), ("b", 20), ("a", 40), ("c", 30)):
        deadlines.set(key, when)
    deadlines.clear("c")
    deadlines.shift(-15)
    assert [deadlines.pop(100) for _ in range(3)] == ["b", "a", None]
    deadlines.set("d", 50)
    deadlines.shift(5)
    assert (deadlines.get("d"), deadlines.next()) == (55, 55)
