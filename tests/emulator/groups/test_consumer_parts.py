"""Parts of consumer groups: hashes, expressions, states, and what a classic consumer says."""

from __future__ import annotations

import pytest
from odradek.emulator.base.java_order import id_order, int_order
from odradek.emulator.groups.classic.consumer_protocol import (
    Malformed,
    UnknownAssignor,
    read_assignment,
    read_subscription,
    write_assignment,
)
from odradek.emulator.groups.consumer.members import ConsumerMember
from odradek.emulator.groups.consumer.reconcile import Goal, reconcile
from odradek.emulator.groups.consumer.states import TRANSITIONS, MemberState, picture
from odradek.emulator.groups.regex.re2 import InvalidRegex, compile_re2
from odradek.emulator.groups.topics_view import TopicsView
from odradek.emulator.groups.xxh3 import xxh3_64
from odradek.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from odradek.wire.stored.keyed import keyed

from tests.emulator.groups.support.world import FakeTopics


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, 0x2D06800538D394C2),
        (1, 0xC44BDFF4074EECDB),
        (3, 0xC3489259E968AD9E),
        (4, 0xD3D60C1519014E89),
        (8, 0xB88DEE77F6BF6980),
        (9, 0x03688DCAD730D826),
        (16, 0x9DA23836ADF2BE1E),
        (17, 0xF34C3C9CF5A112D1),
        (128, 0x4C659B745F435148),
        (129, 0xB85222B83902B6E5),
        (240, 0xD6DFBF67B0675B54),
        (241, 0xC614C8C3575348C1),
        (1024, 0xF22EF3DC84FF47EA),
        (1025, 0x43F869A83769A435),
        (3000, 0xB3EACB6E81DD90F0),
    ],
)
def test_xxh3_agrees_with_its_reference(length: int, expected: int) -> None:
    assert xxh3_64(bytes(n * 7 % 251 for n in range(length))) == expected


class _Topic:
    def __init__(self, name: str, topic_id: bytes, count: int) -> None:
        self.name, self.id, self.partitions = name, topic_id, range(count)


def test_the_hash_of_topics_is_the_one_that_kafka_writes() -> None:
    topics = FakeTopics()
    for topic in (
        _Topic("t", bytes(range(16)), 3),
        _Topic("grüße-😀", bytes(reversed(range(16))), 200),
    ):
        topics.topics[topic.name] = topic  # type: ignore[assignment]
    view = TopicsView(topics, lambda: 0)
    assert view.hash_of(["t"]) == -7909395294144551977
    assert view.hash_of(["t", "none", "grüße-😀", "t"]) == -3986287000193872944
    assert view.hash_of([]) == view.hash_of(["none"]) == 0


def test_new_topics_are_noticed_and_larger_ones_are_not_new() -> None:
    topics = FakeTopics()
    view = TopicsView(topics, lambda: topics.generation)
    assert view.version_with_new_topics == 0
    topics.make("t", 1)
    assert view.version_with_new_topics == 1
    topics.make("t", 2)
    topics.make("t", 3)
    assert (view.version, view.version_with_new_topics) == (3, 1)


def test_numbers_and_ids_stand_in_the_order_of_a_hash_map() -> None:
    assert int_order([17, 3, 16, 0]) == [16, 0, 17, 3]
    assert int_order([17, 3, 16, 0], presized=True) == [16, 0, 17, 3]
    first, second = bytes(15) + b"\x01", bytes(15) + b"\x02"
    assert id_order([second, first]) == [first, second]


