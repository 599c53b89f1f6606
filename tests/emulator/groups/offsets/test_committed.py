"""Committed and pending offsets: what is taken, what is told, what expires, what comes back."""

from __future__ import annotations

import pytest
from odradek.emulator.groups.classic.members import GroupTombstone
from odradek.emulator.groups.group import CommitRequest, OffsetCommit
from odradek.emulator.groups.offsets.store import (
    FetchedOffset,
    OffsetRecord,
    Offsets,
    OffsetTombstone,
)
from odradek.emulator.groups.records import Replayed, TransactionEnd
from odradek.emulator.groups.runtime import Producer
from odradek.wire.errors import Error, Refused

from tests.emulator.groups.support.world import START, World, leaver

DAY = 24 * 60 * 60_000
SUBSCRIBED_TO_T = b"\0\0\0\0\0\1\0\1t\xff\xff\xff\xff"


def commit(world: World, *commits: OffsetCommit, retention_ms: int = -1) -> list[Error]:
    """A commit to group g by nobody in particular."""
    request = CommitRequest(2, "", None, -1, commits, retention_ms)
    return world.coordinator.offsets.commit("g", request)


def commit_in_transaction(world: World, producer_id: int, *commits: OffsetCommit) -> list[Error]:
    request = CommitRequest(5, "", None, -1, commits)
    return world.coordinator.offsets.commit_in_transaction("g", request, Producer(producer_id, 0))


def end(world: World, producer_id: int, *, commit: bool) -> None:
    """The transaction ends, with a marker in the log."""
    marker = TransactionEnd(producer_id, commit)
    world.log.append(marker)
    world.coordinator.offsets.end_transaction(0, marker)


def fetched(world: World, *, stable: bool = False) -> dict[tuple[str, int], int | Error]:
    """All offsets of group g, or the error in place of one."""
    found = world.coordinator.offsets.fetch("g", None, require_stable=stable)
    return {(one.topic, one.partition): one.error or one.offset for one in found}


def test_partitions_of_one_commit_are_judged_one_by_one() -> None:
    world = World()
    errors = commit(
        world,
        OffsetCommit("t", 0, 5, metadata="x" * 4096),
        OffsetCommit("t", 1, 5, metadata="x" * 4097),
        OffsetCommit("t", 2, 5, metadata="😀" * 2048),
        OffsetCommit("t", 3, 5, metadata="😀" * 2048 + "x"),
        OffsetCommit("t", 4, -1, metadata=None),
    )
    large = Error.OFFSET_METADATA_TOO_LARGE
    assert errors == [Error.NONE, large, Error.NONE, large, Error.NONE]
    assert fetched(world) == {("t", 0): 5, ("t", 2): 5, ("t", 4): -1}


def test_a_commit_that_takes_nothing_makes_a_group_that_is_seen_with_the_next_write() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 5, metadata="x" * 4097))
    assert world.coordinator.list_groups() == []
    found = world.coordinator.classic.describe("g", 6)
    assert found.error_code == Error.GROUP_ID_NOT_FOUND
    request = CommitRequest(2, "", None, -1, [OffsetCommit("t", 0, 5)])
    world.coordinator.offsets.commit("other", request)
    assert [it.group_id for it in world.coordinator.list_groups()] == ["g", "other"]
    assert world.coordinator.classic.describe("g", 6).error_code == Error.NONE


def test_a_group_of_which_nothing_was_written_can_be_deleted() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 5, metadata="x" * 4097))
    assert world.coordinator.delete(["g"]) == [("g", Error.NONE)]
    assert world.coordinator.delete(["g"]) == [("g", Error.GROUP_ID_NOT_FOUND)]


def test_a_commit_is_written_as_it_was_said() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 5, 7, None, b"i" * 16))
    commit(world, OffsetCommit("t", 1, 6), retention_ms=1000)
    assert [entry.record for entry in world.log] == [
        OffsetRecord("g", "t", 0, 5, 7, "", START, None, b"i" * 16),
        OffsetRecord("g", "t", 1, 6, -1, "", START, START + 1000),
    ]


