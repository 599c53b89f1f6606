"""The parts a group is made of: Java's hashes, deadlines, states, subscriptions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odradek.emulator.base.deadlines import Deadlines
from odradek.emulator.base.java_order import hash_map_order, java_hash, partition_for
from odradek.emulator.groups.classic.consumer_protocol import subscribed_topics
from odradek.emulator.groups.classic.members import Member, Roster
from odradek.emulator.groups.classic.states import DEAD, TRANSITIONS, GroupState, picture


@pytest.mark.parametrize(
    ("group_id", "partition"),
    [
        ("test-group", 12),
        ("g1", 42),
        ("polygenelubricants", 0),
        ("grüppe", 12),
        ("😀", 49),
        ("a b", 7),
        ("", 0),
    ],
)
def test_a_group_is_kept_where_kafka_keeps_it(group_id: str, partition: int) -> None:
    assert partition_for(group_id, 50) == partition


def test_javas_hash_is_signed() -> None:
    assert java_hash("polygenelubricants") == -(2**31)
    assert java_hash("range") == 108280125


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("range", "roundrobin"),
        ("range", "cooperative-sticky"),
        ("sticky", "cooperative-sticky"),
        ("sticky", "range"),
    ],
)
def test_a_hash_map_has_an_order_of_its_own(first: str, second: str) -> None:
    assert hash_map_order([second, first]) == [first, second]
    assert hash_map_order([first, second, first]) == [first, second]


def test_a_hash_map_grows_beyond_twelve_names() -> None:
    names = list("nopqrstuvwxyz")  # hashes 110 to 122: sixteen buckets begin anew at p
    assert hash_map_order(names[:12]) == list("pqrstuvwxyno")
    assert hash_map_order(names) == list("nopqrstuvwxyz")


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


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"\0\0",
        b"\0\0\xff\xff\xff\xff\0\0\0\0",
        b"\0\0\0\0\0\1\0\5t",
        b"\0\0\0\0\0\1\xff\xff",
        b"\0\0\0\0\0\1\0\1t",
        b"\0\0\0\0\0\1\0\1t\0\0\0\5",
        b"\0\0\x7f\xff\xff\xff\0\1t",
    ],
)
def test_what_is_no_subscription_is_refused(metadata: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        subscribed_topics(metadata)


def test_a_subscription_of_any_version_names_its_topics() -> None:
    version_0 = b"\0\0\0\0\0\2\0\1t\0\1u\0\0\0\2xx"
    assert subscribed_topics(version_0) == {"t", "u"}
    assert subscribed_topics(b"\0\3" + version_0[2:] + b"owned partitions and more") == {"t", "u"}
    assert subscribed_topics(b"\0\1\0\0\0\0\xff\xff\xff\xff") == frozenset()


def test_a_topic_name_that_is_no_utf_8_is_read_as_java_reads_it() -> None:
    assert subscribed_topics(b"\0\0\0\0\0\1\0\1\xff\0\0\0\0") == {"\N{REPLACEMENT CHARACTER}"}


@given(st.binary(max_size=40))
def test_any_bytes_are_a_subscription_or_refused(metadata: bytes) -> None:
    try:
        topics = subscribed_topics(metadata)
    except ValueError:
        return
    assert sum(map(len, topics)) <= len(metadata)


def member(member_id: str, *names: str) -> Member:
    return Member(member_id, None, "c", "/h", 1, 1, tuple((name, b"") for name in names))


def roster(*members: Member) -> Roster:
    made = Roster()
    for one in members:
        made.add(one)
    return made


@pytest.mark.parametrize(
    ("wishes", "chosen"),
    [
        (["sticky range", "range sticky"], "sticky"),
        (["roundrobin range", "range roundrobin", "roundrobin range"], "roundrobin"),
        (["best range", "range"], "range"),
        (["a b", "b a", "c a b"], "a"),
    ],
)
def test_members_vote_for_their_first_common_protocol(wishes: list[str], chosen: str) -> None:
    members = [member(str(i), *wish.split()) for i, wish in enumerate(wishes)]
    assert roster(*members).choose_protocol() == chosen


def test_a_protocol_is_common_only_if_everybody_has_it() -> None:
    group = roster(member("a", "range", "sticky"), member("b", "range"))
    assert group.has_common((("range", b""),))
    assert not group.has_common((("sticky", b""),))
    group.remove("b")
    assert group.has_common((("sticky", b""),))
    group.update(group["a"], (("sticky", b""),), 1, 1)
    assert not group.has_common((("range", b""),))


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