@pytest.mark.parametrize(
    ("expression", "matches", "misses"),
    [
        ("a.*", ["a", "abc"], ["ba", ""]),
        ("(?i)foo|b", ["FOO", "B"], ["foob"]),
        ("(?i:a)b", ["Ab"], ["aB"]),
        (r"\Qa.b\E", ["a.b"], ["axb"]),
        ("[[:alpha:]_-]+", ["a_b-c"], ["a1"]),
        ("[^a-c]", ["d"], ["a", ""]),
        (r"\d{2,3}", ["12", "123"], ["1", "1234"]),
        (r"\p{Lu}\pN?", ["A", "A1"], ["a"]),
        ("a{,2}", ["a{,2}"], ["a"]),
        (r"\x41\101\x{41}", ["AAA"], ["A"]),
        ("a|^b$|", ["a", "b", ""], ["ab"]),
        (r"(?P<name>a)(?:b)*?", ["a", "abb"], ["b"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("x(?i)*y", ["y", "xxY"], ["Xy"]),
    ],
)
def test_an_expression_matches_whole_names(
    expression: str, matches: list[str], misses: list[str]
) -> None:
    pattern = compile_re2(expression)
    assert [text for text in matches if pattern.fullmatch(text)] == matches
    assert [text for text in misses if pattern.fullmatch(text)] == []


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("(?<!a)", "invalid named capture"),
        (r"(a)\1", "invalid escape sequence"),
        ("a**", "invalid nested repetition operator"),
        ("a++", "invalid nested repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("a{2,1}", "invalid repeat count"),
        ("*a", "missing argument to repetition operator"),
        ("[b-a]", "invalid character class range"),
        ("[[:foo:]]", "invalid character class range"),
        ("[a", "missing closing ]"),
        ("(a", "missing closing )"),
        ("a)", "regexp/syntax: internal error"),
        ("\\", "trailing backslash at end of expression"),
        ("(?P<n>a)(?P<n>b)", "duplicate capture group name"),
        ("(?P<n", "invalid named capture"),
        (r"\C", "invalid escape sequence"),
    ],
)
def test_what_re2_does_not_know_is_refused_in_its_words(expression: str, reason: str) -> None:
    with pytest.raises(InvalidRegex, match=f"^{reason.replace(')', '[)]').replace(']', ']')}"):
        compile_re2(expression)


def test_every_member_state_leads_somewhere_and_shows_in_the_picture() -> None:
    assert set(TRANSITIONS) == set(MemberState)
    assert len(picture().splitlines()) == sum(len(after) for after in TRANSITIONS.values())


def view_of(*names: str) -> TopicsView:
    topics = FakeTopics()
    for name in names:
        topics.make(name, 2)
    return TopicsView(topics, lambda: 0)


def test_a_classic_subscription_is_read_with_what_its_member_has() -> None:
    part = ConsumerProtocolSubscription.OwnedPartition
    told = ConsumerProtocolSubscription(
        topics=["t", "none"],
        user_data=b"x",
        owned_partitions=[part(topic="t", partitions=[1]), part(topic="none", partitions=[0])],
        rack_id="r",
    )
    view = view_of("t")
    read = read_subscription(keyed(told, 3), view)
    assert (read.version, read.names, read.rack_id) == (3, {"t", "none"}, "r")
    assert read.owned == {b"t".ljust(16, b"\0"): [1]}
    for junk in (b"", b"\0\1\0\0", b"\xff\xff"):
        with pytest.raises(Malformed):
            read_subscription(junk, view)


def test_an_assignment_is_written_in_the_members_version_and_read_back() -> None:
    view, topic_id = view_of("t"), b"t".ljust(16, b"\0")
    for version, written in ((0, 0), (1, 1), (3, 3), (9, 3)):
        data = write_assignment({topic_id: {1: 5}}, bytes([0, version]), view)
        assert data[:2] == bytes([0, written])
        assert read_assignment(data, view) == {topic_id: {1}}
    assert write_assignment({b"gone".ljust(16): {0: 1}}, b"\0\0", view)[2:6] == bytes(4)
    assert read_assignment(b"", view) == {}


def test_an_assignors_own_data_cannot_be_kept() -> None:
    told = ConsumerProtocolAssignment(assigned_partitions=[], user_data=b"x")
    with pytest.raises(UnknownAssignor):
        read_assignment(keyed(told, 1), view_of())


def test_wanting_nothing_anew_is_a_step_though_there_is_nothing_to_give_up() -> None:
    member = ConsumerMember("a", epoch=1, previous_epoch=0)
    goal = Goal(1, {}, frozenset(), False, True, lambda *_: False, None)
    after = reconcile(member, goal)
    assert (after.epoch, after.previous_epoch, after.state) == (1, 1, MemberState.STABLE)
    assert reconcile(member, goal._replace(subscription_changed=False)) is member
    assert reconcile(member, goal._replace(asks=True)) is member  # for a topic that is not there
