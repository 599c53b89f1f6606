"""Where partitions are that nobody assigns: racks in turn, and in each rack its brokers in turn."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.base.node import Registered
from odradek.emulator.metadata.topic_rules import places


def registered(racks: str, fenced: frozenset[int] = frozenset()) -> Registered:
    """Brokers from 1 on, each in the rack of its letter; "-" is none."""
    found = {i: None if rack == "-" else rack for i, rack in enumerate(racks, 1)}
    return Registered(found, [i for i in found if i not in fenced])


@pytest.mark.parametrize(
    ("racks", "factor", "expected"),
    [
        ("-", 1, [[1], [1]]),
        ("---", 1, [[1], [2], [3], [1]]),
        ("---", 2, [[1, 2], [2, 3], [3, 1], [1, 2]]),
        ("abc", 3, [[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 2, 3]]),
        ("aab", 2, [[1, 3], [3, 2], [2, 3], [3, 1]]),
        ("aabb", 2, [[1, 3], [3, 2], [2, 4], [4, 1]]),
        ("aabb", 3, [[1, 3, 2], [3, 1, 4], [2, 4, 1], [4, 2, 3]]),
    ],
)
def test_places(racks: str, factor: int, expected: list[list[int]]) -> None:
    assert places(range(len(expected)), factor, registered(racks)) == expected


def test_a_broker_alone_in_its_rack_has_more() -> None:
    """As three real nodes in racks a, a, b: the third leads half of the partitions, and has a
    replica of each."""
    found = places(range(12), 2, registered("aab"))
    assert Counter(replicas[0] for replicas in found)[3] == 6
    assert all(3 in replicas for replicas in found)


def test_those_that_may_not_lead_come_last() -> None:
    assert places(range(3), 3, registered("---", frozenset({2}))) == [
        [1, 3, 2],
        [3, 1, 2],
        [1, 3, 2],
    ]
    assert places(range(2), 2, registered("ab", frozenset({1}))) == [[2, 1], [2, 1]]


def test_partitions_that_are_added_go_on_where_the_others_ended() -> None:
    brokers = registered("aab")
    assert places(range(4, 9), 2, brokers) == places(range(9), 2, brokers)[4:]


@given(st.data())
def test_each_partition_is_on_as_many_racks_as_it_can_be(data: st.DataObject) -> None:
    racks = data.draw(st.text("abc", min_size=1, max_size=7))
    ids = range(1, len(racks) + 1)
    fenced = data.draw(st.frozensets(st.sampled_from(ids), max_size=len(racks) - 1))
    factor = data.draw(st.integers(1, len(racks)))
    brokers = registered(racks, fenced)
    for replicas in places(range(data.draw(st.integers(1, 20))), factor, brokers):
        assert len(set(replicas)) == factor
        assert replicas[0] in brokers.active
        used = {brokers.racks[each] for each in replicas}
        assert len(used) == min(factor, len(set(racks)))
