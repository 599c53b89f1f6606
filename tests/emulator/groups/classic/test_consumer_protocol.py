"""What classic consumers say of themselves, read and written for a consumer group."""

from __future__ import annotations

import pytest
from odradek.emulator.groups.classic.consumer_protocol import (
    Malformed,
    UnknownAssignor,
    read_assignment,
    read_subscription,
    write_assignment,
)
from odradek.emulator.groups.topics_view import TopicsView
from odradek.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from odradek.wire.stored.keyed import keyed

from tests.emulator.groups.support.world import FakeTopics


def view_of(*names: str) -> TopicsView:
    topics = FakeTopics()
    for name in names:
        topics.make(name, 2)
    return TopicsView(topics, lambda: 0)


def test_a_classic_subscription_is_read_with_what_its_member_has() -> None:
    part = ConsumerProtocolSubscription.OwnedPartition
    decoded = ConsumerProtocolSubscription(
        topics=["t", "none"],
        user_data=b"x",
        owned_partitions=[part(topic="t", partitions=[1]), part(topic="none", partitions=[0])],
        rack_id="r",
    )
    view = view_of("t")
    read = read_subscription(keyed(decoded, 3), view)
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
    decoded = ConsumerProtocolAssignment(assigned_partitions=[], user_data=b"x")
    with pytest.raises(UnknownAssignor):
        read_assignment(keyed(decoded, 1), view_of())