def test_a_fetch_answers_in_the_order_it_was_asked() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 5, 7, "hello"))
    asked = [("u", 3), ("t", 0), ("t", 1), ("t", 0)]
    assert world.coordinator.offsets.fetch("g", asked) == [
        FetchedOffset("u", 3, -1, -1, "", Error.NONE),
        FetchedOffset("t", 0, 5, 7, "hello", Error.NONE),
        FetchedOffset("t", 1, -1, -1, "", Error.NONE),
        FetchedOffset("t", 0, 5, 7, "hello", Error.NONE),
    ]
    assert world.coordinator.offsets.fetch("nobody", asked[:1]) == [FetchedOffset("u", 3)]
    assert world.coordinator.offsets.fetch("nobody", None) == []
    assert world.coordinator.offsets.fetch("g", []) == []


def test_fetching_all_goes_topic_by_topic() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1), OffsetCommit("u", 0, 2), OffsetCommit("t", 1, 3))
    found = world.coordinator.offsets.fetch("g", None)
    assert [(one.topic, one.partition) for one in found] == [("t", 0), ("t", 1), ("u", 0)]


def test_pending_offsets_are_unstable_until_the_transaction_ends() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1))
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5), OffsetCommit("t", 1, 6))
    unstable = Error.UNSTABLE_OFFSET_COMMIT
    assert fetched(world) == {("t", 0): 1}
    assert fetched(world, stable=True) == {("t", 0): unstable}
    (one,) = world.coordinator.offsets.fetch("g", [("t", 0)], require_stable=True)
    assert one == FetchedOffset("t", 0, -1, -1, "", unstable)

    end(world, 7, commit=True)
    assert fetched(world, stable=True) == {("t", 0): 5, ("t", 1): 6}


def test_an_aborted_transaction_leaves_the_older_offset() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1))
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5))
    end(world, 7, commit=False)
    assert fetched(world, stable=True) == {("t", 0): 1}


def test_pending_offsets_make_the_group_exist() -> None:
    world = World()
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5))
    (listed,) = world.coordinator.list_groups()
    assert (listed.group_id, listed.state) == ("g", "Empty")


def test_a_plain_commit_after_the_pending_one_survives() -> None:
    world = World()
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5))
    commit(world, OffsetCommit("t", 0, 2))
    end(world, 7, commit=True)
    assert fetched(world) == {("t", 0): 2}


@pytest.mark.parametrize("first_to_end", [7, 8])
def test_of_two_transactions_the_later_record_wins(first_to_end: int) -> None:
    world = World()
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5))
    commit_in_transaction(world, 8, OffsetCommit("t", 0, 6))
    end(world, first_to_end, commit=True)
    end(world, 15 - first_to_end, commit=True)
    assert fetched(world) == {("t", 0): 6}


def test_deleting_a_group_drops_its_pending_offsets() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1))
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5), OffsetCommit("t", 1, 6))
    assert world.coordinator.delete(["g", "g"]) == [("g", Error.NONE)]
    assert world.coordinator.delete(["g"]) == [("g", Error.GROUP_ID_NOT_FOUND)]
    assert [entry.record for entry in world.log[-3:]] == [
        OffsetTombstone("g", "t", 0),
        OffsetTombstone("g", "t", 1),
        GroupTombstone("g"),
    ]
    end(world, 7, commit=True)
    assert fetched(world) == {}
    world.restart()
    assert world.coordinator.list_groups() == []


