"""The server's assignors: balanced, sticky, complete, and the same every time."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.base.java_order import hash_map_order
from odradek.emulator.groups.consumer.assignors import RANGE, UNIFORM, MemberSpec, assign
from odradek.emulator.groups.consumer.members import Assignment

from tests.support.drawn import examples

TOPICS = [bytes([n]) * 16 for n in range(1, 5)]
few = examples(40)
sizes = st.lists(st.integers(1, 9), min_size=4, max_size=4)
names = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=6, unique=True)
Subscriptions = dict[str, frozenset[bytes]]


@st.composite
def churn(draw: st.DrawFn) -> list[Subscriptions]:
    """Members that come, go, and change what they subscribe to."""
    topics = st.frozensets(st.sampled_from(TOPICS), max_size=4)
    rounds = draw(st.integers(1, 4))
    return [{name: draw(topics) for name in draw(names)} for _ in range(rounds)]


def specs(subscriptions: Subscriptions, before: dict[str, Assignment]) -> dict[str, MemberSpec]:
    return {
        name: MemberSpec(None, subscriptions[name], before.get(name, {}))
        for name in hash_map_order(subscriptions)
    }


def run(
    name: str, subscriptions: Subscriptions, before: dict[str, Assignment], counts: list[int]
) -> dict[str, Assignment]:
    alike = len(set(subscriptions.values())) == 1
    found = assign(
        name,
        specs(subscriptions, before),
        lambda topic: counts[TOPICS.index(topic)],
        homogeneous=alike,
    )
    return {member: found.get(member, {}) for member in subscriptions}


def owners(found: dict[str, Assignment]) -> Counter[tuple[bytes, int]]:
    return Counter(
        (topic, partition)
        for held in found.values()
        for topic, partitions in held.items()
        for partition in partitions
    )


def load(held: Assignment) -> int:
    return sum(len(partitions) for partitions in held.values())


@few
@given(churn(), sizes, st.sampled_from([UNIFORM, RANGE]))
def test_every_partition_that_is_read_has_one_owner_who_reads_it(
    rounds: list[Subscriptions], counts: list[int], name: str
) -> None:
    found: dict[str, Assignment] = {}
    for subscriptions in rounds:
        found = run(name, subscriptions, found, counts)
        read = frozenset().union(*subscriptions.values())
        wanted = {(topic, n) for topic in read for n in range(counts[TOPICS.index(topic)])}
        assert owners(found) == Counter(wanted)
        assert all(held.keys() <= subscriptions[member] for member, held in found.items())


@few
@given(churn(), sizes)
def test_uniform_leaves_no_move_that_would_even_two_members_out(
    rounds: list[Subscriptions], counts: list[int]
) -> None:
    found: dict[str, Assignment] = {}
    for subscriptions in rounds:
        found = run(UNIFORM, subscriptions, found, counts)
    for one, other in combinations(found, 2):
        less, more = sorted((one, other), key=lambda member: load(found[member]))
        movable = found[more].keys() & subscriptions[less]
        assert load(found[more]) - load(found[less]) <= 1 or not movable


@few
@given(st.lists(names, min_size=2, max_size=5), sizes)
def test_uniform_moves_no_more_than_balance_asks_for(
    rounds: list[list[str]], counts: list[int]
) -> None:
    found: dict[str, Assignment] = {}
    for members in rounds:
        before, found = found, run(UNIFORM, {m: frozenset(TOPICS) for m in members}, found, counts)
        each, extra = divmod(sum(counts), len(members))
        for member in members:
            kept = (
                load({t: found[member].get(t, frozenset()) & p for t, p in before[member].items()})
                if member in before
                else 0
            )
            had = load(before.get(member, {}))
            assert kept in (min(had, each), min(had, each + bool(extra)))


@few
@given(names, sizes, st.sampled_from([UNIFORM, RANGE]))
def test_a_second_look_changes_nothing(members: list[str], counts: list[int], name: str) -> None:
    subscriptions = {member: frozenset(TOPICS) for member in members}
    found = run(name, subscriptions, {}, counts)
    assert run(name, subscriptions, found, counts) == found


def test_range_splits_topics_of_one_size_alike() -> None:
    subscriptions = {member: frozenset(TOPICS[:2]) for member in "abc"}
    found = run(RANGE, subscriptions, {}, [7, 7, 1, 1])
    assert [sorted(found[member][TOPICS[0]]) for member in "abc"] == [[0, 1, 2], [3, 4], [5, 6]]
    assert all(found[member][TOPICS[0]] == found[member][TOPICS[1]] for member in "abc")


def test_range_puts_static_members_first() -> None:
    found = assign(
        RANGE,
        {
            "a": MemberSpec(None, frozenset(TOPICS[:1]), {}),
            "z": MemberSpec("i", frozenset(TOPICS[:1]), {}),
        },
        lambda topic: 3,
        homogeneous=True,
    )
    assert found == {"z": {TOPICS[0]: frozenset({0, 1})}, "a": {TOPICS[0]: frozenset({2})}}


@pytest.mark.parametrize("name", [UNIFORM, RANGE])
def test_nobody_and_nothing(name: str) -> None:
    assert assign(name, {}, lambda topic: 1, homogeneous=True) == {}
    assert run(name, {"a": frozenset()}, {}, [1] * 4) == {"a": {}}
