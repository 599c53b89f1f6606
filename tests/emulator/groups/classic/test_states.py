"""The states of a classic group: a table, which prints itself as a picture."""

from __future__ import annotations

from odradek.emulator.groups.classic.group import DEAD, TRANSITIONS, GroupState, picture


def test_the_states_can_be_read_as_a_picture() -> None:
    assert len(picture().splitlines()) == sum(map(len, TRANSITIONS.values())) + 1
    assert picture().splitlines()[0] == (
        "Empty               -> PreparingRebalance   a first member joins"
    )
    assert picture().splitlines()[-1] == "Dead                 (final)"


def test_every_state_is_in_the_table_and_dead_is_the_end() -> None:
    assert set(TRANSITIONS) == set(GroupState)
    assert TRANSITIONS[DEAD] == {}
    assert all(DEAD in targets for state, targets in TRANSITIONS.items() if state is not DEAD)