def test_transactions_survive_a_restart() -> None:
    world = World()
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5))
    commit_in_transaction(world, 8, OffsetCommit("t", 1, 6))
    end(world, 8, commit=True)
    world.restart()
    assert fetched(world, stable=True) == {("t", 1): 6}
    (one,) = world.coordinator.offsets.fetch("g", [("t", 0)], require_stable=True)
    assert one.error is Error.UNSTABLE_OFFSET_COMMIT
    end(world, 7, commit=True)
    assert fetched(world, stable=True) == {("t", 0): 5, ("t", 1): 6}


def test_a_tombstone_in_the_log_undoes_what_was_before_it() -> None:
    world = World()
    record = OffsetRecord("g", "t", 0, 5, -1, "", START)
    world.coordinator.load(0, [Replayed(record), Replayed(OffsetTombstone("g", "t", 0))])
    assert fetched(world) == {}
    assert [one.group_id for one in world.coordinator.list_groups()] == ["g"]
    world.coordinator.load(0, [Replayed(record), Replayed(GroupTombstone("g"))])
    assert world.coordinator.list_groups() == []
    assert fetched(world) == {}


def stable_group(world: World, protocol_type: str, metadata: bytes) -> str:
    member = world.enter("m", protocol_type=protocol_type, protocols=(("range", metadata),))
    world.advance(3000)
    world.sync(member, 1, protocol_type=protocol_type)
    return member


def member_commit(world: World, member: str, *commits: OffsetCommit) -> list[Error]:
    return world.coordinator.offsets.commit("g", CommitRequest(9, member, None, 1, commits))


def keep_alive(world: World, member: str, milliseconds: int) -> None:
    """Let time pass with a heartbeat every five minutes."""
    for _ in range(milliseconds // 300_000):
        world.advance(300_000)
        assert world.beat(member, 1) is Error.NONE


@pytest.mark.parametrize(
    ("protocol_type", "metadata", "left"),
    [
        ("consumer", SUBSCRIBED_TO_T, ["t"]),
        ("consumer", b"?", ["t", "u"]),
        ("connect", b"", ["t", "u"]),
    ],
)
def test_a_stable_group_loses_only_what_it_does_not_read(
    protocol_type: str, metadata: bytes, left: list[str]
) -> None:
    world = World()
    world.settings.retention_ms = DAY // 12
    changes = {"protocol_type": protocol_type, "protocols": (("range", metadata),)}
    member = world.enter("m", session_timeout_ms=600_000, **changes)
    world.advance(3000)
    world.sync(member, 1, protocol_type=protocol_type)
    member_commit(world, member, OffsetCommit("t", 0, 1), OffsetCommit("u", 0, 1))
    keep_alive(world, member, DAY // 6)
    assert [topic for topic, _ in fetched(world)] == left


def test_an_offset_with_a_retention_of_its_own_goes_when_it_said() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1), retention_ms=1_000_000)
    commit(world, OffsetCommit("t", 1, 1), retention_ms=0)
    commit(world, OffsetCommit("t", 2, 1))
    world.advance(600_000)
    assert list(fetched(world)) == [("t", 0), ("t", 2)]
    world.advance(600_000)
    assert list(fetched(world)) == [("t", 2)]


def test_a_retention_that_is_too_long_for_the_clock_is_over_at_once() -> None:
    """Kafka adds it to the time in 64 bits."""
    world = World()
    assert commit(world, OffsetCommit("t", 0, 1), retention_ms=2**63 - 1) == [Error.NONE]
    commit(world, OffsetCommit("t", 1, 1))
    world.restart()
    world.advance(600_000)
    assert list(fetched(world)) == [("t", 1)]


def test_an_open_transaction_keeps_offset_and_group() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1), OffsetCommit("t", 1, 1))
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5))
    world.advance(8 * DAY)
    assert fetched(world) == {("t", 0): 1}
    end(world, 7, commit=False)
    world.advance(600_000)
    assert world.coordinator.list_groups() == []
    assert world.coordinator.offsets.store.all_in(world.coordinator.shards[0]) == []


def test_an_empty_group_with_only_pending_offsets_stays() -> None:
    world = World()
    commit_in_transaction(world, 7, OffsetCommit("t", 0, 5))
    world.advance(8 * DAY)
    assert len(world.coordinator.list_groups()) == 1


def test_retention_of_an_empty_group_counts_from_when_it_fell_empty() -> None:
    world = World()
    member = stable_group(world, "consumer", SUBSCRIBED_TO_T)
    member_commit(world, member, OffsetCommit("t", 0, 1))
    world.advance(9000)
    world.leave(leaver(member))
    world.restart()
    world.advance(7 * DAY - 600_000)
    assert fetched(world) == {("t", 0): 1}
    world.advance(1_200_000)
    assert fetched(world) == {}


def test_what_cannot_be_deleted_now_is_deleted_at_the_next_look() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1), retention_ms=0)
    world.refusals.append(Error.NOT_ENOUGH_REPLICAS)
    world.advance(600_000)
    assert fetched(world) == {("t", 0): 1}
    world.advance(600_000)
    assert world.coordinator.list_groups() == []


def test_a_deleted_topic_takes_its_offsets_along() -> None:
    world = World()
    commit(world, OffsetCommit("t", 0, 1), OffsetCommit("u", 0, 2))
    commit_in_transaction(world, 7, OffsetCommit("t", 1, 5))
    world.coordinator.topic_deleted("t")
    end(world, 7, commit=True)
    assert fetched(world) == {("u", 0): 2}


def test_deleting_offsets_spares_topics_that_are_read() -> None:
    world = World()
    member = stable_group(world, "consumer", SUBSCRIBED_TO_T)
    member_commit(world, member, OffsetCommit("t", 0, 1), OffsetCommit("u", 0, 1))
    before = len(world.log)
    errors = world.coordinator.offsets.delete("g", [("t", 0), ("u", 0), ("u", 9)])
    assert errors == [Error.GROUP_SUBSCRIBED_TO_TOPIC, Error.NONE, Error.NONE]
    assert [entry.record for entry in world.log[before:]] == [OffsetTombstone("g", "u", 0)]
    assert fetched(world) == {("t", 0): 1}


def test_while_nobody_knows_the_subscriptions_every_topic_is_read() -> None:
    world = World()
    world.enter("m", protocols=(("range", SUBSCRIBED_TO_T),))
    subscribed = [Error.GROUP_SUBSCRIBED_TO_TOPIC]
    assert world.coordinator.offsets.delete("g", [("u", 0)]) == subscribed
    world.advance(3000)
    assert world.coordinator.offsets.delete("g", [("u", 0)]) == [Error.NONE]
    assert world.coordinator.offsets.delete("g", [("t", 0)]) == subscribed


def test_offsets_of_a_live_group_of_another_kind_cannot_be_deleted() -> None:
    world = World()
    stable_group(world, "connect", b"")
    with pytest.raises(Refused, match="NON_EMPTY_GROUP"):
        world.coordinator.offsets.delete("g", [("t", 0)])
    with pytest.raises(Refused, match="GROUP_ID_NOT_FOUND"):
        world.coordinator.offsets.delete("missing", [("t", 0)])


def test_a_commit_keeps_a_member_alive() -> None:
    world = World()
    member = stable_group(world, "consumer", b"")
    world.advance(9000)
    member_commit(world, member, OffsetCommit("t", 0, 1))
    world.advance(9000)
    assert world.beat(member, 1) is Error.NONE


def test_what_a_table_does_not_have_is_not_reported() -> None:
    table = Offsets()
    assert table.get("t", 0) is None
    assert table.tombstones("g") == []
    assert not table.has_more_than([])
    table.apply(OffsetRecord("g", "t", 0, 5, -1, "", 0), 1, producer_id=7)
    table.forget("t", 0)
    assert table.open_transactions == {7}
    table.end_transaction(7, commit=True)
    assert table.get("t", 0) is None
    assert not table.has_more_than([])
